"""What a reader elsewhere needs: gates, flags, both sides as they ran, hosts, commands, digests."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from burnish.base.durations import duration
from burnish.program.built import differ
from burnish.report.analysis import marks
from burnish.report.compose import grid, points, row, section
from burnish.report.document import Column, Entry, Facts, Heading, Literal, Picture, Points, Section, Span, Table
from burnish.report.page.details import Details
from burnish.report.words import microseconds, milliseconds, percent, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from burnish.record.events.verdicts import SideSummary
    from burnish.report.result import Result

_MOST = 60
"""Longest lists of tests or features that are shown."""


def gate(details: Details) -> list[Section]:
    """What of the server's own tests ran for each build, and what was left out."""
    if not details.gates:
        return []
    rows = [
        (
            Span(name),
            "passed" if report.passed else "failed",
            str(report.tests),
            str(report.skipped),
            str(len(report.left_out)),
            duration(report.seconds) if report.seconds else "-",
            report.build_id[:16] or "-",
        )
        for name, report in details.gates.items()
    ]
    columns = ("build", "result", "tests", "skipped", "left out", "time", "build id tested")
    lines = [
        f"{name}, left out as they do not apply: {_list(report.left_out)}"
        for name, report in details.gates.items()
        if report.left_out
    ]
    lines += [
        f"{name}, passed only at the second try, alone: {_list(report.again)}"
        for name, report in details.gates.items()
        if report.again
    ]
    lines += [
        f"{name}, failed: {test}: {why}" for name, report in details.gates.items() for test, why in report.failures
    ]
    return [section("gate", "The server's own tests", grid("gate", columns, rows, ()), points(dict.fromkeys(lines)))]


def _list(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST} more" if len(every) > _MOST else ""
    return ", ".join(every[:_MOST]) + more


def flags(result: Result, details: Details) -> list[Section]:
    """How each build was made: compiler, recipe, the flags that took effect, its name in the store."""
    recipes: Mapping[str, Mapping[str, Any]] = result.definition.get("recipes") or {}
    base = recipes.get(result.baseline, {})
    entries = []
    for build in result.builds:
        toolchain = build.toolchain.partition(" +")[0]
        lines = [
            details.toolchains.get(toolchain, ""),
            _recipe(recipes.get(build.variant, {}), base),
            *_flags(details.flags.get(build.variant, {})),
            f"in effect: {build.costs['effective']}" if build.costs.get("effective") else "",
            f"trained on: {', '.join(build.trained)}" if build.trained else "",
            f"key: {details.keys[build.variant]}" if build.variant in details.keys else "",
        ]
        shown = tuple(line for line in lines if line)
        if shown:
            letters = marks.letters(marks.of_build(build))
            entries.append(Entry(build.variant, f" !{letters}" if letters else "", _prose(build.reason), shown))
    return [Section("flags", (Heading("How each build was made"), *entries))] if entries else []


_USES = {"c": "C", "cxx": "C++", "link": "linking"}
"""What flags are for, in words."""


def _flags(by_use: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The flags as command lines; those for several languages once."""
    uses: dict[tuple[str, ...], list[str]] = {}
    for use, flags_ in by_use.items():
        if flags_:
            uses.setdefault(flags_, []).append(_USES.get(use, use))
    return (f"flags for {' and '.join(names)}: {shlex.join(flags_)}" for flags_, names in uses.items())


def _prose(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def _recipe(recipe: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """What differs from the baseline's recipe."""
    found = [
        f"{key} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in recipe.items()
        if value != base.get(key)
    ]
    return f"recipe: {'; '.join(found)}" if found and base else ""


_SIDES = ("load", "side", "work/s", "CPU/work", "kernel", "p50", "p95", "p99", "busy", "waits", "faults", "memory")


def sides(result: Result, details: Details) -> list[Section]:
    """Both sides of every cell as they ran, and whether they identify themselves alike."""
    measured = [(row_.workload, row_.sides) for row_ in result.rows]
    measured += [(f"{row_.workload}, again", row_.sides) for row_ in result.confirmations]
    rows = [cells for load, both in measured for cells in _pair(load, both)]
    columns = (*map(Column, _SIDES[:2]), *(Column(name, right=True, whole=True) for name in _SIDES[2:]))
    table = Table("sides", columns, tuple(row(*cells) for cells in dict.fromkeys(rows)))
    blocks: list[Any] = [table] if rows else []
    differing = _differing(details)
    if differing is not None:
        blocks.append(differing)
    tuned = [f"badly tuned for these loads: {line}" for line in details.tuning]
    if not blocks and not tuned:
        return []
    words = ["Medians over all pairs; CPU is the server's, waits and faults are per unit of work."] if rows else []
    return [section("sides", "Both sides", points([*words, *tuned]), *blocks)]


def _pair(load: str, both: Mapping[str, SideSummary | None]) -> Iterator[tuple[str, ...]]:
    for name, side in both.items():
        if side is not None:
            yield (
                load,
                name,
                f"{side.throughput:,.0f}",
                microseconds(side.server_cpu_per_transaction),
                percent(side.kernel_share),
                *(milliseconds(side.latency[at]) if at in side.latency else "-" for at in ("p50", "p95", "p99")),
                percent(side.busy) if side.busy is not None else "-",
                _short(side.waits_per_transaction),
                _short(side.faults_per_transaction),
                f"{side.rss_bytes / 1e6:,.0f} MB" if side.rss_bytes else "-",
            )


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _differing(details: Details) -> Table | Points | None:
    """Features in which builds differ; None if none of them tells its features."""
    by_build = {name: dict(identity.features) for name, identity in details.identities.items() if identity.features}
    if len(by_build) < 2:
        return None
    features = dict.fromkeys(name for known in by_build.values() for name in known)
    values = {name: [known.get(name, "-") for known in by_build.values()] for name in features}
    different = {name: found for name, found in values.items() if differ(found)}
    same = len(values) - len(different)
    rows = [(name, *found) for name, found in list(different.items())[:_MOST]]
    programs = plural(len(by_build), "program")
    if not rows:
        return points([f"{plural(same, 'feature')} that the programs tell: the same in all {programs}"])
    columns = (Column("feature"), *(Column(name) for name in by_build))
    alike = row(f"{same:,} more: the same in all {programs}")
    return Table("features", columns, (*(row(*cells) for cells in rows), alike))


def hosts(details: Details) -> list[Section]:
    """A card for each host."""
    cards = []
    for letter, host in details.hosts.items():
        items = [(name, value) for name, key in _HOST for value in [_value(key, host.get(key))] if value]
        title = f"Host {letter}" if letter else "Host"
        facts = Facts(tuple((name, (Span(value),)) for name, value in items))
        cards.append(section("host", title, facts))
    return cards


_HOST = (
    ("processor", "cpu_model"),
    ("family/model/stepping", "cpu_signature"),
    ("architecture", "architecture"),
    ("microcode", "microcode"),
    ("cores", "cores_allowed"),
    ("hyper-threading", "smt"),
    ("memory", "memory_bytes"),
    ("memory limit", "memory_limit_bytes"),
    ("swap", "swap_bytes"),
    ("distribution", "distribution"),
    ("kernel", "kernel"),
    ("hypervisor", "hypervisor"),
    ("frequency governor", "governor"),
    ("turbo", "turbo"),
    ("transparent huge pages", "thp"),
    ("address randomisation", "aslr"),
    ("clock", "clocksource"),
    ("hardware counters", "pmu"),
    ("branch records", "lbr"),
    ("load before", "load_average"),
)
"""Facts of a host that are shown, with their names in the record."""


def _value(key: str, value: object) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("_bytes") and isinstance(value, (int, float)):
        return f"{value / 2**30:.1f} GiB"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def commands(result: Result, details: Details) -> list[Section]:
    """How the run was called, what was started, and the digests of what went in and came out."""
    lines = [f"burnish {shlex.join(words)}" for words in details.calls]
    called = [section("calls", "How it was measured", Literal(tuple(lines)))] if lines else []
    facts = [("run", result.name), ("seed", ", ".join(map(str, details.seeds)))]
    facts += [("burnish", details.burnish), ("begun", result.begun), ("finished", result.ended or "not finished")]
    facts += [("sessions", str(result.runs))]
    if details.source:
        facts += [("source", details.source.origin), ("digest of the source", details.source.digest)]
        facts += [(f"SHA-256 of {name}", digest) for name, digest in details.source.archives]
    for name, key in details.keys.items():
        facts += [(f"key of {name}", key), (f"SHA-256 of {name}'s program", details.digests.get(name, ""))]
    items = tuple((name, (Span(value),)) for name, value in facts if value)
    digests = section("digests", "Run and digests", Facts(items))
    started = [
        Entry(
            load,
            "",
            _prose(details.reasons.get(load, "")),
            tuple(f"{side.label}, {role}: {shlex.join(argv)}" for side in both for role, argv in side.commands),
        )
        for load, both in details.sides.items()
    ]
    ran = [Section("commands", (Heading("Commands of each side, as first started"), *started))] if started else []
    return [*called, digests, *ran]


def pictures(details: Details) -> list[Section]:
    """Drawings from the record, such as flame graphs."""
    drawn = [Picture(name.removesuffix(".svg"), svg) for name, svg in details.pictures]
    return [section("pictures", "Flame graphs", *drawn)] if drawn else []
