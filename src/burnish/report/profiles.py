"""Profiles for people: the list of them, and one in full. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from burnish.base.durations import duration
from burnish.profiles.inspecting import Inspection, Overlap

KINDS = {
    "clang": "clang, counters",
    "gcc": "gcc, counters",
    "bolt": "BOLT",
    "clang-samples": "clang, branch samples",
    "gcc-samples": "gcc, branch samples",
}


def listing(rows: Sequence[tuple[str, str, str, str, str]]) -> Table:
    """A table of (name, key, engine, kind, training)."""
    table = Table("name", "key", "engine", "kind", "trained on", box=None, pad_edge=False)
    for name, key, engine, kind, training in rows:
        table.add_row(name or "-", key, engine, KINDS.get(kind, kind), training)
    return table


def training_words(training: Sequence[tuple[str, float]]) -> str:
    """(workload, seconds) in words, workloads that come several times added up."""
    sums: dict[str, float] = {}
    for workload, seconds in training:
        sums[workload] = sums.get(workload, 0.0) + seconds
    return ", ".join(f"{workload} {duration(seconds)}" for workload, seconds in sums.items()) or "not known"


def render(found: Inspection, against: Overlap | None) -> RenderableType:
    """One profile: what it is, how much it covers, its hottest functions, how like another one it is."""
    facts = Table(box=None, pad_edge=False, show_header=False)
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    seed = f", training seed {found.seed}" if found.seed else ""
    share = f" ({found.counted / found.functions:.1%})" if found.functions else ""
    coverage = (
        f"{found.counted:,} of {found.functions:,} functions counted{share}, {found.hot:,} make 99 % of all counts"
    )
    rows = [
        ("profile", f"{found.name or 'without a name'} ({found.key})"),
        ("kind", KINDS[found.kind]),
        ("engine", found.engine),
        ("made", found.made),
        ("trained on", training_words(found.training) + seed),
        ("build", f"{found.build or 'not known'} ({found.toolchain or 'compiler not known'})"),
        ("source", found.source or "not known: the audit of the build that uses it decides"),
        ("coverage", coverage if found.functions else "not readable: only gcc reads its sampled profiles"),
        ("size", f"{found.size / 1e6:,.1f} MB"),
    ]
    if found.second_round:
        rows.insert(-1, ("second round", f"{found.second_round:,} functions with counters after inlining"))
    if against is not None:
        rows.append(("overlap", _overlap(against)))
    for row in rows:
        facts.add_row(*map(Text, row))
    hottest = Table(box=None, pad_edge=False)
    hottest.add_column("share", justify="right")
    hottest.add_column("hottest functions", overflow="fold")
    for name, part in found.hottest:
        hottest.add_row(f"{part:.1%}", Text(name))
    return Group(facts, "", hottest)


def _overlap(against: Overlap) -> str:
    counters = "" if against.by_counter is None else f", {against.by_counter:.1%} by counter (llvm-profdata)"
    return (
        f"with {against.other}: {against.by_function:.1%} by function{counters}; hot only here: {against.only_here}, "
        f"hot only there: {against.only_there}"
    )
