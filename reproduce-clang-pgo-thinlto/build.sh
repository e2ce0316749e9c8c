#!/bin/sh
# Makes the build 9411abac17add05f (sqlite3 3.40.1-2+deb12u2 with clang-22) again, bit for bit, without Burnish.
#
#   build.sh [PATH]
#
# PATH is a folder with the source package's files (sqlite3 3.40.1-2+deb12u2); without it they are fetched.
# Variables: OUT (file for the program; default: its name, here), JOBS (compile jobs), KEEP=1 (leaves source and
# build folder), OTHER_VERSIONS=1 (goes on with other compilers than those that made it), and ROOT: the folder to
# build in. Its path goes into debug information, assertions and the names of profiled functions, so the program is
# the same for certain only where it was made.
# The profile is part of what makes the program: the kept one is used, from beside this script. To train one
# of your own, see `training.txt`, and expect another program.
set -eu
RECORDED=/work/home-ro/work/sqlite
ROOT=${ROOT:-$RECORDED}
JOBS=${JOBS:-$(nproc)}
OUT=${OUT:-$PWD/burnish-sqlite}
HERE=$(cd "$(dirname "$0")" && pwd)
GIVEN=${1:-$HERE}
CACHED=sqlite3_3.40.1-2+deb12u2
MARKER=.burnish-source.json
export LC_ALL=C.UTF-8 LANGUAGE=
unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS SOURCE_DATE_EPOCH CCC_OVERRIDE_OPTIONS CPATH LIBRARY_PATH

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

packages() {
    cat <<'END'
binutils 2.40-2
bzip2 1.0.8-5+b1
ccache 4.8+really4.7.5-1
cmake 3.25.1-1
dpkg-dev 1.21.22
file 1:5.44-3
g++ 4:12.2.0-3
gcc 4:12.2.0-3
libc6-dev 2.36-9+deb12u14
libreadline-dev 8.2-1.3
make 4.3-4.1
ninja-build 1.11.1-2~deb12u1
patch 2.7.6-7
pkgconf 1.8.1-1
tcl 8.6.13
time 1.9-0.2
xz-utils 5.4.1-1
zlib1g-dev 1:1.2.13.dfsg-1
END
}

needs make mkdir sha256sum tar
same_program /usr/lib/llvm-22/bin/clang 'Debian clang version 22.1.8 (1~deb12u1)'
same_program /usr/lib/llvm-22/bin/ld.lld 'Debian LLD 22.1.8 (compatible with GNU linkers)'
like_program make 'GNU Make 4.3'
like_program ar 'GNU ar (GNU Binutils for Debian) 2.40'

enter

fetch sqlite3_3.40.1.orig.tar.xz aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655 https://deb.debian.org/debian/pool/main/s/sqlite3/sqlite3_3.40.1.orig.tar.xz https://security.debian.org/debian-security/pool/updates/main/s/sqlite3/sqlite3_3.40.1.orig.tar.xz https://snapshot.debian.org/archive/debian/20261129T000000Z/pool/main/s/sqlite3/sqlite3_3.40.1.orig.tar.xz
unpack "$file" "$tree"
fetch sqlite3_3.40.1.orig-www.tar.xz a5e95a18d1b59729278860559ded78751b9163ffb5bb906c5cd24c015f71d5fd https://deb.debian.org/debian/pool/main/s/sqlite3/sqlite3_3.40.1.orig-www.tar.xz https://security.debian.org/debian-security/pool/updates/main/s/sqlite3/sqlite3_3.40.1.orig-www.tar.xz https://snapshot.debian.org/archive/debian/20261129T000000Z/pool/main/s/sqlite3/sqlite3_3.40.1.orig-www.tar.xz
unpack "$file" "$tree/www"
fetch sqlite3_3.40.1-2+deb12u2.debian.tar.xz 0843bc12e4364076477935ce313a6d0796fd899a989ff18ebb6545540e10e4ca https://deb.debian.org/debian/pool/main/s/sqlite3/sqlite3_3.40.1-2+deb12u2.debian.tar.xz https://security.debian.org/debian-security/pool/updates/main/s/sqlite3/sqlite3_3.40.1-2+deb12u2.debian.tar.xz https://snapshot.debian.org/archive/debian/20261129T000000Z/pool/main/s/sqlite3/sqlite3_3.40.1-2+deb12u2.debian.tar.xz
unpack "$file" "$tree/debian"
begin_changes
series
end_changes
settle

lay_profile c8f57aca7681cb7f profile.profdata profile.profdata <<'END'
da193e8e9a7721a23ddf8ba64edd4f0895c561629e8439ba47f120f573371710  profile.profdata
END

say amalgamation
(cd "$ROOT/build" && env MAKEFLAGS='' make -f "$ROOT"/source/main.mk TOP="$ROOT"/source BCC=/usr/lib/llvm-22/bin/clang 'OPTS=-DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5' sqlite3.c shell.c)

put build/sqlite_loop.c <<'END'
/*
** The one program of the SQLite engine: SQLite and all that is run on it, in a single file with a single build
** id, so that what was tested is what is measured.
**
**   burnish-sqlite PROGRAM ARGUMENTS...       one run of speedtest1, kvtest, shell or fuzzcheck
**   burnish-sqlite loop PROGRAM ARGUMENTS...  run after run of it until SIGTERM
**   burnish-sqlite still PROGRAM ARGUMENTS... one run, with SQLite's clock standing still at noon of 2000-01-01, so
**                                             that equal builds say the same on any day
**   burnish-sqlite options                    version, source id and compile options, one a line
**
** The loop says "ready" on standard output, waits for a line on standard input, and then writes one JSON object
** a line for each finished run (a unit):
**
**   at          CLOCK_MONOTONIC at the end of the unit, seconds
**   done        units so far
**   server_cpu  CPU seconds of this process so far (its own CPU clock)
**
** All runs happen in this one process: speedtest1 resets its own state when it is called again (its WASM build
** asks for that: SQLITE_SPEEDTEST1_WASM), kvtest has none but its random numbers, which go on. So there is one
** CPU clock to read, one process to pin, and one profile, written when it ends. A run that fails ends the loop,
** with the run's last words on standard error. SIGTERM lets the current run finish, then the loop ends by
** exit().
*/
#include "sqlite3.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int speedtest1_main(int argc, char **argv);
int kvtest_main(int argc, char **argv);
int shell_main(int argc, char **argv);
int fuzzcheck_main(int argc, char **argv);

typedef int (*Program)(int argc, char **argv);

static const struct {
  const char *name;
  Program main;
} programs[] = {
    {"speedtest1", speedtest1_main},
    {"kvtest", kvtest_main},
    {"shell", shell_main},
    {"fuzzcheck", fuzzcheck_main},
};

enum { PROGRAMS = sizeof programs / sizeof *programs, LAST_WORDS = 2000 };

static volatile sig_atomic_t asked_to_end;
static int in_unit;
static int unit_output; /* what the current run prints, in memory */

static void on_term(int number) {
  (void)number;
  asked_to_end = 1;
}

static Program program_called(const char *name) {
  for (int i = 0; i < PROGRAMS; i++) {
    if (strcmp(name, programs[i].name) == 0) return programs[i].main;
  }
  return NULL;
}

static double clock_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Writes all of it; returns 0 when the reader is gone. */
static int tell(int file, const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(file, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return 0;
    text += written;
    length -= (size_t)written;
  }
  return 1;
}

/* The programs end by exit() when something fails, so this is where a failed run is seen. */
static void at_exit(void) {
  char text[LAST_WORDS];
  if (!in_unit) return;
  fflush(stdout);
  off_t end = lseek(unit_output, 0, SEEK_END);
  ssize_t length = pread(unit_output, text, sizeof text, end > LAST_WORDS ? end - LAST_WORDS : 0);
  if (length > 0) tell(STDERR_FILENO, text, (size_t)length);
}

/* One run. The programs cut up their arguments, so each gets copies. */
static int run_unit(Program program, int argc, char **argv) {
  char *copies[argc + 1];
  if (ftruncate(unit_output, 0) != 0 || lseek(unit_output, 0, SEEK_SET) != 0) return 1;
  for (int i = 0; i < argc; i++) copies[i] = strdup(argv[i]);
  copies[argc] = NULL;
  in_unit = 1;
  int result = program(argc, copies);
  if (result != 0) exit(result); /* still in_unit: at_exit() tells what it said */
  in_unit = 0;
  for (int i = 0; i < argc; i++) free(copies[i]);
  return fflush(stdout);
}

static int loop(Program program, int argc, char **argv) {
  struct sigaction action = {.sa_handler = on_term};
  char line[160];
  int report = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  unit_output = memfd_create("unit output", MFD_CLOEXEC);
  if (report < 0 || unit_output < 0 || dup2(unit_output, STDOUT_FILENO) < 0) return 1;
  atexit(at_exit);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  if (!tell(report, "ready\n", 6) || read(STDIN_FILENO, line, sizeof line) <= 0) return 0;
  for (long done = 1; !asked_to_end; done++) {
    if (run_unit(program, argc, argv) != 0) return 1;
    int length = snprintf(line, sizeof line, "{\"at\":%.6f,\"done\":%ld,\"server_cpu\":%.9f}\n",
                          clock_seconds(CLOCK_MONOTONIC), done, clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
    if (!tell(report, line, (size_t)length)) return 1;
  }
  return 0;
}

static int noon_of_2000(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
  (void)vfs;
  *milliseconds = 211813488000000; /* Julian day 2451545.0 */
  return SQLITE_OK;
}

/* The system's VFS objects are static, so that the change outlives the shutdown, after which the programs can
** configure SQLite as they like. */
static void stop_the_clock(void) {
  for (sqlite3_vfs *vfs = sqlite3_vfs_find(NULL); vfs != NULL; vfs = vfs->pNext) {
    vfs->xCurrentTimeInt64 = noon_of_2000;
  }
  sqlite3_shutdown();
}

static int options(void) {
  printf("%s\n%s\n", sqlite3_libversion(), sqlite3_sourceid());
  for (int i = 0; sqlite3_compileoption_get(i) != NULL; i++) printf("%s\n", sqlite3_compileoption_get(i));
  return 0;
}

int main(int argc, char **argv) {
  int looped = argc > 2 && strcmp(argv[1], "loop") == 0;
  int still = argc > 2 && strcmp(argv[1], "still") == 0;
  if (argc == 2 && strcmp(argv[1], "options") == 0) return options();
  argc -= 1 + (looped || still);
  argv += 1 + (looped || still);
  Program program = argc > 0 ? program_called(argv[0]) : NULL;
  if (program == NULL) {
    fprintf(stderr,
            "usage: burnish-sqlite [loop|still] speedtest1|kvtest|shell|fuzzcheck ARGUMENTS... | options\n");
    return 2;
  }
  if (still) stop_the_clock();
  return looped ? loop(program, argc, argv) : program(argc, argv);
}
END

put build/burnish.mk <<'END'
bin/burnish-sqlite: sqlite3.o shell.o speedtest1.o kvtest.o fuzzcheck.o ossfuzz.o fuzzinvariants.o vt02.o dbdata.o sqlite3recover.o sqlite_loop.o
	/usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -Wl,-z,relro -Wl,-z,now -Wl,--as-needed -fuse-ld=lld -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wl,--build-id=sha1 -Wl,--emit-relocs sqlite3.o shell.o speedtest1.o kvtest.o fuzzcheck.o ossfuzz.o fuzzinvariants.o vt02.o dbdata.o sqlite3recover.o sqlite_loop.o -lpthread -lm -ldl -o bin/burnish-sqlite

sqlite3.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c sqlite3.c -o sqlite3.o

shell.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -Dmain=shell_main -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c shell.c -o shell.o

speedtest1.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_SPEEDTEST1_WASM -Dmain=speedtest1_main -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/test/speedtest1.c -o speedtest1.o

kvtest.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -Dmain=kvtest_main -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/test/kvtest.c -o kvtest.o

fuzzcheck.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_OSS_FUZZ -Dmain=fuzzcheck_main -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/test/fuzzcheck.c -o fuzzcheck.o

ossfuzz.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/test/ossfuzz.c -o ossfuzz.o

fuzzinvariants.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/test/fuzzinvariants.c -o fuzzinvariants.o

vt02.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_CORE -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/test/vt02.c -o vt02.o

dbdata.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_CORE -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/ext/recover/dbdata.c -o dbdata.o

sqlite3recover.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c /work/home-ro/work/sqlite/source/ext/recover/sqlite3recover.c -o sqlite3recover.o

sqlite_loop.o: 
	sh /work/main/src/burnish/toolchain/read_once.sh /usr/lib/llvm-22/bin/clang -O2 -g -ffile-prefix-map=/work/home-ro/work/sqlite/source=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -D_FORTIFY_SOURCE=2 -fno-strict-aliasing -DHAVE_FDATASYNC=1 -DHAVE_GMTIME_R=1 -DHAVE_ISNAN=1 -DHAVE_LOCALTIME_R=1 -DHAVE_PREAD=1 -DHAVE_PREAD64=1 -DHAVE_PWRITE=1 -DHAVE_PWRITE64=1 -DHAVE_STRCHRNUL=1 -DHAVE_USLEEP=1 -DHAVE_UTIME=1 -flto=thin -fprofile-use=/work/home-ro/work/sqlite/profile.profdata -Wno-error=backend-plugin -Xclang -mllvm -Xclang -pgo-warn-missing-function -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_RTREE=1 -DSQLITE_SOUNDEX=1 -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ALLOW_ROWID_IN_VIEW -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT=1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_JSON1 -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3_TOKENIZER=1 -DSQLITE_USE_URI=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_STMTVTAB -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -D_GNU_SOURCE -I. -I/work/home-ro/work/sqlite/source/test -I/work/home-ro/work/sqlite/source/ext/recover -c sqlite_loop.c -o sqlite_loop.o
END

say folder
(cd "$ROOT/build" && mkdir -p bin)

say compile
(cd "$ROOT/build" && env MAKEFLAGS='' make "-j$JOBS" -f burnish.mk)

finish build/bin/burnish-sqlite dbe4a9611687c4a9bc9f891bb1313c8624d0bd86b9394e2506f64cc4903b1999
