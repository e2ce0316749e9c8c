"""Tables that a person can read at 80 columns, and the same as Markdown; pure functions of a `Summary`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from burnish.base.durations import duration
from burnish.model.recipe import Marks
from burnish.report import ceilings, evidence, merged, noise, patches, suites, why
from burnish.report.bundled import blocks as study_blocks
from burnish.report.bundled import extras, hosts
from burnish.report.bundled import table as study_table
from burnish.report.summary import BuildRow, Row, Summary, sentences, winner
from burnish.statistics.replicates import layout_caveat

_COLOURS = {"faster": "green", "slower": "red", "equivalent": "cyan", "undecided": "yellow", "invalid": "magenta"}


BUILD_COLUMNS = ("build", "compiler", "time", "size", "gate", "needs")
_SIZES_TITLE = "MB of each program's parts; peak MB of its heaviest object and its link; CPU time of its build"
USUAL_LEVEL = 0.95
EQUIVALENCE_NOTE = "* the 90 % interval, which equivalence is read off (two one-sided tests at 5 %)"


def interval(value: Mapping[str, float] | None) -> str:
    """A ratio with its interval, ``1.412 [1.398, 1.426]``, marked * at another level than 95 %; or a dash."""
    if value is None:
        return "-"
    if value["high"] >= 100:
        return f"{value['ratio']:.3f} [?]"
    mark = "" if abs(value["level"] - USUAL_LEVEL) < 1e-9 else "*"
    return f"{value['ratio']:.3f} [{value['low']:.3f}, {value['high']:.3f}]{mark}"


def render(summary: Summary) -> RenderableType:
    """The whole report for a terminal."""
    parts: list[RenderableType] = [Text(line) for line in heading(summary)]
    if summary.verb == "calibrate":
        parts += [Text(""), _grid(noise.TABLE, noise.table(summary.calibrations))]
        return Group(*parts, *(Text(line) for line in noise.advice(summary)))
    if summary.verb == "why":
        return Group(*parts, *_explained(summary))
    if summary.shipped is not None:
        return Group(*parts, *_shipped(summary))
    for load, head, rows in _by_load(summary):
        parts += [Text(""), Text(f"{load}, ratios to {summary.baseline}", style="bold")]
        parts.append(_patches(summary, load) if summary.patched else _cells(head, rows))
    for title, lines in suites.times(summary):
        parts += [Text(""), Text(title, style="bold"), _grid(suites.TABLE, lines)]
    if summary.patched:
        parts += [*(Text(line) for line in patches.remarks(summary)), *_blocks(patches.blocks(summary))]
    parts += [Text(""), _builds(summary)]
    if _examined(summary):
        parts += [Text(""), Text(_SIZES_TITLE), _grid(evidence.SIZES, _sizes(summary))]
    parts += [Text(line) for line in remarks(summary)]
    parts += [Text(""), *(Text(line, style="bold" if n == 0 else "") for n, line in enumerate(sentences(summary)))]
    drawn = [] if summary.patched else ceilings.bars(summary, winner(summary))
    return Group(*parts, *(Text(line, no_wrap=True) for line in ["", *drawn] if drawn))


def _shipped(summary: Summary) -> list[RenderableType]:
    """The blocks of a study that ships."""
    parts: list[RenderableType] = []
    for block in _shipped_blocks(summary):
        parts += [Text(""), Text(block.title, style="bold")]
        parts += [_grid(block.head, [[escape(cell) for cell in row] for row in block.rows])] if block.head else []
        parts += [Text(line) for line in block.lines]
    return parts


def _shipped_blocks(summary: Summary) -> list[study_table.Block]:
    """Its table, what stands beside it, and of a record put together from several, where it was measured."""
    table = summary.shipped
    assert table is not None  # noqa: S101 - only asked of those
    return [*study_blocks.blocks(table), *extras.extras(table), *hosts.blocks(table, summary)]


def _explained(summary: Summary) -> list[RenderableType]:
    """The blocks of a `why`."""
    if summary.explanation is None:
        return [Text(NOTHING_TOLD)]
    return _blocks(why.blocks(summary.explanation))


def _blocks(blocks: Sequence[why.Block]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for block in blocks:
        parts += [Text(""), Text(block.title, style="bold")]
        parts += [_grid(block.head, [[escape(cell) for cell in row] for row in block.rows])] if block.head else []
        parts += [Text(line) for line in block.lines]
    return parts


NOTHING_TOLD = "it was not finished, so it says nothing: run it again"


def heading(summary: Summary) -> list[str]:
    """Study, source, host and method, a line each."""
    state = f"finished {summary.ended}" if summary.ended else "not finished"
    lines = [f"{summary.name} ({state})", f"{summary.engine}: {summary.source}"]
    if summary.verb in ("tune", "patch"):
        lines.append(f"feature set {summary.features}, the same in every row that does not say otherwise")
    lines += [f"host: {summary.host}", *(f"note: {note}" for note in summary.notes)]
    if summary.contest:
        rule = summary.contest["rule"]
        aim = f", until ±{rule['precision']:.2%}" if rule["precision"] else ""
        lines.append(
            f"{_designs(summary)} on cores {' | '.join(str(s) for s in summary.contest['core_sets'])}: "
            f"starts of {_times(summary)}, at most {rule['cap']}{aim}; 95 % intervals"
        )
        lines.append("capacity = transactions per second of server CPU; throughput = per second (cores shared)")
        lines += [
            f"FORCED: this host's calibration failed for {name}; no verdict here can be relied on"
            for name in summary.contest.get("forced", ())
        ]
    lines += [f"they differ: {line}" for line in summary.differences]
    return lines


def _times(summary: Summary) -> str:
    """Pairs and turns of a start, by design where there are several; older records have one for all."""
    times: Mapping[str, Mapping[str, Any]] = summary.contest.get("timings") or {"": summary.contest["timing"]}
    words = {
        design: f"{each['pairs']} pairs of {each.get('turns', 2)} x {each['window']:g} s"
        for design, each in times.items()
    }
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{text} ({design})" for design, text in sorted(words.items()))


def _designs(summary: Summary) -> str:
    """The design, or which workload has which."""
    designs: Mapping[str, str] = summary.contest.get("designs") or {}
    kinds = sorted(set(designs.values()))
    if len(kinds) <= 1:
        return kinds[0] if kinds else str(summary.contest.get("design", summary.definition.get("design") or "duet"))
    return "; ".join(
        f"{kind} ({', '.join(name for name, design in designs.items() if design == kind)})" for kind in kinds
    )


def _by_load(summary: Summary) -> list[tuple[str, str, list[tuple[str, Row]]]]:
    """The tables of verdicts (see `suites.tables`); a series of patches has one for each load."""
    if not summary.patched:
        return suites.tables(summary.rows)
    return [
        (load, "patch", [(row.candidate, row) for row in summary.rows if row.workload == load])
        for load in dict.fromkeys(row.workload for row in summary.rows)
    ]


def _cells(head: str, rows: Sequence[tuple[str, Row]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in (head, "verdict", "capacity", "throughput", "starts"):
        # Where the terminal is too narrow, names fold and figures stay whole.
        fixed = name != head
        table.add_column(name, overflow="fold", justify="right" if name == "starts" else "left", no_wrap=fixed)
    for name, row in rows:
        table.add_row(
            name,
            Text(row.verdict, style=_COLOURS.get(row.verdict, "")),
            interval(row.capacity),
            interval(row.throughput),
            str(row.starts) + (f" (+{row.invalid_starts})" if row.invalid_starts else ""),
        )
    return table


def _patches(summary: Summary, workload: str) -> Table:
    """The builds of a series on a load."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in patches.HEAD:
        figure = name == "compiled"
        table.add_column(name, overflow="fold", no_wrap=name != "patch", justify="right" if figure else "left")
    for row in patches.table(summary, workload, interval):
        table.add_row(*(Text(cell, style=_COLOURS.get(cell.partition(" ")[0], "")) for cell in row))
    return table


def _grid(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(names):
        table.add_column(name, overflow="fold", justify="right" if number else "left", no_wrap=bool(number))
    for row in rows:
        table.add_row(*row)
    return table


def _builds(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in _build_columns(summary):
        figure = name in ("time", "size")
        table.add_column(name, overflow="fold", justify="right" if figure else "left", no_wrap=figure)
    for row in summary.builds:
        table.add_row(*build_cells(row)[: len(table.columns)])
    return table


def _examined(summary: Summary) -> bool:
    """Whether the record holds facts of the builds' programs; older ones don't."""
    return any(row.evidence for row in summary.builds)


def _build_columns(summary: Summary) -> tuple[str, ...]:
    return BUILD_COLUMNS if _examined(summary) else BUILD_COLUMNS[:-1]


def _sizes(summary: Summary) -> list[tuple[str, ...]]:
    return [evidence.size_cells(row.variant, row.evidence, row.costs) for row in summary.builds if row.evidence]


def build_cells(row: BuildRow) -> tuple[str, ...]:
    """A variant's cells of the table of builds."""
    size = f"{row.server_bytes / 1e6:.1f} MB" if row.server_bytes else "-"
    time = duration(row.seconds) if row.seconds is not None else "-"
    return row.variant, row.toolchain or row.identity or "-", time, size, row.failure or row.gate, row.needs


def remarks(summary: Summary) -> list[str]:
    """Notes on builds and cells: cancelled flags, audits, weaker security, reasons of invalid cells."""
    lines = []
    for build in summary.builds:
        marks = Marks(build.changes_results, build.narrows_portability, build.weakens_security)
        if marks:
            lines.append(f"{build.variant}: {', '.join(marks.words)}")
        lines += [f"{build.variant}: {note}" for note in build.notes]
    lines += [whole.sentence(summary.baseline) for whole in suites.wholes(summary.rows)]
    lines += evidence.unrecorded({build.variant: build.costs for build in summary.builds})
    for row in summary.rows:
        about = f"{row.candidate} on {row.workload}"
        if row.verdict in ("invalid", "undecided"):
            lines.append(f"{about}: {row.reason}")
        if row.invalid_pairs or row.unsettled:
            lines.append(f"{about}: {row.invalid_pairs} pairs excluded, {row.unsettled} starts never became steady")
        if row.together and row.together["verdict"] != row.verdict:
            lines.append(f"{about}: {row.together['label']}")
        caveat = layout_caveat(row.ratio["ratio"]) if _linked_once(summary, row) and row.ratio else None
        if caveat and row.verdict in ("faster", "slower"):
            lines.append(f"{about}: {caveat}")
    if summary.replicates:
        lines.append(
            f"each start has a fresh pair of builds ({summary.replicates} of each variant): verdicts are about the "
            "recipes, not about one binary of each"
        )
    family = [row for row in summary.rows if row.together]
    if len(family) > 1:
        how = "looked through (Benjamini-Hochberg)" if summary.definition.get("explore") else "claimed together (Holm)"
        worst = max(row.together["adjusted_p"] for row in family if row.together)
        lines.append(f"{len(family)} cells {how}: largest adjusted p {worst:.2g}; --json has the joint intervals")
    lines += [*merged.lines(summary), *noise.canary_lines(summary)]
    if any(row.verdict == "equivalent" for row in summary.rows):
        lines.append(EQUIVALENCE_NOTE)
    return lines


def _linked_once(summary: Summary, row: Row) -> bool:
    """Whether a row stands for a recipe of which there was one binary only."""
    return summary.verb in ("tune", "patch") and not summary.replicates and row.ratio is not None


def markdown(summary: Summary) -> str:
    """The whole report as Markdown, for docs/results."""
    lines = [f"# {summary.engine}: {summary.verb}", "", *(f"* {line}" for line in heading(summary)), ""]
    if summary.verb == "calibrate":
        lines += _table(noise.TABLE, noise.table(summary.calibrations))
        return "\n".join([*lines, "", *(f"* {line}" for line in noise.advice(summary)), ""])
    if summary.verb == "why":
        return "\n".join([*lines, *_explained_markdown(summary)])
    if summary.shipped is not None:
        return "\n".join([*lines, *_shipped_markdown(summary)])
    lines += verdict_tables(summary)
    if summary.patched:
        lines += [*(f"* {line}" for line in patches.remarks(summary)), ""]
        lines += _blocks_markdown(patches.blocks(summary))
    lines += ["## Builds", ""]
    columns = _build_columns(summary)
    lines += _table(columns, [build_cells(row)[: len(columns)] for row in summary.builds])
    if _examined(summary):
        lines += ["", _SIZES_TITLE, "", *_table(evidence.SIZES, _sizes(summary))]
    escaped = [f"\\{line}" if line.startswith("*") else line for line in remarks(summary)]
    lines += ["", *(f"* {line}" for line in escaped)]
    lines += ["", "## What it says", "", *(f"* {line}" for line in sentences(summary)), ""]
    drawn = [] if summary.patched else ceilings.bars(summary, winner(summary))
    return "\n".join([*lines, *(["```", *drawn, "```", ""] if drawn else [])])


def verdict_tables(summary: Summary) -> list[str]:
    """A table of verdicts for each load, as lines of Markdown."""
    lines = []
    for load, head, rows in _by_load(summary):
        lines += [f"## {load}, ratios to {summary.baseline}", ""]
        if summary.patched:
            lines += [*_table(patches.HEAD, patches.table(summary, load, interval)), ""]
            continue
        lines += _table(
            (head, "verdict", "capacity", "throughput", "starts", "invalid starts"),
            [
                (
                    name,
                    row.verdict,
                    interval(row.capacity),
                    interval(row.throughput),
                    str(row.starts),
                    str(row.invalid_starts),
                )
                for name, row in rows
            ],
        )
        lines.append("")
        other = [
            f"* {name}, {each['name']}: {interval(each)}"
            for name, row in rows
            for each in row.sensitivity
            if "ratio" in each
        ]
        lines += [*other, ""] if other else []
    for title, told in suites.times(summary):
        lines += [f"## {title}", "", *_table(suites.TABLE, told), ""]
    return lines


def _shipped_markdown(summary: Summary) -> list[str]:
    lines = []
    for block in _shipped_blocks(summary):
        lines += [f"## {block.title}", ""]
        lines += [*_table(block.head, block.rows), ""] if block.head else []
        lines += [*(f"* {line}" for line in block.lines), ""] if block.lines else []
    columns = _build_columns(summary)
    return [*lines, "## Builds", "", *_table(columns, [build_cells(row)[: len(columns)] for row in summary.builds]), ""]


def _explained_markdown(summary: Summary) -> list[str]:
    if summary.explanation is None:
        return [NOTHING_TOLD, ""]
    return _blocks_markdown(why.blocks(summary.explanation))


def _blocks_markdown(blocks: Sequence[why.Block]) -> list[str]:
    lines = []
    for block in blocks:
        lines += [f"## {block.title}", ""]
        lines += [*_table(block.head, block.rows), ""] if block.head else []
        told = ["```", *block.lines, "```"] if block.drawn else [f"* {line}" for line in block.lines]
        lines += [*told, ""] if block.lines else []
    return lines


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(head), line(["---"] * len(head)), *(line(row) for row in rows)]
