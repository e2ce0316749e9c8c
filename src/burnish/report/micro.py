"""What microbenchmarks found, as a table; pure."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from burnish.study.micro.run import LABELS, Outcome, Result

_LEGEND = (
    "ratio: CPU time of a call in A over that in B, so above 1 says that B takes less; the interval is of the starts. "
    "The least time of a call tells its order of size only."
)


def render(result: Result) -> RenderableType:
    """A table for a terminal of 80 columns, with the sides before it and what was checked elsewhere behind."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("function", *(f"{label}, ns" for label in LABELS), "ratio", "interval", "verdict"):
        right = name not in ("function", "verdict")
        table.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for each in result.outcomes:
        table.add_row(*map(Text, _row(each)))
    head = [Text(f"{label}: {side}") for label, side in zip(LABELS, result.sides, strict=True)]
    notes = [Text(f"{each.name}: {note}") for each in result.outcomes for note in _notes(each)]
    return Group(*head, table, *notes, Text(_LEGEND, style="dim"))


def _row(each: Outcome) -> tuple[str, ...]:
    if each.identical:
        return each.name, "", "", "", "", "identical code"
    times = tuple(_ns(each.call_ns(number)) for number in range(len(LABELS)))
    judged = each.judgement
    interval = judged.interval if judged else None
    if judged is None or interval is None:
        return each.name, *times, "", "", ""
    return each.name, *times, f"{interval.ratio:.3f}", f"{interval.low:.3f}-{interval.high:.3f}", judged.kind.value


def _ns(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _notes(each: Outcome) -> list[str]:
    found = [each.elsewhere] if each.elsewhere else []
    if each.judgement is not None:
        found.append(each.judgement.reason)
    return found
