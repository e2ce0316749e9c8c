"""A plan as a table that a person can read at 80 columns; a pure function of it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from burnish.study.planning.plan import Plan, Step, amount, summary

_STATES = {"partial": "most objects cached", "relink": "cached objects", "trials": "at the least"}
_MINUTE, _GB = 60.0, 1e9
_NAMED = 3


def render(plan: Plan) -> RenderableType:
    """Source, steps and totals."""
    parts: list[RenderableType] = [Text(f"plan for {plan.engine}: {plan.source}"), Text("")]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("", "step", "for", "min", "disk", "mem", "state"):
        figure = name in ("", "min", "disk", "mem")
        table.add_column(name, justify="right" if figure else "left", overflow="fold", no_wrap=figure)
    for number, step in enumerate(plan.steps, 1):
        table.add_row(str(number), *_row(step), style="dim" if step.cached else "")
    parts += [table, Text("")]
    parts += [Text(line) for line in summary(plan)]
    if any(not figure.known for step in plan.ahead for figure in (step.seconds, step.kept)):
        parts.append(
            Text("disk, mem: GB; \"~\": a guess, from the engine's rough figures or from another variant's step")
        )
    return Group(*parts)


def _row(step: Step) -> tuple[str, ...]:
    state = "cached" if step.cached else _STATES.get(step.kind, "")
    if step.cached and step.cache_use:
        state += f" (made with {step.cache_use})"
    if step.same:
        state = f"{state}; identical code: not measured".removeprefix("; ")
    kept = amount(step.kept, _GB) if step.kept.value and not step.cached else ""
    minutes = "" if step.cached else amount(step.seconds, _MINUTE)
    return step.title, _who(step), minutes, kept, amount(step.peak, _GB) if step.peak else "", state


def _who(step: Step) -> str:
    """The variants that the step is for: the first makes it, the others share it."""
    named = list(step.variants[:_NAMED])
    more = len(step.variants) - len(named)
    return ", ".join([*named, f"and {more} more"] if more else named)
