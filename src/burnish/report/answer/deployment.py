"""The deployment: what each choice gives the recommended build, and build and deployment together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from burnish.report.analysis.loads import of_rows
from burnish.report.analysis.placed import WITH
from burnish.report.analysis.verdict import words
from burnish.report.answer.matrix import BESIDE, WIDE
from burnish.report.answer.words import SIGNS, VERDICTS, change, short_loads
from burnish.report.compose import grid, headed, points, role_of, row, section
from burnish.report.document import Block, Column, Role, Section, Span, Table
from burnish.report.document import Row as TableRow
from burnish.report.quantities import times
from burnish.report.words import interval, interval_words

if TYPE_CHECKING:
    from burnish.report.analysis.deployed import Deployed, Tried
    from burnish.report.result import Result, Row


def sections(result: Result, *, full: bool = True) -> list[Section]:
    """A table of choices by load, then what they give together; empty if no deployment was measured.

    Args:
        result: the run.
        full: whether each load has a line with its ratio and interval, else a column with its change in per cent.
    """
    found = result.deployment
    if found is None:
        return []
    loads = list(dict.fromkeys(load for tried in found.tried for load in tried.rows))
    choices = [_in_full(found)] if full else _in_short(found, loads)
    title = f"deployment of {found.build}, {'ratios' if full else 'per cent'} to its usual one"
    figures, note = _figures(result, found)
    rest = [*_unmeasured(result, found), *_remarks(found, full=full)]
    if figures is None:
        gained: list[Block] = [points([*_taken(found), *_sentences(result, found), *rest])]
    else:
        gained = [points(_taken(found)), figures, points([*note, *rest])]
    return [section("deployment", title, *(table for table in choices if table.rows), *gained)]


def _in_full(found: Deployed) -> Table:
    body = [line for tried in found.tried for line in _lines(tried)]
    return grid("deployment", ["choice", "load", "ratio", "verdict"], body)


def _in_short(found: Deployed, loads: Sequence[str]) -> list[Table]:
    """A column for each load; beyond `BESIDE` loads, in tables below one another."""
    wide, tried = len(loads) <= WIDE, [one for one in found.tried if one.rows]
    names = short_loads(loads)
    tables = []
    for start in range(0, len(loads), BESIDE):
        part = loads[start : start + BESIDE]
        head = TableRow(
            (headed("choice", 28), *(headed(load if wide else names[load], 18 if wide else 10) for load in part)),
            Role.STRONG,
        )
        body = [row(*_line(one, part, _change if wide else _sign)) for one in tried]
        columns = (Column(""), *(Column(load, right=True, whole=True) for load in part))
        tables.append(Table("deployment", columns, (head, *body) if body else (), headed=False))
    return tables


def _lines(tried: Tried) -> list[list[str | Span]]:
    """A choice's lines, one for each load."""
    return [
        [
            tried.choice,
            load,
            "-" if row.verdict == "invalid" else interval(row.ratio),
            Span(words(row.verdict, row.within), role_of(row.verdict)),
        ]
        for load, row in tried.rows.items()
    ]


def _change(row: Row) -> str:
    return f"{change(row.ratio)} {VERDICTS.get(row.verdict, words(row.verdict, row.within))}"


def _sign(row: Row) -> str:
    return f"{change(row.ratio, brief=True)} {SIGNS.get(row.verdict, '')}".strip()


def _line(tried: Tried, loads: Sequence[str], said: Callable[[Row], str]) -> list[str | Span]:
    cells: list[str | Span] = [tried.choice]
    for load in loads:
        row = tried.rows.get(load)
        if row is None:
            cells.append("-")
        elif row.verdict == "invalid":
            cells.append(Span("invalid", role_of("invalid")))
        else:
            cells.append(Span(said(row), role_of(row.verdict)))
    return cells


def _taken(found: Deployed) -> list[str]:
    if not found.done:
        return ["Not all choices are measured; the same command resumes."]
    if found.failure and not found.together:
        alone = "faster by itself" if len(found.taken) == 1 else "faster by themselves"
        return [f"{', '.join(found.taken)}: {alone}; together not measured: {found.failure}"]
    if not found.taken:
        return [f"Deploy {found.build} as usual: no choice is faster on a load and slower on none."]
    names = ", ".join(found.taken)
    return [f"Deploy {found.build} with {names} ({' '.join(f'--set {word}' for word in found.words)})."]


def _sentences(result: Result, found: Deployed) -> list[str]:
    """For each load what build and deployment give, each by itself and together."""
    texts = []
    for load, deployed in (found.together or {}).items():
        both = (found.both or {}).get(load)
        build = _of_build(result, found.build, load, deployed.headline)
        the = "the " if both is not None else ""  # without, the two are a line of 80 columns
        parts = [f"{the}build {_alone(build, deployed)}"] if build is not None else []
        parts.append(f"{the}deployment {interval_words(deployed.ratio)}")
        if both is not None:
            parts.append(f"both {interval_words(both.ratio)} {times(result.baseline, deployed.headline)}: measured")
        texts.append(f"{load}: {', '.join(parts)}.")
    return texts


def _unmeasured(result: Result, found: Deployed) -> list[str]:
    if not found.failure or not found.together:
        return []
    return [f"build and deployment together against {result.baseline}: not measured: {found.failure}"]


def _figures(result: Result, found: Deployed) -> tuple[Table | None, list[str]]:
    """The same as a table, with the note below it; None where sentences do: few loads, or of several quantities."""
    together, both = found.together or {}, found.both or {}
    quantities = {deployed.headline for deployed in together.values()}
    if len(together) <= WIDE or len(quantities) > 1:
        return None, []
    (quantity,) = quantities
    names, elsewhere = short_loads(list(together)), dict[str, list[str]]()
    builds = {load: build for load in together if (build := _of_build(result, found.build, load, quantity)) is not None}
    for load, build in builds.items():
        if build.placement != together[load].placement:
            elsewhere.setdefault(WITH[build.placement], []).append(names[load])
    columns = (builds, together, both)
    body = [[names[load], *(_ratio(column.get(load), quantity) for column in columns)] for load in together]
    means = [
        of_rows(list(column.values()), quantity) if column.keys() == together.keys() else None for column in columns
    ]
    body.append(["geometric mean", *map(interval, means)])
    note = f"measured, {times(result.baseline, quantity)}; the deployment, times that of {found.build} as usual"
    notes = [note, *(f"the build's figure on {', '.join(loads)}: {where}" for where, loads in elsewhere.items())]
    return grid("together", ["load", "the build", "the deployment", "both"], body, ()), notes


def _ratio(cell: Row | None, quantity: str) -> str:
    return interval(cell.of(quantity) if cell is not None else None)


def _alone(build: Row, deployed: Row) -> str:
    """The build's figure, and where it was measured if that is not where its deployment was."""
    where = "" if build.placement == deployed.placement else f" ({WITH[build.placement]})"
    return f"{interval_words(build.of(deployed.headline))}{where}"


def _of_build(result: Result, build: str, load: str, quantity: str) -> Row | None:
    """The build's own figure, as its starts again gave it if it was measured again; None if it has none."""
    rows = (row for row in (*result.confirmations, *result.rows) if (row.candidate, row.workload) == (build, load))
    return next((row for row in rows if row.of(quantity) is not None), None)


def _remarks(found: Deployed, *, full: bool) -> list[str]:
    texts = [f"{tried.choice}: not measured: {tried.failure}" for tried in found.tried if tried.failure]
    texts += [
        f"{tried.choice} on {load}: {row.reason}" for tried in found.tried for load, row in _invalid(tried.rows).items()
    ]
    texts += [f"{tried.choice}: {tried.costs}" for tried in found.tried if tried.choice in found.taken and tried.costs]
    if full and any(tried.rows for tried in found.tried):
        again = ", and those taken were measured again together" if found.taken else ""
        texts.append(
            f"one side at a time under load; each choice is judged by itself{again}. Durability, isolation and answers "
            "are the same under every choice"
        )
    return texts


def _invalid(rows: Mapping[str, Row]) -> dict[str, Row]:
    return {load: row for load, row in rows.items() if row.verdict == "invalid"}
