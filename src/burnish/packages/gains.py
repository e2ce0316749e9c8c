"""Whether a package gives here what its study found: the two gains side by side, and their quotient; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from burnish.model.cell import Role
from burnish.model.quantity import BY_NAME
from burnish.packages.control import one_line
from burnish.report.result import Result, Row
from burnish.report.words import interval_words, per_cent, plural
from burnish.statistics.intervals import Interval
from burnish.statistics.means import Ratio, quotient
from burnish.study.request.options import Options

PACKAGE = "package"
"""Name of the package's side where it is measured."""

_OF = {"capacity": "work per CPU second", "throughput": "work per second"}


@dataclass(frozen=True)
class Promised:
    """What a package's study found on one load.

    Attributes:
        load: its name.
        quantity: the quantity that the verdict is about.
        design: how the sides shared the host.
        placement: which cores servers and clients had; '' if it is not known.
        ratio: to the study's baseline, as it may be expected of another sitting.
    """

    load: str
    quantity: str
    design: str
    placement: str
    ratio: Interval


@dataclass(frozen=True)
class Held:
    """One load, measured here.

    Attributes:
        load: its name.
        quantity: the quantity that was compared.
        verdict: the verdict here.
        starts: valid starts here.
        sitting: the ratio over the starts of this sitting; None if nothing more is known than `here`.
        here: the ratio as it may be expected of another sitting; None without one.
        study: what the study found; None if it can't be compared with that.
        of_study: `here` divided by `study`; None without both.
        unlike: why it can't be compared with what the study found; '' if it can.
    """

    load: str
    quantity: str
    verdict: str
    starts: int
    sitting: Interval | None
    here: Interval | None
    study: Interval | None = None
    of_study: Interval | None = None
    unlike: str = ""

    @property
    def outcome(self) -> str:
        """``equal``, ``larger`` or ``smaller`` than the study's gain, or ``not compared``."""
        if self.of_study is None:
            return "not compared"
        return "larger" if self.of_study.low > 1 else "smaller" if self.of_study.high < 1 else "equal"

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was measured here, and how it compares with the study's figure."""
        if self.here is None:
            return (f"{self.load}: {self.verdict}, no ratio",)
        of = _OF.get(self.quantity) or (BY_NAME[self.quantity].title if self.quantity in BY_NAME else self.quantity)
        own = f"{interval_words(self.sitting)} in this sitting, " if self.sitting else ""
        first = (
            f"{self.load}: {self.quantity} ({of}) is {own}{interval_words(self.here)} to be repeated, times the other "
            f"program's, over {plural(self.starts, 'start')}"
        )
        if self.study is None or self.of_study is None:
            return first, f"{self.load}: not compared with the study: {self.unlike}"
        gain = per_cent(self.of_study)
        verdicts = {
            "equal": f"the study's gain, as far as these intervals tell: here over there {gain} %",
            "larger": f"more than the study's gain: here over there {gain} %",
            "smaller": f"LESS than the study's gain: here over there {gain} %",
        }
        return first, f"{self.load}: the study found {interval_words(self.study)}; {verdicts[self.outcome]}"


def promised(statement: Mapping[str, Any]) -> tuple[Promised, ...]:
    """What the study of a package found, from the predicate of its verdict; what is malformed is left out.

    Packages from before cells said which of them are to be quoted: fresh starts of all loads, or none.
    """
    listed = statement.get("verdicts")
    cells = [cell for cell in (listed if isinstance(listed, list) else ()) if isinstance(cell, dict)]
    quoted = [cell for cell in cells if cell.get("quoted")] or _quoted(cells)
    found = []
    for cell in quoted:
        values = cell.get("ratios")
        value = values.get(cell.get("headline")) if isinstance(values, dict) else None
        try:
            ends = [float(value[name]) for name in ("ratio", "low", "high", "level")] if value else []
        except (KeyError, TypeError, ValueError):
            continue
        if len(ends) == 4 and 0 < ends[1] <= ends[0] <= ends[2] and 0 < ends[3] < 1:
            words = [one_line(str(cell.get(name) or "")) for name in ("workload", "headline", "design", "placement")]
            found.append(Promised(words[0], words[1], words[2], words[3], Interval(*ends)))
    return tuple(found)


def _quoted(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    again = [cell for cell in cells if cell.get("role") == Role.CONFIRMATION]
    claims = [cell for cell in cells if cell.get("role") == Role.CLAIM]
    loads = {cell.get("workload") for cell in claims}
    return again if loads <= {cell.get("workload") for cell in again} else claims


def conditions(statement: Mapping[str, Any]) -> tuple[str, ...]:
    """What the study set on every server, as `--set` takes it."""
    listed = statement.get("conditions")
    return tuple(str(word) for word in listed) if isinstance(listed, list) else ()


def as_the_study(options: Options, statement: Mapping[str, Any]) -> Options:
    """Options with the loads, the design and the placement of the study, where the user gave none."""
    found = promised(statement)
    loads = tuple(dict.fromkeys(one.load for one in found))
    designs = {(one.design, one.placement) for one in found}
    if options.design is None and options.placement is None and len(designs) == 1:
        design, placement = designs.pop()
        options = replace(options, design=design or None, placement=placement or None)
    settings = options.settings or tuple(word for word in conditions(statement) if not word.startswith("defaults "))
    return replace(options, workloads=options.workloads or loads, settings=settings)


def held(statement: Mapping[str, Any], result: Result) -> tuple[Held, ...]:
    """Each load of a finished measurement beside what the package's study found.

    Args:
        statement: the predicate of the package's verdict.
        result: the package's program against the distribution's.
    """
    by_load = {one.load: one for one in promised(statement)}
    mine = tuple(result.definition.get("conditions") or ())
    alike = mine == conditions(statement)
    return tuple(_held(row, by_load.get(row.workload), alike=alike) for row in result.rows)


def _held(row: Row, study: Promised | None, *, alike: bool) -> Held:
    one = _of(row, row.headline)
    if study is None:
        return replace(one, unlike="it has no figure of this load")
    if not alike:
        return replace(one, unlike="it was made under other conditions (--set, --defaults-file)")
    here = row.of(study.quantity)
    if here is None:
        return replace(one, unlike=f"it is about {study.quantity}, which was not measured here")
    if study.placement and row.placement and study.placement != row.placement:
        return replace(one, unlike=f"it was made with --placement {study.placement}, this one with {row.placement}")
    return replace(_of(row, study.quantity), study=study.ratio, of_study=quotient(here, study.ratio))


def _of(row: Row, quantity: str) -> Held:
    """A load by a quantity, without the study."""
    sitting = row.sitting.intervals.get(quantity) if row.sitting else None
    return Held(row.workload, quantity, row.verdict, row.starts, _plain(sitting), _plain(row.of(quantity)))


def _plain(value: Ratio | None) -> Interval | None:
    return Interval(value.ratio, value.low, value.high, value.level) if value is not None else None


def lines(statement: Mapping[str, Any], other: str, found: Iterable[Held]) -> list[str]:
    """What `burnish verify --measure` says at its end.

    Args:
        statement: the predicate of the package's verdict.
        other: name of the side that the package was measured against.
        found: each load.
    """
    found = list(found)
    texts = [sentence for one in found for sentence in one.sentences]
    baseline = one_line(str(statement.get("baseline") or "its baseline"))
    if other != "baseline" and any(one.of_study is not None for one in found):
        texts.append(
            f"the study compared with {baseline}, built from the source; this is to the program called {other}: where "
            "these two are not equally fast, the gains differ by as much"
        )
    outcomes = {one.outcome for one in found}
    if outcomes == {"equal"}:
        texts.append("in all: the package gives here what its study found")
    elif "smaller" in outcomes:
        less = ", ".join(one.load for one in found if one.outcome == "smaller")
        texts.append(f"in all: LESS than its study found, on {less}")
    return texts


def value(found: Iterable[Held]) -> list[dict[str, Any]]:
    """The same as plain values."""
    return [{**asdict(one), "outcome": one.outcome} for one in found]
