#!/bin/sh
# ccache for compile commands that it does not take as they are; the launcher of builds with profiles or precompiled
# headers.
#
#   ccache.sh COMPILER ARGUMENTS...
#
# ccache 4.7 lets every command with -fprofile-update or -fprofile-partial-training pass uncached, and every gcc
# command with -fprofile-use for whose object no training left counts, or with that option twice (MySQL's cmake adds
# its own, with a folder). Behind --ccache-skip it takes an option as it is: part of the key, and not looked into; of a
# folder's counts, those of the object are named to it.
#
# A precompiled header is made past the cache: it is large, quick to make, and its bytes differ each time. What depends
# on it is found in the cache by the digest of its text after the preprocessor, which is put beside it (.sum).
counts=
folder=
made=
header=
previous=
for word do
    case $previous in
        -o) made=$word counts=${word%.o}.gcda ;;
        -x) [ "$word" = c++-header ] && header=yes ;;
    esac
    case $word in
        -fprofile-use=*) [ -d "${word#*=}" ] && folder=${word#*=} ;;
    esac
    previous=$word
done
if [ -n "$folder" ]; then
    case $counts in
        /*) ;;
        *) counts=$PWD/$counts ;;
    esac
    counts=$folder/$(printf %s "$counts" | tr / '#') # as gcc names it there (mangle_path in gcc/coverage.cc)
    [ -e "$counts" ] && export CCACHE_EXTRAFILES="$counts"
fi
if [ -n "$header" ]; then
    # Before the header is made: the preprocessor would take it, and say its name for its text.
    rm -f "$made" "$made.sum"
    (
        for word do
            shift
            case $word in
                "$made") word=$made.text ;;
                -c) word=-E ;;
            esac
            set -- "$@" "$word"
        done
        exec "$@"
    ) || exit
    sha256sum <"$made.text" >"$made.sum" && rm "$made.text" || exit
    exec $CCACHE_PREFIX "$@"
fi
for word do
    shift
    case $word in
        -fprofile-update=* | -fprofile-partial-training) set -- "$@" --ccache-skip "$word" ;;
        -fprofile-use | "-fprofile-use=$folder")
            if [ -n "$folder" ] || { [ -n "$counts" ] && [ ! -e "$counts" ]; }; then
                set -- "$@" --ccache-skip "$word"
            else
                set -- "$@" "$word"
            fi
            ;;
        *) set -- "$@" "$word" ;;
    esac
done
exec ccache "$@"
