"""A series of patches: a row for each build, remarks on the tables, functions before and after."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any

from burnish.report.analysis.effects import Series
from burnish.report.analysis.verdict import IDENTICAL, NO_EFFECT, words
from burnish.report.compose import dropping, grid, points, role_of, row, section
from burnish.report.document import Column, Section, Span, Table
from burnish.report.sections import quantities
from burnish.report.words import interval, scale, short, signed
from burnish.source.patches.subsets import Kind

if TYPE_CHECKING:
    from burnish.report.result import BuildRow, Result

HEAD = ("patch", "build", "verdict", "ratio", "gate", "compiled")


def verdicts(result: Result) -> list[Section]:
    """The builds of the series on each load, in the columns of `HEAD`."""
    tables = []
    for workload in dict.fromkeys(cell.workload for cell in result.rows):
        title = f"{workload}, ratios to {result.baseline}"
        tables += [section("verdicts", title, _table(result, workload)), *_also_measured(result, workload)]
    return tables


def _also_measured(result: Result, workload: str) -> list[Section]:
    """Further quantities measured on these builds; builds that are the same program appear once."""
    series = Series.of(result)
    once = [build for build in series.patched.builds if build["variant"] not in series.patched.twins]
    measured = [(_title(build), series.row(build["variant"], workload)) for build in once]
    rows = [(Span(name), row.quantities) for name, row in measured if row is not None and row.quantities]
    title = f"{workload}, also measured: change in per cent to {result.baseline}"
    return quantities.sections(title, "patch", rows)


def _table(result: Result, workload: str) -> Table:
    columns = dropping(
        (Column(name, right=name == "compiled", whole=name != "patch") for name in HEAD), "compiled", "gate", "ratio"
    )
    rows = tuple(row(*(Span(cell, role_of(cell)) for cell in cells)) for cells in table(result, workload))
    return Table("verdicts", columns, rows)


def table(result: Result, workload: str) -> list[tuple[str, ...]]:
    """The text of each cell, row by row."""
    series = Series.of(result)
    rows: list[tuple[str, ...]] = []
    for entry in series.patched.builds:
        build, measured = series.build(entry["variant"]), series.row(entry["variant"], workload)
        verdict = words(measured.verdict, measured.within) if measured else "failed" if build and build.failure else "-"
        if verdict == NO_EFFECT:
            verdict = IDENTICAL
        elif entry["variant"] in series.patched.twins:
            verdict += " (=)"
        compiled = series.patched.compiled.get(entry["variant"])
        rows.append(
            (
                entry["patch"] or f"all {len(series.patched.members)}",
                "together" if entry["kind"] == Kind.ALL else entry["kind"],
                verdict,
                interval(measured.ratio if measured else None),
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


def remarks(result: Result) -> Section:
    """Remarks on the tables, directly below them."""
    return Section("patches", (points(remark_lines(result)),), joined=True)


def remark_lines(result: Result) -> list[str]:
    """What was left out, which builds are identical, how many objects the unpatched tree has."""
    series = Series.of(result).patched
    lines = [f"{result.baseline}: the tree without changes; every row is built as {series.recipe}, plus patches"]
    lines += [f"{member['name']} is {member['origin']}, reverted" for member in series.members if member["reverted"]]
    lines += [f"{member['name']} needs {', '.join(member['needs'])}" for member in series.members if member["needs"]]
    lines += [f"{_title(build)} is also {word}: one build" for build in series.builds for word in build["also"]]
    lines += [
        f"(=) {name} is the same program as {other}, to the byte: measured once" for name, other in series.twins.items()
    ]
    lines += [
        f"{patch}, {kind}: left out, as it does not apply that way: {why}" for patch, kind, why in series.left_out
    ]
    if baseline := series.compiled.get(result.baseline):
        lines.append(
            f"compiled: objects that the cache did not have when a build was made ({result.baseline}: "
            f"{baseline[0]} of {baseline[1]})"
        )
    return lines


def _title(build: Mapping[str, Any]) -> str:
    """A build's name in a sentence."""
    if build["kind"] == Kind.ALL:
        return "all"
    words = {Kind.ALONE: "{} alone", Kind.WITH_NEEDS: "{} with what it needs", Kind.ALL_BUT: "all but {}"}
    return words.get(Kind(build["kind"]), "what {} needs").format(build["patch"])


def functions(result: Result) -> list[Section]:
    """Functions before and after, for each build that was sampled."""
    return [_functions(sampled) for sampled in Series.of(result).patched.symbols]


def _functions(sampled: Mapping[str, Any]) -> Section:
    title = f"{sampled['variant']} on {sampled['workload']}: "
    if "failure" in sampled:
        return section("functions", f"{title}no samples", points([sampled["failure"]]))
    unit, write = scale(sampled["cpu"][0])
    rows = [
        (
            short(function["name"]),
            write(function["before"]),
            write(function["after"]),
            signed(write, function["difference"]),
            write(2 * function["error"]),
            function["note"],
        )
        for function in sampled["functions"]
    ]
    before, after = (write(cpu) for cpu in sampled["cpu"])
    lines = [] if rows else ["no function outside of the kernel differs by more than sampling error"]
    whole = f"burnish show {quote(sampled['study'])}"
    lines.append(f"server CPU {before} to {after} {unit} while sampled; all of it: {whole}")
    head = ("function", "before", "after", "diff", "±", "")
    table = grid("functions", head, rows, drop=("±", "before", "after")) if rows else None
    return section("functions", f"{title}functions, {unit} per {sampled['unit']}", table, points(lines))
