# What build.sh does before and after the commands of its build. Plain POSIX shell.

say() { printf '%s\n' "$*"; }

stop() {
    printf 'build.sh: %s\n' "$*" >&2
    exit 2
}

# version PROGRAM: the line in which it tells its version.
version() { "$1" --version 2>/dev/null | grep -m 1 '[0-9]' | sed 's/^[[:space:]]*//; s/[[:space:]]*$//'; }

# same_program PROGRAM VERSION: another compiler, assembler or linker makes another program.
same_program() {
    found=$(version "$1") || found=
    [ "$found" = "$2" ] && return 0
    [ -n "${OTHER_VERSIONS-}" ] ||
        stop "$1 is '${found:-not there}', it was '$2': install that one, or set OTHER_VERSIONS=1 to take what is here"
    say "note: $1 is '${found:-not there}', it was '$2'"
}

# like_program PROGRAM VERSION: may make a difference, seldom does.
like_program() {
    found=$(version "$1") || found=
    [ "$found" = "$2" ] || say "note: $1 is '${found:-not there}', it was '$2'"
}

needs() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 || stop "$program is not installed and this build needs it"
    done
}

# is FILE SHA256: whether the file is there and has this content.
is() { [ -f "$1" ] && [ "$(sha256sum <"$1" | cut -d ' ' -f 1)" = "$2" ]; }

# put_back: what an earlier run of this script, or a Burnish that was killed, has moved away; then what is ours.
put_back() {
    if [ -e "$ROOT/.source.clean" ]; then
        rm -rf "$ROOT/.source.patched"
        [ ! -e "$ROOT/source" ] || mv "$ROOT/source" "$ROOT/.source.patched"
        mv "$ROOT/.source.clean" "$ROOT/source"
        rm -rf "$ROOT/.source.patched"
    elif grep -qs 'build\.sh' "$ROOT/source/$MARKER"; then
        rm -rf "$ROOT/source"
    fi
    rm -rf "$ROOT/.source.unpacking"
}

leave() {
    if [ -n "${KEEP-}" ]; then
        say "kept: $ROOT/source and $ROOT/build"
        return 0
    fi
    put_back
    rm -rf "$ROOT/build" "$ROOT/bolt" "$ROOT/link" "$ROOT/given" "$ROOT/.fetched" "$ROOT/.program"
    if [ -n "$made" ]; then
        rm -rf "$made"
    else
        [ -z "$profiles" ] || (cd "$ROOT" && rm -f $profiles)
    fi
}

# enter: takes the place of the build. Burnish's own tree, if it is there, is moved aside and put back afterwards.
enter() {
    [ ! -e "$OUT" ] || stop "$OUT is there already; move it away, or name another file in OUT"
    made=
    if [ -e "$ROOT" ]; then
        [ -f "$ROOT/.source.lock" ] || [ -z "$(ls -A "$ROOT")" ] ||
            stop "$ROOT holds something else; move it away, or name an empty folder in ROOT (see above)"
        if [ -f "$ROOT/../../lock" ] && command -v flock >/dev/null 2>&1; then
            exec 9>>"$ROOT/../../lock"
            flock -n 9 || stop "a burnish is at work at $ROOT; wait for it"
        fi
    else
        made=$ROOT
        while [ ! -e "$(dirname "$made")" ]; do made=$(dirname "$made"); done
    fi
    mkdir -p "$ROOT" || stop "cannot make $ROOT; name an empty folder in ROOT (see above)"
    : >>"$ROOT/.source.lock"
    profiles=
    put_back
    if [ -e "$ROOT/source" ] && [ ! -f "$ROOT/source/$MARKER" ]; then
        stop "$ROOT/source: holds something else; move it away"
    fi
    trap 'code=$?; leave; exit $code' EXIT
    trap 'exit 130' HUP INT TERM
    tree=$ROOT/.source.unpacking/tree
    mkdir "$ROOT/.source.unpacking"
    rm -rf "$ROOT/build" "$ROOT/link" "$ROOT/given"
    mkdir -m 700 "$ROOT/build"
}

# fetch NAME SHA256 URL...: $file becomes a verified copy: the one that was given, Burnish's, or one from the network.
fetch() {
    name=$1 wanted=$2
    shift 2
    for file in "$GIVEN" "$GIVEN/$name" "$HERE/$name" "$ROOT/../../downloads/debian/$CACHED/$name"; do
        if is "$file" "$wanted"; then return 0; fi
    done
    [ $# -gt 0 ] || stop "$name with SHA-256 $wanted is not there; give its place: build.sh PATH"
    mkdir -p "$ROOT/.fetched"
    file=$ROOT/.fetched/$name
    for url in "$@"; do
        say "fetching $url"
        if command -v curl >/dev/null 2>&1; then
            curl -fsSL --retry 2 -o "$file" "$url" || continue
        else
            wget -q -O "$file" "$url" || continue
        fi
        if is "$file" "$wanted"; then return 0; fi
        say "it is not the file that was used: another SHA-256"
    done
    stop "$name cannot be had; fetch it (SHA-256 $wanted) and give its folder: build.sh FOLDER"
}

# unpack FILE FOLDER: a single folder at the archive's top is left out.
unpack() {
    say "unpacking $1"
    rm -rf "$2" "$2.raw"
    mkdir "$2.raw"
    case $1 in
    *.zip) needs unzip && TZ=UTC0 unzip -q "$1" -d "$2.raw" ;;
    *.zst) needs zstd && zstd -q -d -c "$1" | tar -x -f - -C "$2.raw" --no-same-owner ;;
    *) tar -x -f "$1" -C "$2.raw" --no-same-owner ;;
    esac
    top=$(ls -A "$2.raw")
    if [ -d "$2.raw/$top" ] && [ ! -L "$2.raw/$top" ]; then
        mv "$2.raw/$top" "$2"
        rmdir "$2.raw"
    else
        mv "$2.raw" "$2"
    fi
}

# copy_folder LIST: the folder that was given, whose files must be those of the list.
copy_folder() {
    [ -d "$GIVEN" ] && [ "$GIVEN" != "$HERE" ] || stop "give the source's folder: build.sh FOLDER"
    say "copying $GIVEN"
    mkdir "$tree"
    (cd "$GIVEN" && tar -c -f - --exclude=.git --exclude="./$MARKER" .) | tar -x -f - -C "$tree" --no-same-owner
    (cd "$tree" && sha256sum -c --quiet --strict "$1") || stop "$GIVEN is not the source that was used"
    [ "$(find "$tree" -type f | wc -l)" -eq "$(wc -l <"$1")" ] || stop "$GIVEN holds files that were not there"
}

# change EXACT FILE [-R]: applies a patch to the tree, or takes it out.
change() {
    needs patch
    (cd "$tree" && patch -p1 -u --batch --forward -V never --no-backup-if-mismatch -r - $1 ${3-} <"$2" >"$ROOT/.patch.log") ||
        { cat "$ROOT/.patch.log" >&2; stop "$2 does not apply"; }
    rm -f "$ROOT/.patch.log"
}

begin_changes() { : >"$ROOT/.source.unpacking/begun"; }

# end_changes: all changed files get one time, or make could take a generated one for older than what it is made from.
end_changes() {
    touch "$ROOT/.source.unpacking/ended"
    find "$tree" -type f -newer "$ROOT/.source.unpacking/begun" -exec touch -r "$ROOT/.source.unpacking/ended" {} +
}

series() {
    [ -f "$tree/debian/patches/series" ] || return 0
    sed 's/\(^\|[[:space:]]\)#.*//' "$tree/debian/patches/series" | while read -r name _; do
        [ -z "$name" ] || change "-F 0" "$tree/debian/patches/$name"
    done
}

# own_patch FILE SHA256 [-R]: one that stands beside this script.
own_patch() {
    is "$HERE/$1" "$2" || stop "$HERE/$1 is not there, or not as it was"
    change "" "$HERE/$1" ${3-}
}

settle() {
    printf '{"digest": "build.sh"}\n' >"$tree/$MARKER"
    [ ! -e "$ROOT/source" ] || mv "$ROOT/source" "$ROOT/.source.clean"
    mv "$tree" "$ROOT/source"
}

# lay_profile KEY FILE PLACE < list: a file or folder of the profile, beside this script or in Burnish's store.
lay_profile() {
    list=$(cat)
    for folder in "$HERE" "$HERE/../../profiles/$1"; do
        if [ -e "$folder/$2" ]; then
            printf '%s\n' "$list" | (cd "$folder" && sha256sum -c --quiet --strict -) ||
                stop "$folder/$2 is not the profile that was used"
            mkdir -p "$(dirname "$ROOT/$3")"
            if [ -d "$folder/$2" ]; then
                cp -R "$folder/$2/." "$ROOT/$3"
            else
                cp "$folder/$2" "$ROOT/$3"
                profiles="$profiles $3"
            fi
            return 0
        fi
    done
    stop "the profile $2 is not beside this script; \`burnish reproduce\` writes both"
}

# put FILE < content: a file below the root.
put() {
    mkdir -p "$(dirname "$ROOT/$1")"
    if [ "$ROOT" = "$RECORDED" ]; then
        cat >"$ROOT/$1"
    else
        sed "s|$(printf '%s' "$RECORDED" | sed 's/[].[*^$|\\]/\\&/g')|$(printf '%s' "$ROOT" | sed 's/[&|\\]/\\&/g')|g" >"$ROOT/$1"
    fi
}

# after_link PROGRAM TITLE: begins a step on the linked program: a folder in which it is `before`.
after_link() {
    say "$2"
    cp "$ROOT/$1" "$ROOT/.program"
    rm -rf "$ROOT/bolt"
    mkdir "$ROOT/bolt"
    mv "$ROOT/.program" "$ROOT/bolt/before"
}

# finish PROGRAM SHA256: keeps the program and says whether it is the same.
finish() {
    cp "$ROOT/$1" "$OUT"
    found=$(sha256sum <"$OUT" | cut -d ' ' -f 1)
    say "$OUT"
    say "SHA-256 $found"
    if [ "$found" = "$2" ]; then
        say "the same program, bit for bit"
        return 0
    fi
    say "not the same program: wanted $2"
    [ "$ROOT" = "$RECORDED" ] || say "it was made in another folder, and a program may hold paths: see ROOT above"
    if command -v dpkg-query >/dev/null 2>&1; then
        packages | while read -r package wanted; do
            have=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || have='not installed'
            [ "$have" = "$wanted" ] || say "package $package: here $have, then $wanted"
        done
    fi
    exit 1
}
