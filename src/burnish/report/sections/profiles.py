"""Profiles: the list of them, and one in full."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.base.durations import duration
from burnish.catalogue import load
from burnish.profiles.inspecting import Inspection, Overlap
from burnish.record.store import Entry as Stored
from burnish.report.compose import dropping, row
from burnish.report.document import Column, Document, Paragraph, Role, Section, Span, Table
from burnish.report.words import percent

KINDS = {
    "clang": "clang, counters",
    "gcc": "gcc, counters",
    "bolt": "BOLT",
    "clang-samples": "clang, branch samples",
    "gcc-samples": "gcc, branch samples",
}


def listing(profiles: Sequence[tuple[str, Stored]]) -> Document:
    """All profiles, one line each."""
    if not profiles:
        none = f"no profile yet; `burnish tune {load.example()} --variant gcc-pgo` trains one"
        return Document("profiles", (Section("profiles", (Paragraph(Span(none)),)),))
    names = ("name", "key", "engine", "kind", "trained on")
    columns = dropping((Column(name) for name in names), "kind", "engine")
    body = tuple(row(name or "-", *_cells(entry)) for name, entry in profiles)
    return Document("profiles", (Section("profiles", (Table("profiles", columns, body, gap=2),)),))


def _cells(entry: Stored) -> tuple[str, ...]:
    kind = str(entry.about["kind"])
    training = training_words(entry.about.get("training") or ())
    return entry.key, str(entry.about["engine"]), KINDS.get(kind, kind), training


def training_words(training: Sequence[tuple[str, float]]) -> str:
    """(workload, seconds) in words; the seconds of a repeated workload are added up."""
    sums: dict[str, float] = {}
    for workload, seconds in training:
        sums[workload] = sums.get(workload, 0.0) + seconds
    return ", ".join(f"{workload} {duration(seconds)}" for workload, seconds in sums.items()) or "not known"


def document(profile: Inspection, against: Overlap | None) -> Document:
    """One profile: what it is, how much it covers, its hottest functions, its overlap with another one."""
    facts = Table(
        "facts",
        (Column("", whole=True), Column("")),
        tuple(row(Span(name, Role.STRONG), text) for name, text in _facts(profile, against)),
        headed=False,
        gap=2,
    )
    hottest = Table(
        "hottest",
        (Column("share", right=True), Column("hottest functions")),
        tuple(row(percent(share, 1), name) for name, share in profile.hottest),
        gap=2,
    )
    return Document(f"profile {profile.key}", (Section("facts", (facts,)), Section("hottest", (hottest,))))


def _facts(profile: Inspection, against: Overlap | None) -> list[tuple[str, str]]:
    seed = f", training seed {profile.seed}" if profile.seed else ""
    share = f" ({percent(profile.counted / profile.functions, 1)})" if profile.functions else ""
    coverage = (
        f"{profile.counted:,} of {profile.functions:,} functions counted{share}, "
        f"{profile.hot:,} make 99 % of all counts"
    )
    second = f"{profile.second_round:,} functions with counters after inlining"
    return [
        ("profile", f"{profile.name or 'without a name'} ({profile.key})"),
        ("kind", KINDS[profile.kind]),
        ("engine", profile.engine),
        ("made", profile.made),
        ("trained on", training_words(profile.training) + seed),
        ("build", f"{profile.build or 'not known'} ({profile.toolchain or 'compiler not known'})"),
        ("source", profile.source or "not known: the audit of the build that uses it decides"),
        ("coverage", coverage if profile.functions else "not readable: only gcc reads its sampled profiles"),
        *([("second round", second)] if profile.second_round else []),
        ("size", f"{profile.size / 1e6:,.1f} MB"),
        *([("overlap", _overlap(against))] if against is not None else []),
    ]


def _overlap(against: Overlap) -> str:
    counters = "" if against.by_counter is None else f", {percent(against.by_counter, 1)} by counter (llvm-profdata)"
    return (
        f"with {against.other}: {percent(against.by_function, 1)} by function{counters}; "
        f"hot only here: {against.only_here}, hot only there: {against.only_there}"
    )
