"""What builds are and need, in words and table cells; pure functions of recorded facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.base.durations import duration
from burnish.record.events.builds import GateFindings
from burnish.report.words import percent, plural

Facts = Mapping[str, Any]

SIZES = ("build", "code", "rodata", "data", "unwind", "file", "object", "link", "CPU")
"""Columns of the table of sizes: MB of the program's parts, peak MB of its heaviest object and of its link, CPU time
of the build."""


def needs(facts: Facts | None) -> str:
    """What a build needs to run: instruction-set level, glibc and libstdc++, or that it is static.

    A 32-bit program needs 32-bit libraries, which a 64-bit system seldom has, so that this comes first.
    """
    if not facts:
        return "-"
    word = "32 bit, " if facts["program"].get("bits") == 32 else ""
    level = word + (facts["needs"]["level"] or "not read")
    beyond = "".join(f"+{name.lower()}" for name in facts["needs"]["beyond"])
    return f"{level}{beyond}, {libraries(facts)}"


def libraries(facts: Facts) -> str:
    """The newest C and C++ library versions that the program needs; they decide on which distributions it runs."""
    if not facts["program"]["needed"]:
        return "static"
    versions = dict(facts["program"]["versions"])
    named = [f"glibc {versions['GLIBC']}"] if "GLIBC" in versions else []
    named += [f"GLIBCXX {versions['GLIBCXX']}"] if "GLIBCXX" in versions else []
    return ", ".join(named) or f"{len(facts['program']['needed'])} libraries"


def tried(tries: Mapping[str, str | None]) -> str:
    """On which processors the program starts and answers: ``runs on Nehalem, not on Conroe``."""
    good = [name for name, why in tries.items() if why is None]
    bad = [name for name, why in tries.items() if why is not None and not why.startswith("not tried")]
    parts = [f"runs on {', '.join(good)}"] if good else []
    parts += [f"not on {', '.join(bad)}"] if bad else []
    return ", ".join(parts)


def gate(report: GateFindings | None, *, same: bool = False) -> str:
    """What a build's gate found: ``passed 222, 3 skipped``, or the first tests that failed."""
    if same:
        return "no effect: identical code"
    if report is None:
        return "not tested"
    if report.passed:
        skipped = f", {report.skipped} skipped" if report.skipped else ""
        away = f", {len(report.left_out)} left out" if report.left_out else ""
        again = f", {len(report.again)} at the second try" if report.again else ""
        return f"passed {report.tests}{skipped}{away}{again}"
    return "failed: " + ", ".join(test for test, _ in report.failures[:3])


def size_cells(name: str, facts: Facts | None, about: Facts) -> tuple[str, ...]:
    """A build's row of the table of sizes; unknown values are a dash."""
    sizes: Mapping[str, int] = facts["program"]["sizes"] if facts else {}
    costs: Facts = about.get("costs") or {}
    heaviest, link = costs.get("heaviest"), costs.get("link")
    cpu = about.get("cpu_seconds")
    return (
        name,
        *(_mb(sizes.get(part)) for part in ("text", "rodata", "data", "eh_frame", "file")),
        _mb(heaviest[0][1] if heaviest else None, 0),
        _mb(link[0] if link else None, 0),
        duration(cpu) if cpu is not None else "-",
    )


def _mb(size: int | None, places: int = 1) -> str:
    return "-" if size is None else f"{size / 1e6:.{places}f}"


def unrecorded(builds: Mapping[str, Facts]) -> list[str]:
    """A line for each reason why objects do not record their flags, with the builds that it applies to."""
    where: dict[str, list[str]] = {}
    for name, about in builds.items():
        for why, count in about.get("unrecorded") or ():
            all_of_them = "all objects" if count == about.get("objects") else f"{count} objects"
            where.setdefault(f"flags of {all_of_them} by their commands alone: {why}", []).append(name)
    return [f"{', '.join(names)}: {what}" for what, names in where.items()]


def changed(change: Facts, most: int = 3) -> str:
    """Which functions a patch changes, in a line.

    Args:
        change: from `burnish.builds.evidence.Examiner.changed`.
        most: maximum number of names of each kind.
    """
    if change["note"]:
        return str(change["note"])
    kinds = {word: change[word] for word in ("gone", "new") if change[word]}
    others = [f"{word}: {_some(names, most)}" for word, names in kinds.items()]
    differ, of = change["differ"], f"{change['functions']:,} functions"
    if not differ:
        first = f"none of {of} differs" + ("" if others else ": only their places or their data do")
    else:
        first = f"{len(differ):,} of {of} differ{'s' if len(differ) == 1 else ''}: {_some(differ, most)}"
    return "; ".join([first, *others])


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def details(facts: Facts | None, about: Facts) -> list[str]:
    """Everything that is known about one build, one fact per line."""
    lines = []
    if about.get("effective"):
        lines.append(f"flags: {about['effective']}")
    if about.get("record"):
        lines.append(f"objects: {about['record']}")
    if facts:
        program, code = facts["program"], facts["needs"]
        lines.append(f"needs: {needs(facts)}" + (f" ({code['note']})" if code["note"] else ""))
        lines += [_use("because of", use) for use in code["because"][:5]]
        lines += [_use("chosen at run time:", use) for use in code["dispatched"][:5]]
        more = len(code["dispatched"]) - 5
        lines += [f"chosen at run time: {plural(more, 'more extension')}"] if more > 0 else []
        if code["functions"]:
            lines.append(f"read: {code['functions']} functions, {percent(code['covered'])} of the code")
        lines.append(f"libraries: {', '.join(program['needed']) or 'none (static)'}")
        versions = " ".join(f"{family}_{version}" for family, version in program["versions"])
        lines.append(f"symbol versions: {versions or 'none'}")
        lines.append("bytes: " + ", ".join(f"{part} {size:,}" for part, size in program["sizes"].items()))
        lines.append(f"digests: code {program['code']}, data {program['data']}")
    costs = about.get("costs")
    if costs:
        lines.append(
            f"compiled now {costs['compiled']} of {costs['of']} objects, cost known of {costs['known']}: "
            f"{costs['compile_cpu_seconds']:,.0f} CPU seconds"
        )
        lines += [
            f"peak memory: {peak / 1e6:,.0f} MB, {seconds:.1f} s: {path}" for path, peak, seconds in costs["heaviest"]
        ]
        if costs["link"]:
            lines.append(f"peak memory: {costs['link'][0] / 1e6:,.0f} MB, {costs['link'][1]:.1f} s: the link")
    elif about.get("objects"):
        lines.append("peak memory: not recorded (GNU time is not installed: apt install time)")
    return lines


def _use(what: str, use: Facts) -> str:
    more = use["functions"] - 1
    many = f" and {plural(more, 'more function')}" if more else ""
    return f"{what} {use['extension']} ({plural(use['instructions'], 'instruction')}) in {use['example'][:60]}{many}"
