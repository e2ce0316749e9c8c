"""Whether a profile is usable and was used, from the output of profile tools and compilers; pure.

A profile is refused when it is empty, when it does not cover the server, or when the build that used it could
not match more than 1 % of its hot functions: such a build is not the variant that its name promises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.toolchain.counts import crc

HOT_SHARE = 0.99
"""Hot functions together have this share of all counts (LLVM's default for its hot threshold)."""

TOLERATED = 0.01
"""Share of the hot functions that may go unmatched."""


@dataclass(frozen=True)
class Coverage:
    """What a profile covers.

    Attributes:
        functions: number of functions (clang, BOLT) or of object files (gcc) with a record.
        counted: how many of them ran in training.
        hot: names of the hot functions as the profile has them ('a.c;f' where f is local to a.c); for gcc the
            paths of the hot object files' .gcda.
        missing: which of the engine's must-be-covered functions it lacks.
    """

    functions: int
    counted: int
    hot: frozenset[str]
    missing: tuple[str, ...]


Unmatched = frozenset[tuple[str, str]]
"""(file, function) of each function that the compiler could not match, as its warnings spell them."""


@dataclass(frozen=True)
class Audit:
    """How well a profile was matched when it was used.

    Attributes:
        hot: number of hot functions (gcc: functions of hot objects).
        mismatched: hot functions whose control flow differs from the profile's.
        absent: hot functions for which the compiler found no profile; for gcc also hot objects without one.
        unmatched: number of hot functions that were not matched; of an object without a profile, all that ran.
        all_mismatched: mismatches, hot or not.
        all_absent: functions (gcc: and objects) without a profile, hot or not.
        stale: hot in the profile but absent from this build: objects, or local functions of files, that it does
            not have.
        names: all functions that were not matched, hot or not, but for those of a second round.
    """

    hot: int
    mismatched: tuple[str, ...]
    absent: tuple[str, ...]
    unmatched: int
    all_mismatched: int
    all_absent: int
    stale: tuple[str, ...] = ()
    names: Unmatched = frozenset()

    @property
    def share(self) -> float:
        """Share of the hot functions that were not matched, 0 to 1."""
        return self.unmatched / max(1, self.hot)

    @property
    def acceptable(self) -> bool:
        """Whether the build counts as the variant."""
        return self.share <= TOLERATED

    @property
    def summary(self) -> str:
        """One line for tables and logs."""
        stale = f", {len(self.stale)} stale" if self.stale else ""
        return (
            f"{self.hot} hot functions, {len(self.mismatched)} mismatching, {len(self.absent)} missing{stale}"
            f" ({self.share:.1%}; cold ones: {self.all_mismatched - len(self.mismatched)} mismatching,"
            f" {self.all_absent - len(self.absent)} missing)"
        )


def plain_name(name: str) -> str:
    """A profile's function name without the file that LLVM puts before local ones ('a.c;f'; before 17 'a.c:f')."""
    return file_and_name(name)[1]


def file_and_name(name: str) -> tuple[str, str]:
    """A profile's function name in two: the file that LLVM puts before local ones ('' for others), and the name."""
    *file, plain = re.split(r";|(?<=\.c):|(?<=\.cc):|(?<=\.cpp):", name, maxsplit=1)
    return "".join(file), plain


def read_clang(show: str, summary: str, covered: Sequence[str]) -> Coverage:
    """Coverage from llvm-profdata's output.

    Args:
        show: output of ``llvm-profdata show --all-functions``.
        summary: output of ``llvm-profdata show --detailed-summary``.
        covered: functions that must have run; mangled names may hold them as a part.
    """
    counts: dict[str, int] = {}
    name = None
    for line in show.splitlines():
        if match := re.match(r"  (\S.*):$", line):
            name = match[1]
        elif name and (match := re.match(r"    Function count: (\d+)", line)):
            counts[name] = max(counts.get(name, 0), int(match[1]))
        elif name and (match := re.match(r"    Block counts: \[(.*)\]", line)):
            blocks = [int(text) for text in match[1].split(",") if text.strip()]
            counts[name] = max([counts.get(name, 0), *blocks])
    threshold = 1
    for match in re.finditer(r"(\d+) (?:blocks|counts?).*count >= (\d+) account for ([\d.]+) ?%?", summary):
        if abs(float(match[3]) - 100 * HOT_SHARE) < 1e-6:
            threshold = max(1, int(match[2]))
    ran = {name for name, count in counts.items() if count > 0}
    return Coverage(
        functions=len(counts),
        counted=len(ran),
        hot=frozenset(name for name, count in counts.items() if count >= threshold),
        missing=lacking(covered, (plain_name(name) for name in ran)),
    )


def lacking(covered: Sequence[str], ran: Iterable[str]) -> tuple[str, ...]:
    """Those of `covered` that are not among the (plain or mangled) names of functions that ran."""
    text = "\n".join(ran)
    # A mangled C++ name holds the plain one after its length; a C name is the plain one, and what compilers and
    # BOLT append begins with a character that no name contains ('f.cold', 'f/1').
    return tuple(
        name
        for name in covered
        if not re.search(rf"^{re.escape(name)}(?![\w$])|(?<!\d){len(name)}{re.escape(name)}", text, re.MULTILINE)
    )


def _in_link(name: str) -> str:
    """A function's own name, without its file and without ThinLTO's suffix of local ones ('f.llvm.123')."""
    return re.sub(r"\.llvm\..+$", "", plain_name(name))


_SECOND_ROUND = 1 << 60
"""Bit of a function's hash that marks context-sensitive counters (LLVM: NamedInstrProfRecord::CS_FLAG_IN_FUNC_HASH)."""


def audit_clang(
    log: str, hot: frozenset[str], hot_again: frozenset[str] = frozenset(), sources: frozenset[str] = frozenset()
) -> Audit:
    """Counts, in a compile log, the functions that clang (with LTO: the link) could not match to the profile.

    Functions without a profile are reported only with ``-pgo-warn-missing-function``.

    Args:
        log: the compile log; a warning names file and function.
        hot: names of the hot functions as the profile has them.
        hot_again: those of a second, context-sensitive round.
        sources: names of the build's source files, without folders; where given, hot local functions of other
            files are stale.
    """
    places = {(Path(file).name, name) for file, name in map(file_and_name, hot)}
    again = {_in_link(name) for name in hot_again}

    def known(file: str, name: str) -> bool:
        # The file's name without its folders: a function that was hot when its file lay elsewhere is still one
        # that went unmatched.
        return name in hot or f"{file};{name}" in hot or (Path(file).name, name) in places

    def named(what: str) -> tuple[set[tuple[str, str]], set[str]]:
        pattern = rf"^(?:\S*lld: )?warning: (.+?): .*{what} (\S+) Hash = (\d+)"
        names = re.findall(pattern, log, re.MULTILINE)
        first = {(file, name) for file, name, value in names if not int(value) & _SECOND_ROUND}
        # In the link, files are objects and local functions are renamed, so only the function's own name is used.
        return first, {_in_link(name) for _, name, value in names if int(value) & _SECOND_ROUND}

    mismatched, mismatched_again = named(r"\(hash mismatch\)")
    absent, absent_again = named(r"[Nn]o profile data available for function")
    hot_mismatched = sorted({name for file, name in mismatched if known(file, name)})
    hot_absent = sorted({name for file, name in absent if known(file, name)})
    hot_mismatched += sorted(mismatched_again & again)
    hot_absent += sorted(absent_again & again)
    stale = sorted(name for file, name in places if sources and file and file not in sources)
    return Audit(
        hot=len(hot) + len(hot_again),
        mismatched=tuple(hot_mismatched),
        absent=tuple(hot_absent),
        unmatched=len(hot_mismatched) + len(hot_absent) + len(stale),
        all_mismatched=len(mismatched) + len(mismatched_again),
        all_absent=len(absent) + len(absent_again),
        stale=tuple(stale),
        names=frozenset(mismatched | absent),
    )


@dataclass(frozen=True)
class ObjectCounts:
    """The counts of one .gcda file.

    Attributes:
        functions: functions with at least one count above zero.
        total: sum of its arc counters.
        ran: `gcov_ident` of those functions.
        sums: sum of each function's arc counters by its `gcov_ident`.
    """

    functions: int
    total: int
    ran: frozenset[int] = frozenset()
    sums: Mapping[int, int] = field(default_factory=dict, compare=False)


def read_gcov_dump(text: str) -> ObjectCounts:
    """Counts of one .gcda file from ``gcov-dump -l``."""
    sums: dict[int, int] = {}
    ident, in_arcs = 0, False
    for line in text.splitlines():
        if match := re.search(r":FUNCTION ident=(\d+)", line):
            ident, in_arcs = int(match[1]), False
        elif match := re.search(r":COUNTERS (\S+) ", line):
            in_arcs = match[1] == "arcs"
        elif in_arcs and (match := re.search(r":\s+\d+:((?: -?\d+)+)\s*$", line)):
            sums[ident] = sums.get(ident, 0) + sum(int(word) for word in match[1].split())
    ran = frozenset(ident for ident, count in sums.items() if count > 0)
    return ObjectCounts(len(ran), sum(sums.values()), ran, sums)


def gcov_ident(symbol: str) -> int:
    """The identifier in a .gcda file of a function that is visible outside its file.

    It is the CRC of the symbol, end included, kept to 31 bits (gcc/coverage.cc, coverage_compute_profile_id). A
    local function's has more in it.
    """
    return crc(0, symbol) & 0x7FFFFFFF


def read_gcc(objects: Mapping[str, ObjectCounts], covered: Sequence[str], symbols: Sequence[str]) -> Coverage:
    """Coverage from the counts of every .gcda file.

    Args:
        objects: counts by the .gcda's path relative to the build folder.
        covered: functions that must have run; mangled names may hold them as a part.
        symbols: the program's functions that are visible outside their files. Others of `covered` cannot be
            identified in a .gcda file and are not checked.
    """
    ran = {path: item for path, item in objects.items() if item.total > 0}
    everything = sum(item.total for item in ran.values())
    hot, sum_so_far = set(), 0
    for path, item in sorted(ran.items(), key=lambda entry: -entry[1].total):
        if sum_so_far >= HOT_SHARE * everything:
            break
        hot.add(path)
        sum_so_far += item.total
    idents = frozenset[int]().union(*(item.ran for item in ran.values()))
    missing = []
    for name in covered:
        own = [symbol for symbol in symbols if name in symbol and not lacking([name], [symbol])]
        if own and not any(gcov_ident(symbol) in idents for symbol in own):
            missing.append(name)
    return Coverage(functions=len(objects), counted=len(ran), hot=frozenset(hot), missing=tuple(missing))


_HEADERS = (".h", ".hh", ".hpp", ".ic", ".inl")


def audit_gcc(
    log: str, objects: Mapping[str, ObjectCounts], hot: frozenset[str], built: frozenset[str] = frozenset()
) -> Audit:
    """Counts, in a compile log, the functions that gcc could not match to the .gcda files.

    gcc's warnings name a function in its own notation ('int T::f(int) const') and its file, so a warning counts as hot
    if the file is that of a hot object.

    Args:
        log: the compile log.
        objects: counts by the .gcda's path relative to the build folder.
        hot: paths of the hot ones.
        built: paths of the build's objects; if given, hot ones of the profile that are not among them are stale.
    """
    log = re.sub("[‘’]", "'", log)  # gcc's quotes in a UTF-8 locale
    # The object of a.cc is a.cc.o with cmake and a.o with make.
    sources = {Path(path).name.removesuffix(".gcda") for path in hot}

    def is_hot(file: str) -> bool:
        place = Path(file)
        return place.name in sources or (place.stem in sources and place.suffix not in _HEADERS)

    def named(what: str) -> set[tuple[str, str]]:
        return set(re.findall(rf"^(.+?):\d+:\d+: (?:warning|error): {what}", log, re.MULTILINE))

    mismatched = named(r"the control flow of function '(.+?)' does not match its profile")
    mismatched |= named(r"number of counters in profile data for function '(.+?)' does not match")
    absent = named(r"profile for function '(.+?)' not found in profile data")
    lost = {path for _, path in named(r"'(.+?\.gcda)' profile count data file not found")}
    hot_lost = {path for path in hot if any(f"/{message}".endswith(f"/{path}") for message in lost)}
    hot_mismatched = {name for file, name in mismatched if is_hot(file)}
    hot_absent = {name for file, name in absent if is_hot(file)}
    names = {str(Path(path).with_suffix(".gcda")) for path in built}
    stale = {path for path in hot if built and path not in names}
    return Audit(
        hot=sum(objects[path].functions for path in hot),
        mismatched=tuple(sorted(hot_mismatched)),
        absent=tuple(sorted(hot_absent | hot_lost)),
        unmatched=len(hot_mismatched) + len(hot_absent) + sum(objects[path].functions for path in hot_lost | stale),
        all_mismatched=len(mismatched),
        all_absent=len(absent) + len(lost),
        stale=tuple(sorted(stale)),
        names=frozenset(mismatched | absent),
    )


def audit_samples(log: str, hot: frozenset[str]) -> Audit:
    """How well clang matched sampled profiles, from its report (``-report-profile-staleness``).

    The report counts samples per file; the share lost to changed functions or call sites is used as the share of
    functions. gcc does not report what it could not match.
    """
    shares = re.findall(r"\((\d+)/(\d+)\) of samples are discarded due to .*mismatch", log)
    lost = max((int(part) / int(total) for part, total in shares if int(total)), default=0.0)
    unmatched = round(lost * len(hot))
    return Audit(len(hot), (), (), unmatched, all_mismatched=unmatched, all_absent=0)


def read_bolt(log: str) -> tuple[int, int, int]:
    """(functions with a profile, all functions, stale ones) from llvm-bolt's output."""
    profiled = re.search(r"(\d+) out of (\d+) functions in the binary \([\d.]+%\) have non-empty execution", log)
    stale = re.search(r"(\d+) \([\d.]+% of all profiled\) functions? ha(?:s|ve) invalid", log)
    have, of = (int(profiled[1]), int(profiled[2])) if profiled else (0, 0)
    return have, of, int(stale[1]) if stale else 0
