"""The deployment: what each choice gives the recommended build, and build and deployment together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from burnish.report.analysis.placed import WITH
from burnish.report.analysis.verdict import words
from burnish.report.answer.matrix import WIDE
from burnish.report.answer.words import SIGN_LEGEND, SIGNS, VERDICTS, change
from burnish.report.compose import grid, points, role_of, section
from burnish.report.document import Section, Span
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
    wide = len(loads) <= WIDE
    if full:
        body = [line for tried in found.tried for line in _lines(tried)]
        heads = ["choice", "load", "ratio", "verdict"]
    else:
        body = [_line(tried, loads, _change if wide else _sign) for tried in found.tried if tried.rows]
        heads = ["choice", *loads]
    table = grid("deployment", heads, body) if body else None
    title = f"deployment of {found.build}, {'ratios' if full else 'per cent'} to its usual one"
    if body and not full and not wide:
        title += f" ({SIGN_LEGEND})"
    return [section("deployment", title, table, points(lines(result)))]


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


def _line(tried: Tried, loads: list[str], said: Callable[[Row], str]) -> list[str | Span]:
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


def lines(result: Result) -> list[str]:
    """What was taken and what it gives, then what was refused, and what it costs."""
    found = result.deployment
    if found is None:
        return []
    return [*_together(result, found), *_remarks(found)]


def _together(result: Result, found: Deployed) -> list[str]:
    if not found.done:
        return ["Not all choices are measured; the same command resumes."]
    if found.failure and not found.together:
        return [f"{', '.join(found.taken)}: faster by themselves; together not measured: {found.failure}"]
    if not found.taken:
        return [f"Deploy {found.build} as usual: no choice is faster on a load and slower on none."]
    names = ", ".join(found.taken)
    texts = [f"Deploy {found.build} with {names} ({' '.join(f'--set {word}' for word in found.words)})."]
    for load, row in (found.together or {}).items():
        both = (found.both or {}).get(load)
        build = _of_build(result, found.build, load, row.headline)
        parts = [f"the build {_alone(build, row)}"] if build is not None else []
        parts.append(f"the deployment {interval_words(row.ratio)}")
        if both is not None:
            parts.append(f"both {interval_words(both.ratio)} {times(result.baseline, row.headline)}: measured")
        texts.append(f"{load}: {', '.join(parts)}.")
    if found.failure:
        texts.append(f"build and deployment together against {result.baseline}: not measured: {found.failure}")
    return texts


def _alone(build: Row, deployed: Row) -> str:
    """The build's figure, and where it was measured if that is not where its deployment was."""
    where = "" if build.placement == deployed.placement else f" ({WITH[build.placement]})"
    return f"{interval_words(build.of(deployed.headline))}{where}"


def _of_build(result: Result, build: str, load: str, quantity: str) -> Row | None:
    """The build's own figure, as its starts again gave it if it was measured again; None if it has none."""
    rows = (row for row in (*result.confirmations, *result.rows) if (row.candidate, row.workload) == (build, load))
    return next((row for row in rows if row.of(quantity) is not None), None)


def _remarks(found: Deployed) -> list[str]:
    texts = [f"{tried.choice}: not measured: {tried.failure}" for tried in found.tried if tried.failure]
    texts += [
        f"{tried.choice} on {load}: {row.reason}" for tried in found.tried for load, row in _invalid(tried.rows).items()
    ]
    texts += [f"{tried.choice}: {tried.costs}" for tried in found.tried if tried.choice in found.taken and tried.costs]
    if any(tried.rows for tried in found.tried):
        again = ", and those taken were measured again together" if found.taken else ""
        texts.append(
            f"one side at a time under load; each choice is judged by itself{again}. Durability, isolation and answers "
            "are the same under every choice"
        )
    return texts


def _invalid(rows: Mapping[str, Row]) -> dict[str, Row]:
    return {load: row for load, row in rows.items() if row.verdict == "invalid"}
