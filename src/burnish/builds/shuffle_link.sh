#!/bin/sh
# A linker that links in another order: stands in for @LINKER@ in a folder given to the compiler with -B.
#
# Objects that follow one another, archives within one --start-group, and the members of the build's own archives are
# shuffled by the seed (the same seed, the same order); everything else, and everything between --whole-archive and
# --no-whole-archive, stays where it is. Start-up files (crt*.o) are left alone.
set -eu
seed=@SEED@
linker='@LINKER@'
ar='@AR@'

here=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One argument a line; response files (@FILE) are read, with their quotes and backslashes. No argument of a link
# contains a line break.
for argument in "$@"; do
    case $argument in
    @*)
        if [ -f "${argument#@}" ]; then
            awk '
                { text = text $0 "\n" }
                END {
                    quote = ""; word = ""; begun = 0
                    for (i = 1; i <= length(text); i++) {
                        c = substr(text, i, 1)
                        if (c == "\\") { i++; word = word substr(text, i, 1); begun = 1 }
                        else if (quote != "") { if (c == quote) quote = ""; else word = word c }
                        else if (c == "\"" || c == sprintf("%c", 39)) { quote = c; begun = 1 }
                        else if (c ~ /[ \t\n]/) { if (begun) print word; word = ""; begun = 0 }
                        else { word = word c; begun = 1 }
                    }
                    if (begun) print word
                }' "${argument#@}"
        else
            printf '%s\n' "$argument"
        fi
        ;;
    *) printf '%s\n' "$argument" ;;
    esac
done >"$scratch/arguments"

# A linear congruential generator (Park and Miller, 48271) behind a scrambled seed: the same on every awk.
generator='
    function start(text,   i, p) {
        p = 67108859
        state = (seed * 7919 + 104729) % p
        for (i = 1; i <= 8; i++) state = (state * state + state + 41) % p
        for (i = 1; i <= length(text); i++) state = (state * 31 + index(letters, substr(text, i, 1))) % p
        for (i = 1; i <= 8; i++) state = (state * state + state + 41) % p
        state = state + 1
    }
    function below(n) { state = (state * 48271) % 2147483647; return int(state / 2147483647 * n) }
    function shuffle(from, to,   i, j, kept) {
        for (i = to; i > from; i--) { j = from + below(i - from + 1); kept = item[i]; item[i] = item[j]; item[j] = kept }
    }
    BEGIN { letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/" }
'

awk -v seed="$seed" "$generator"'
    function is_object(name) { return name ~ /\.o$/ && name !~ /(^|\/)[a-zA-Z]*crt[a-z0-9]*\.o$/ }
    function flush(   i) { shuffle(1, count); for (i = 1; i <= count; i++) print item[i]; count = 0; kind = "" }
    BEGIN { start("objects") }
    {
        now = ""
        if (taken) { taken = 0 }
        else if ($0 ~ /^(-o|-T|-L|-m|-z|-h|-plugin|-dynamic-linker|-soname|-rpath|--script)$/) { taken = 1 }
        else if ($0 == "--whole-archive") { whole = 1 }
        else if ($0 == "--no-whole-archive") { whole = 0 }
        else if ($0 == "--start-group" || $0 == "-(") { group = 1 }
        else if ($0 == "--end-group" || $0 == "-)") { group = 0 }
        else if (!whole && is_object($0)) { now = "object" }
        else if (!whole && group && $0 ~ /\.a$/) { now = "archive" }
        if (now != kind) flush()
        kind = now
        if (now == "") print; else item[++count] = $0
    }
    END { flush() }' "$scratch/arguments" >"$scratch/ordered"

# The place of shuffled archives follows from the output, so that paths recorded by LTO are the same each time.
output=$(awk 'last == "-o" { print; exit } { last = $0 }' "$scratch/ordered")
place=$here/.layout/$(basename "${output:-a.out}")
rm -rf "$place"

set --
whole=0
while IFS= read -r argument; do
    case $argument in
    --whole-archive) whole=1 ;;
    --no-whole-archive) whole=0 ;;
    *.a)
        full=$argument
        case $full in /*) ;; *) full=$here/$full ;; esac
        case $full in
        "$here"/*)
            if [ "$whole" = 0 ] && [ -f "$full" ] && [ "$(head -c 7 "$full")" = '!<arch>' ]; then
                copy=$place/${full#"$here"/}
                if [ ! -f "$copy" ]; then
                    mkdir -p "$(dirname "$copy")"
                    cp "$full" "$copy"
                    # Moved to the end one after the other, in the new order.
                    "$ar" t "$full" | awk -v seed="$seed" -v name="${full#"$here"/}" "$generator"'
                        { item[NR] = $0 }
                        END { start(name); shuffle(1, NR); for (i = 1; i <= NR; i++) print item[i] }
                    ' >"$scratch/members"
                    tr '\n' '\0' <"$scratch/members" | xargs -0 "$ar" mD "$copy"
                fi
                argument=$copy
            fi
            ;;
        esac
        ;;
    esac
    set -- "$@" "$argument"
done <"$scratch/ordered"

"$linker" "$@"
