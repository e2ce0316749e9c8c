"""What a study of patches says: a row for each build, a sentence for each patch; pure functions of the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import scipy

from burnish.record.by_type import ByType
from burnish.record.events.builds import BuildMade
from burnish.record.events.patches import BuildExplained, SeriesRead, TwinFound
from burnish.report.evidence import NO_EFFECT
from burnish.report.why import Block, scale, short, signed
from burnish.source.patches.subsets import Kind

if TYPE_CHECKING:
    from burnish.report.summary import BuildRow, Row, Summary

HEAD = ("patch", "build", "verdict", "ratio", "gate", "compiled")
IDENTICAL = "identical code"
LEVEL = 0.95
USUAL_DELTA = 0.01

Interval = Callable[[Mapping[str, float] | None], str]


@dataclass(frozen=True)
class Patched:
    """A series of patches as its study has it.

    Attributes:
        recipe: name of the variant that every row is built by.
        members: the patches in the order in which they are applied: name, origin, reverted, sha256, needs.
        builds: what was to be built: variant, kind, patch, patches, also.
        left_out: (patch, kind, why) of what can't be built.
        twins: variants that are the same program as another, by name: measured once.
        compiled: by variant, (objects that the compiler cache did not have, all objects).
        symbols: what samples of two builds say: variant, workload, and functions or why there are none.
    """

    recipe: str
    members: tuple[Mapping[str, Any], ...]
    builds: tuple[Mapping[str, Any], ...]
    left_out: tuple[tuple[str, str, str], ...]
    twins: Mapping[str, str]
    compiled: Mapping[str, tuple[int, int]]
    symbols: tuple[Mapping[str, Any], ...]


def patched(by: ByType) -> Patched | None:
    """From a record's events; None where the study is about no patches."""
    series = by.last(SeriesRead)
    if series is None:
        return None
    explained = {(each.variant, each.workload): each for each in by.of(BuildExplained)}
    return Patched(
        recipe=series.recipe,
        members=tuple(asdict(each) for each in series.members),
        builds=tuple(asdict(each) for each in series.builds),
        left_out=tuple((each.patch, each.kind, each.why) for each in series.left_out),
        twins={each.variant: each.of for each in by.of(TwinFound)},
        # Of replicates the first: the others differ in their link alone, so that the cache has all of their objects.
        compiled={each.build.variant: _compiled(each.about) for each in reversed(by.of(BuildMade))},
        symbols=tuple(_explained(each) for each in explained.values()),
    )


def _explained(found: BuildExplained) -> dict[str, Any]:
    """What samples of a build say, or why there are none."""
    said = ("failure",) if found.failure is not None else ("study", "unit", "cpu", "functions")
    values = asdict(found)
    return {name: values[name] for name in ("variant", "workload", *said)}


def _compiled(about: Mapping[str, Any]) -> tuple[int, int]:
    """(objects compiled, all objects) when a build was made; without a compiler cache all of them."""
    cache = about.get("cache")
    if cache is None:
        return about.get("objects", 0), about.get("objects", 0)
    return cache["misses"] + cache["passed"], sum(cache[name] for name in ("hits", "misses", "passed"))


@dataclass(frozen=True)
class Effect:
    """How much one set of patches is to another: a ratio with its 95 % interval.

    Attributes:
        ratio: above 1 where the first is better.
        low: lower end.
        high: upper end.
        exact: whether it is 1 since both are the same program.
    """

    ratio: float
    low: float
    high: float
    exact: bool = False

    @property
    def words(self) -> str:
        """As a gain in per cent: ``1.2 % [0.8, 1.6]``."""
        if self.exact:
            return "0 %, the same program"
        ends = f"[{_percent(self.low)}, {_percent(self.high)}]"
        return f"{_percent(self.ratio)} % {ends}"

    @property
    def size(self) -> str:
        """Likewise without the sign, for a sentence whose verb has it: a ratio of 0.64 takes 36 % away."""
        lost = Effect(2 - self.ratio, 2 - self.high, 2 - self.low, self.exact)
        return self.words if self.ratio >= 1 else lost.words


def _percent(ratio: float) -> str:
    text = f"{100 * (ratio - 1):.1f}"
    return "0.0" if text == "-0.0" else text


SAME = Effect(1.0, 1.0, 1.0, exact=True)


def against(one: Effect, other: Effect) -> Effect:
    """The first against the second, both against the same baseline in starts of their own, which are independent."""
    centre = math.log(one.ratio) - math.log(other.ratio)
    half = math.hypot(*((math.log(each.high) - math.log(each.low)) / 2 for each in (one, other)))
    return Effect(math.exp(centre), math.exp(centre - half), math.exp(centre + half), one.exact and other.exact)


def effect(row: Row) -> Effect | None:
    """A row's effect; its interval at 95 %, whatever level its verdict is read off at."""
    value = row.ratio
    if row.verdict == NO_EFFECT:
        return SAME
    if value is None:
        return None
    centre = math.log(value["ratio"])
    half = (math.log(value["high"]) - math.log(value["low"])) / 2
    if not math.isclose(value["level"], LEVEL):
        t = scipy.stats.t(max(1, row.starts - 1))
        half *= t.ppf((1 + LEVEL) / 2) / t.ppf((1 + value["level"]) / 2)
    return Effect(value["ratio"], math.exp(centre - half), math.exp(centre + half))


@dataclass(frozen=True)
class _Found:
    """The study, looked up by build."""

    summary: Summary
    patched: Patched

    @property
    def delta(self) -> float:
        """Within so much of 1 a ratio makes no difference."""
        rule: Mapping[str, Any] = self.summary.contest.get("rule", {})
        return float(rule.get("delta") or USUAL_DELTA)

    @property
    def workloads(self) -> list[str]:
        return list(dict.fromkeys(row.workload for row in self.summary.rows))

    def row(self, variant: str, workload: str) -> Row | None:
        """The measured row of a build; of two that are one program, that of the one that was measured."""
        wanted = self.patched.twins.get(variant, variant)
        mine = (row for row in self.summary.rows if row.candidate == wanted and row.workload == workload)
        return next(mine, None)

    def build(self, variant: str) -> BuildRow | None:
        return next((each for each in self.summary.builds if each.variant == variant), None)

    def of(self, patches: Sequence[str]) -> str | None:
        """The variant with exactly these patches; the baseline with none; None where there is none."""
        if not patches:
            return self.summary.baseline
        wanted = set(patches)
        return next((each["variant"] for each in self.patched.builds if set(each["patches"]) == wanted), None)

    def effect(self, patches: Sequence[str], workload: str) -> Effect | None:
        """What these patches together do, against the unpatched tree."""
        variant = self.of(patches)
        if variant == self.summary.baseline:
            return SAME
        row = self.row(variant, workload) if variant else None
        return effect(row) if row else None

    def programs(self, *sets: Sequence[str]) -> list[str | None]:
        """The variants that were measured for these sets of patches."""
        return [self.patched.twins.get(name, name) if (name := self.of(each)) else None for each in sets]

    def added(self, patches: Sequence[str], less: Sequence[str], workload: str) -> Effect | None:
        """What the first set of patches does that the second does not."""
        one, other = self.programs(patches, less)
        if one is not None and one == other:
            return SAME
        effects = self.effect(patches, workload), self.effect(less, workload)
        return None if effects[0] is None or effects[1] is None else against(effects[0], effects[1])


def _look(summary: Summary) -> _Found:
    assert summary.patched is not None  # noqa: S101 - only asked of a study of patches
    return _Found(summary, summary.patched)


def table(summary: Summary, workload: str, interval: Interval) -> list[tuple[str, ...]]:
    """A row for each build of the series, in the columns of `HEAD`.

    Args:
        summary: the study.
        workload: the load.
        interval: writes a ratio with its interval.
    """
    found = _look(summary)
    rows: list[tuple[str, ...]] = []
    for each in found.patched.builds:
        build, row = found.build(each["variant"]), found.row(each["variant"], workload)
        verdict = row.verdict if row else "failed" if build and build.failure else "-"
        if verdict == NO_EFFECT:
            verdict = IDENTICAL
        elif each["variant"] in found.patched.twins:
            verdict += " (=)"
        compiled = found.patched.compiled.get(each["variant"])
        rows.append(
            (
                each["patch"] or f"all {len(found.patched.members)}",
                "together" if each["kind"] == Kind.ALL else each["kind"],
                verdict,
                interval(row.ratio if row else None),
                _gate(build),
                f"{compiled[0]} of {compiled[1]}" if compiled else "-",
            )
        )
    return rows


def _gate(build: BuildRow | None) -> str:
    if build is None or (build.failure and not build.failure.startswith("failed its gate")):
        return "-"
    if build.same:
        return "same"
    return build.gate.partition(" ")[0].rstrip(":") if build.gate != "not tested" else "-"


def remarks(summary: Summary) -> list[str]:
    """What the tables leave open: what was left out, what is one build, how many objects the unpatched tree has."""
    found = _look(summary)
    series = found.patched
    lines = [f"{summary.baseline}: the tree as it is; every row is built as {series.recipe}, with patches"]
    lines += [f"{each['name']} is {each['origin']}, taken out" for each in series.members if each["reverted"]]
    lines += [f"{each['name']} needs {', '.join(each['needs'])}" for each in series.members if each["needs"]]
    lines += [f"{_title(each)} is also {word}: one build" for each in series.builds for word in each["also"]]
    lines += [
        f"(=) {name} is the same program as {other}, to the byte: measured once" for name, other in series.twins.items()
    ]
    lines += [f"{patch}, {kind}: left out, it does not apply so: {why}" for patch, kind, why in series.left_out]
    if baseline := series.compiled.get(summary.baseline):
        lines.append(
            f"compiled: objects that the cache did not have when a build was made ({summary.baseline}: "
            f"{baseline[0]} of {baseline[1]})"
        )
    return lines


def _title(build: Mapping[str, Any]) -> str:
    """A build as it stands in a sentence."""
    if build["kind"] == Kind.ALL:
        return "all"
    words = {Kind.ALONE: "{} alone", Kind.WITH_NEEDS: "{} with what it needs", Kind.ALL_BUT: "all but {}"}
    return words.get(Kind(build["kind"]), "what {} needs").format(build["patch"])


def sentences(summary: Summary) -> list[str]:
    """One for all patches together, then one for each: what it does alone, and what is lost without it."""
    found = _look(summary)
    names = [each["name"] for each in found.patched.members]
    said = []
    if len(names) > 1:
        clauses = _alone(found, names, "together", plural=True)
        said.append(f"All {len(names)}: {', '.join(clauses)}.")
    said += [f"{each['name']}: {'; '.join(_about(found, each, names))}." for each in found.patched.members]
    said += [
        f"{row.candidate} was the best of many and was measured again on {row.starts} fresh starts on {row.workload}: "
        f"{again.words}; these are the figures to quote."
        for row in summary.confirmations
        if (again := effect(row)) is not None
    ]
    return said


def _about(found: _Found, member: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """The parts of the sentence on one patch."""
    name, needs = member["name"], member["needs"]
    parts = _alone(found, [*needs, name], f"with {', '.join(needs)} (which it needs)" if needs else "alone")
    steps = [([*needs, name], list(needs), "these", "it")] if needs else []
    dependants = _dependants(found.patched, name)
    rest = [other for other in names if other != name and other not in dependants]
    told = bool(needs) and found.programs([*needs, name], needs) == found.programs(names, rest)
    if rest and not told:
        steps.append((list(names), rest, "the others", " and ".join(("it", *dependants))))
    for patches, less, over, who in steps:
        added = {workload: found.added(patches, less, workload) for workload in found.workloads}
        parts += [_added(each, found.delta, load, over, who) for load, each in added.items() if each is not None]
    return parts


def _dependants(series: Patched, name: str) -> list[str]:
    """Names of the patches that need this one."""
    return [each["name"] for each in series.members if name in each["needs"]]


def _alone(found: _Found, patches: Sequence[str], how: str, *, plural: bool = False) -> list[str]:
    """What a set of patches does on each load."""
    variant = found.of(patches)
    build = found.build(variant) if variant else None
    if variant is None:
        return [f"not built {how}"]
    if build is not None and build.failure:
        return [f"not measured {how}: {build.failure}"]
    if build is not None and build.same:
        return [f"{'change' if plural else 'changes'} no machine code here {how}: {IDENTICAL}"]
    clauses = []
    for workload in found.workloads:
        row = found.row(variant, workload)
        now = effect(row) if row else None
        if row is None or row.verdict == "running":
            clauses.append(f"not decided yet on {workload} {how}")
        elif now is None or row.verdict == "invalid":
            clauses.append(f"no valid trial on {workload} {how} ({row.reason})")
        else:
            clauses.append(_verdict(row.verdict, now, workload, how, "" if plural else "s"))
    return clauses


def _verdict(verdict: str, now: Effect, workload: str, how: str, ending: str) -> str:
    if verdict == "faster":
        return f"help{ending} {workload} by {now.size} {how}"
    if verdict == "slower":
        return f"slow{ending} {workload} down by {now.size} {how}"
    if verdict == "equivalent":
        return f"make{ending} no difference to {workload} {how} ({now.words})"
    return f"undecided on {workload} {how} ({now.words})"


def _added(added: Effect, delta: float, workload: str, over: str, who: str) -> str:
    """What one patch, or several, add to others, in words.

    Args:
        added: how much.
        delta: within so much of 1 it is nothing.
        workload: the load.
        over: what it is added to.
        who: what is added.
    """
    ending, be = ("s", "is") if who == "it" else ("", "are")
    if added.low > 1:
        return f"on top of {over} {who} add{ending} {added.size} to {workload}"
    if added.high < 1:
        return f"on top of {over} {who} take{ending} {added.size} from {workload}"
    if added.low > 1 / (1 + delta) and added.high < 1 + delta:
        return f"nothing is lost on {workload} when {who} {be} left out of all ({added.words})"
    return f"whether {who} add{ending} anything to {workload} on top of {over} is undecided ({added.words})"


def blocks(summary: Summary) -> list[Block]:
    """Functions before and after, for each build that was sampled."""
    found = []
    for each in _look(summary).patched.symbols:
        title = f"{each['variant']} on {each['workload']}: "
        if "failure" in each:
            found.append(Block(f"{title}no samples", lines=(each["failure"],)))
            continue
        unit, write = scale(each["cpu"][0])
        rows = tuple(
            (
                short(row["name"]),
                write(row["before"]),
                write(row["after"]),
                signed(write, row["difference"]),
                write(2 * row["error"]),
                row["note"],
            )
            for row in each["functions"]
        )
        before, after = (write(cpu) for cpu in each["cpu"])
        lines = [] if rows else ["no function outside of the kernel differs by more than the chance of sampling"]
        lines.append(f"server CPU {before} to {after} {unit} while sampled; all of it: burnish show {each['study']}")
        head = ("function", "before", "after", "diff", "±", "") if rows else ()
        found.append(Block(f"{title}functions, {unit} a {each['unit']}", head, rows, tuple(lines)))
    return found


def as_dict(summary: Summary) -> dict[str, Any]:
    """Plain values, for --json: the series, and what each patch adds to the others as a ratio."""
    found = _look(summary)
    series = found.patched
    names = [each["name"] for each in series.members]

    def values(each: Effect | None) -> dict[str, Any] | None:
        return None if each is None else {**vars(each), "level": LEVEL}

    added = []
    for member in series.members:
        gone = {member["name"], *_dependants(series, member["name"])}
        rest = [name for name in names if name not in gone]
        added += [
            {
                "patch": member["name"],
                "workload": workload,
                "to_the_others": values(found.added(names, rest, workload)),
                "to_what_it_needs": values(found.added([*member["needs"], member["name"]], member["needs"], workload)),
            }
            for workload in found.workloads
        ]
    return {
        "recipe": series.recipe,
        "patches": [dict(each) for each in series.members],
        "builds": [
            {**each, "twin": series.twins.get(each["variant"]), "compiled": series.compiled.get(each["variant"])}
            for each in series.builds
        ],
        "left_out": [list(each) for each in series.left_out],
        "adds": added,
        "symbols": [dict(each) for each in series.symbols],
    }
