#!/bin/sh
# clang in two steps: it reads a source, then makes an object of what it read. Reading is most of the work and the same
# for builds that differ in profile, ThinLTO, LLVM's own options, -O2 or -O3; with ccache it is done once for all of
# them.
#
#   read_once.sh CLANG ARGUMENTS...
#
# BURNISH_READS: ccache's log of the first steps; without it they are not cached, as in a build.sh. BURNISH_METER: what
# stands before each compiler, if anything. A command that is not about one source and one object, or that asks for
# something which is decided as the source is read and differs between builds, is run as it is.
compiles=
made=
sources=0
whole=
previous=
for word do
    case $previous in
        -o) made=$word ;;
        -MF | -MT | -MQ | -include | -imacros | -isystem | -iquote | -idirafter | -I | -D | -U) ;;
        *)
            case $word in
                -*) ;;
                *.c | *.cc | *.cpp | *.cxx | *.c++ | *.C) sources=$((sources + 1)) source=$word ;;
                *.[sS] | *.bc | *.ll | *.i | *.ii) whole=yes ;;
            esac
            ;;
    esac
    case $word in
        -c) compiles=yes ;;
        -E | -S | -M | -MM | -emit-* | -fsyntax-only | *-save-temps* | -Xassembler | -Xpreprocessor | @*) whole=yes ;;
        -flto | -flto=[!t]* | -fno-lto | -ffat-lto-objects | -fembed-bitcode*) whole=yes ;;
        -fprofile-sample-* | -fauto-profile* | -fpseudo-probe-* | -fprofile-instr-* | -fprofile-arcs) whole=yes ;;
        -ftest-coverage | -fcoverage-mapping | -coverage | --coverage | -fsanitize*) whole=yes ;;
        -gsplit-dwarf* | -grecord-* | -frecord-* | -fsave-optimization-record* | -ftime-trace*) whole=yes ;;
        -Wmisexpect | -R*) whole=yes ;; # what is reported of lines of source needs the source
    esac
    previous=$word
done
if [ -z "$compiles" ] || [ -z "$made" ] || [ "$sources" != 1 ] || [ -n "$whole" ]; then
    exec ${BURNISH_METER:+"$BURNISH_METER"} "$@"
fi
bitcode=${made%.o}.bc
named=${made%.o}.read/${source##*/} # clang's warnings about a profile begin with the name of what it makes an object of

# step reads|makes COMPILER ARGUMENTS...: runs the command with the words that the step is about.
step() {
    step=$1
    compiler=$2
    shift 2
    behind=
    for word do
        shift
        kind=
        case $behind$word in
            -o | -x | -mllvm | -target | -Xclang | -MF | -MT | -MQ | -I | -D | -U) behind="$word " && continue ;;
            -include | -imacros | -isystem | -iquote | -idirafter) behind="$word " && continue ;;
            '-Xclang -mllvm') behind='-Xclang -mllvm ' && continue ;;
            '-Xclang -mllvm -Xclang') behind='-Xclang -mllvm -Xclang ' && continue ;;
            '-o '*) behind= && continue ;;
            -mllvm\ * | '-Xclang -mllvm -Xclang '*) kind=makes ;;
            -Xclang\ * | -target\ *) kind=both ;;
            -c) continue ;;
            -flto=thin | -fprofile-* | -fcs-profile-* | -W*backend-plugin | -W*profile-instr*) kind=makes ;;
            -Wp,*) kind=reads ;;
            -O3) kind=both && [ "$step" = makes ] || word=-O2 ;; # they are read alike
            -O* | -f* | -m* | -g* | -w | -W* | --target=*) kind=both ;;
            *) kind=reads ;;
        esac
        [ "$kind" = both ] || [ "$kind" = "$step" ] && set -- "$@" $behind "$word"
        behind=
    done
    case $step in
        reads)
            set -- "$compiler" "$@" -flto=thin -emit-llvm -Xclang -disable-llvm-passes -c -o "$bitcode"
            [ -z "$BURNISH_READS" ] || set -- ccache "$@"
            ;;
        makes) set -- "$compiler" "$@" -Wno-unused-command-line-argument -c -x ir "$named" -o "$made" ;;
    esac
    if [ "$1" = ccache ]; then
        # ccache turns itself off for what it runs, and this is what it runs. By what the compiler says it has read
        # (depend mode), the preprocessor need not run for this step too.
        unset CCACHE_DISABLE
        prefix=$BURNISH_METER
        case $prefix in
            *' '*) PATH=${prefix%/*}:$PATH prefix=${prefix##*/} ;; # a prefix has no spaces, and may be a name
        esac
        CCACHE_PREFIX=$prefix CCACHE_STATSLOG=$BURNISH_READS CCACHE_EXTRAFILES= CCACHE_DEPEND=1 "$@"
    else
        ${BURNISH_METER:+"$BURNISH_METER"} "$@"
    fi
}

step reads "$@" && mkdir -p "${named%/*}" && mv "$bitcode" "$named" && step makes "$@"
code=$?
rm -rf "$bitcode" "${named%/*}"
exit $code
