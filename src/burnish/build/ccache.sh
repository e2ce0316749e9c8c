#!/bin/sh
# ccache for compile commands with options that it does not know; the launcher of builds with profiles.
#
#   ccache.sh COMPILER ARGUMENTS...
#
# ccache 4.7 lets every command with -fprofile-update or -fprofile-partial-training pass uncached, and every gcc
# command with -fprofile-use for whose object no training left counts. Behind --ccache-skip it takes an option as it
# is: part of the key, and not looked into.
counts=
previous=
for word do
    [ "$previous" = -o ] && counts=${word%.o}.gcda
    previous=$word
done
for word do
    shift
    case $word in
        -fprofile-update=* | -fprofile-partial-training) set -- "$@" --ccache-skip "$word" ;;
        -fprofile-use)
            if [ -n "$counts" ] && [ ! -e "$counts" ]; then
                set -- "$@" --ccache-skip "$word"
            else
                set -- "$@" "$word"
            fi
            ;;
        *) set -- "$@" "$word" ;;
    esac
done
exec ccache "$@"
