"""The short report's table: a line for each variant, the loads as columns, in per cent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnish.base.reasons import by_reason
from burnish.model.quantity import BY_NAME
from burnish.report.analysis import marks, suites
from burnish.report.analysis.placed import again_to_quote
from burnish.report.analysis.ranking import ranking
from burnish.report.analysis.verdict import NO_EFFECT, words
from burnish.report.answer.words import SIGN_LEGEND, SIGNS, VERDICTS, change, short_loads, span
from burnish.report.compose import headed, points, role_of, row
from burnish.report.document import Cell, Column, Role, Section, Span, Table
from burnish.report.document import Row as TableRow
from burnish.report.sections.builds import failure
from burnish.report.words import some, star_note
from burnish.statistics.means import Ratio

if TYPE_CHECKING:
    from burnish.model.recipe import Marks
    from burnish.report.result import Result, Row

WIDE = 2
"""Up to this many loads each cell has its interval and its verdict in a word; more have a sign."""

BESIDE = 5
"""Most loads in one table; more are continued in another below it."""

LISTED = 2
"""Most loads that the legend names for the last of several quantities; more are "the others"."""

MOST = 12
"""Most lines of a table; beyond that, variants of which nothing is proved share one line."""

FIRST = 5
"""Lines of a table where more than `MOST` variants are proved to differ; of the others the names alone are said."""

_MARKS = {"weakens security": "security", "changes results": "results", "narrows portability": "portability"}

_OF = {"capacity": "CPU second", "throughput": "second"}


@dataclass(frozen=True)
class _Figure:
    """What one cell of the table says.

    Attributes:
        ratio: with its interval; None without one.
        verdict: the verdict, or how many of a suite's tests are faster.
        within: as in `burnish.report.result.Row`.
    """

    ratio: Ratio | None
    verdict: str
    within: float | None = None

    def drawn(self, *, wide: bool) -> Span:
        """``+17.9 ±2.8 faster``, or ``+17.9 +`` where there is no room."""
        if not wide:
            return Span(
                f"{change(self.ratio, brief=True)} {SIGNS.get(self.verdict, '')}".strip(), role_of(self.verdict)
            )
        word = VERDICTS.get(self.verdict, words(self.verdict, self.within))
        return Span(f"{change(self.ratio)} {word}" if self.ratio else word, role_of(self.verdict))


def section(result: Result) -> Section:
    """The table, what its signs mean, and variants that have no line in it."""
    cells = _cells(result.rows)
    again = _cells(result.confirmations)
    names, folded = _lines(result, cells)
    loads = list(dict.fromkeys(load for name in cells for load in cells[name]))
    if not loads:
        return Section("matrix", (points(_missing(result)),))
    wide = len(loads) <= WIDE
    called = {load: load for load in loads} if wide else short_loads(loads)
    parts = [loads[start : start + BESIDE] for start in range(0, len(loads), BESIDE)]
    tables = [_table(result, names, cells, again, {load: called[load] for load in part}, wide=wide) for part in parts]
    shown = [marks.by_variant(result).get(name) for name in names]
    legend = None if wide else marks.legend(shown)
    notes = [*folded, *_missing(result), *_legend(result, names, cells, called, wide=wide)]
    return Section("matrix", (*tables, *([legend] if legend else []), points(notes)))


def _cells(rows: Iterable[Row]) -> dict[str, dict[str, _Figure]]:
    """By candidate and load, its figure; the tests of a suite are one load, with their mean."""
    rows = list(rows)
    suite = suites.members(rows)
    found: dict[str, dict[str, _Figure]] = {}
    for one in rows:
        found.setdefault(one.candidate, {})[suite.get(one.workload, one.workload)] = _Figure(
            one.ratio, one.verdict, one.within
        )
    for whole in suites.wholes(rows):
        tests = [one for one in rows if one.candidate == whole.candidate and suite.get(one.workload) == whole.suite]
        faster = sum(one.verdict == "faster" for one in tests)
        mean = whole.means.get(tests[0].headline) if tests else None
        found[whole.candidate][whole.suite] = _Figure(mean, f"{faster} of {len(tests)} tests faster")
    return found


def _lines(result: Result, cells: Mapping[str, Mapping[str, _Figure]]) -> tuple[list[str], list[str]]:
    """The candidates that have a line, the recommended one first, then the fastest; and a line for the others."""
    ranked = ranking(result)
    tied = ranked.tied if ranked else ()

    def place(name: str) -> tuple[int, float]:
        ratios = [figure.ratio.ratio for figure in cells[name].values() if figure.ratio]
        first = 0 if ranked and name == ranked.take else 1 if name in tied else 2 if ratios else 3
        return first, -math.fsum(map(math.log, ratios)) / len(ratios) if ratios else 0.0

    names = sorted(cells, key=place)
    if len(names) <= MOST:
        return names, []
    # Fresh starts decide by themselves: the table has their build, whatever its first starts say.
    again = {row.candidate for row in result.confirmations}
    decided = [name for name in names if {figure.verdict for figure in cells[name].values()} & {"faster", "slower"}]
    kept = [name for name in names if name in again or name in decided]
    same = [name for name in names if all(figure.verdict == NO_EFFECT for figure in cells[name].values())]
    rest = [name for name in names if name not in (*kept, *same)]
    # A search ends with two or three starts of most builds, which say nothing of a build by themselves.
    left = [name for name in rest if result.searched and {one.verdict for one in cells[name].values()} == {"undecided"}]
    starts = span([one.starts for one in result.rows if one.candidate in left]) if left else ""
    over: list[str] = []
    if len(kept) > MOST:
        kept.sort(key=lambda name: place(name)[0] > 0 and name not in again)
        kept, over = kept[:FIRST], kept[FIRST:]
    verdicts = {name: {figure.verdict for figure in cells[name].values()} for name in over}
    faster = [name for name in over if verdicts[name] == {"faster"}]
    slower = [name for name in over if "slower" in verdicts[name]]
    folded = (
        ("faster as well", faster),
        ("faster on a load, not proved on others", [name for name in over if name not in (*faster, *slower)]),
        (f"slower than {result.baseline} on a load", slower),
        (f"the search went on without ({starts} starts each)", left),
        (f"no difference from {result.baseline} proved", [name for name in rest if name not in left]),
        (f"same machine code as {result.baseline}", same),
    )
    return kept, [f"{what}: {some(few) if len(few) > MOST else ', '.join(few)}" for what, few in folded if few]


def _table(
    result: Result,
    names: Sequence[str],
    cells: Mapping[str, Mapping[str, _Figure]],
    again: Mapping[str, Mapping[str, _Figure]],
    called: Mapping[str, str],
    *,
    wide: bool,
) -> Table:
    """The lines for some of the loads, with a head of as many lines as the longest name of a load needs.

    `called` has these loads and what they are called in the head.
    """
    loads = list(called)
    before = _common(loads)
    if before:
        called = {load: load.removeprefix(before) for load in loads}
    head = TableRow(
        (
            headed(f"{_title(result)}{f', at {before}' if before else ''}", 28),
            Cell((Span(""),)),
            *(headed(called[load], 18 if wide else 9) for load in loads),
        ),
        Role.STRONG,
    )
    body = []
    for name in names:
        body.append(_line(result, name, cells[name], loads, wide=wide))
        if name in again:
            where = f"  measured again{', to quote' if name == again_to_quote(result) else ''}"
            figures = [again[name].get(load) for load in loads]
            body.append(row(where, "", *(figure.drawn(wide=wide) if figure else Span("") for figure in figures)))
    columns = (Column(""), Column("", whole=True), *(Column(load, right=not wide, whole=True) for load in loads))
    return Table("matrix", columns, (head, *body), headed=False)


def _line(result: Result, name: str, figures: Mapping[str, _Figure], loads: Sequence[str], *, wide: bool) -> TableRow:
    marked = marks.by_variant(result).get(name)
    if all(figure.verdict == NO_EFFECT for figure in figures.values()):
        cells = [Span("same code", Role.ASIDE) if load in figures else Span("") for load in loads]
    else:
        cells = [figures[load].drawn(wide=wide) if load in figures else Span("·") for load in loads]
    letters = "" if wide else marks.letters(marked)
    return row(Span(name, marks=letters), _beside(result, name, marked, wide=wide), *cells)


def _beside(result: Result, name: str, marked: Marks | None, *, wide: bool) -> Span:
    """What stands beside a name: whether to take it, ties, marks."""
    ranked = ranking(result)
    place = ""
    if ranked is not None and name == ranked.take:
        place = "take"
    elif ranked is not None and name in ranked.tied:
        place = "tied"
    signs = f"! {'+'.join(_MARKS[word] for word in marked.words)}" if wide and marked else ""
    return Span(" ".join(filter(None, (place, signs))), Role.STRONG if place else Role.NOTE)


def _title(result: Result) -> str:
    headlines = {one.headline for one in result.rows if one.ratio}
    if len(headlines) == 1 and not headlines <= _OF.keys():
        (name,) = headlines
        return f"% better {BY_NAME[name].title if name in BY_NAME else name}"
    of = f" per {_OF[next(iter(headlines))]}" if len(headlines) == 1 else ""
    return f"% more work{of}"


def _common(loads: Sequence[str]) -> str:
    """What all loads' names begin with, up to a parameter's value: ``oltp_read_only:threads=``; '' without such."""
    first = loads[0]
    ends = [number + 1 for number, sign in enumerate(first) if sign == "="]
    fitting = [first[:end] for end in ends if all(load.startswith(first[:end]) for load in loads)]
    return fitting[-1] if fitting and len(loads) > 1 else ""


def _missing(result: Result) -> list[str]:
    """Builds that were not measured, by the reason."""
    measured = {one.candidate for one in result.rows}
    lost = [build for build in result.builds if build.failure and build.variant not in measured]
    grouped = by_reason((build.variant, failure(build)) for build in lost)
    return [f"{some(names)}: not measured: {why}" for why, names in grouped.items()]


def _legend(
    result: Result,
    names: Sequence[str],
    cells: Mapping[str, Mapping[str, _Figure]],
    called: Mapping[str, str],
    *,
    wide: bool,
) -> list[str]:
    """What signs and intervals mean."""
    figures = [figure for name in names for figure in cells[name].values()]
    parts = [] if wide else [SIGN_LEGEND]
    if wide and any(figure.verdict == "undecided" for figure in figures):
        parts.append("? too close to call")
    if wide and any(figure.ratio for figure in figures):
        parts.append("± 95 %, other sittings included" if _repeated(result) else "± 95 %")
    family = [one.together for one in result.rows if one.together]
    if len(family) > 1:
        parts.append(f"corrected for {len(family)} comparisons")
    if len({one.headline for one in result.rows if one.ratio}) > 1:
        parts.append(_quantities(result, called))
    notes = star_note(figure.ratio for figure in figures) if wide else []
    return [*(["; ".join(parts)] if parts else []), *notes]


def _repeated(result: Result) -> bool:
    return any(one.sitting is not None for one in result.rows)


def _quantities(result: Result, called: Mapping[str, str]) -> str:
    """Which loads' figures are of which quantity, with the names of the table's head."""
    loads: dict[str, dict[str, None]] = {}
    for one in result.rows:
        if one.ratio:
            loads.setdefault(one.headline, {})[one.workload] = None
    *_, last = loads
    return ", ".join(
        f"{BY_NAME[of].title} on "
        + ("the others" if of == last and len(group) > LISTED else ", ".join(called.get(load, load) for load in group))
        for of, group in loads.items()
    )
