"""What a run would do: its steps with their costs, then the sums."""

from __future__ import annotations

from burnish.report.compose import dropping, points, row
from burnish.report.document import Column, Document, Paragraph, Role, Row, Section, Span, Table
from burnish.study.planning.plan import Plan, Step, amount, summary

_STATES = {"partial": "most objects cached", "relink": "cached objects", "trials": "at least", "again": "at most"}
_MINUTE, _GB = 60.0, 1e9
_NAMED = 3
_FIGURES = ("", "min", "disk", "mem")

_GUESSES = "disk, mem: GB; \"~\": a guess, from the engine's rough figures or from another variant's step"


def document(plan: Plan) -> Document:
    """Source, steps and totals."""
    columns = tuple(
        Column(name, right=name in _FIGURES, whole=name in _FIGURES)
        for name in ("", "step", "for", "min", "disk", "mem", "state")
    )
    columns = dropping(columns, "mem", "disk", "state")
    steps = Table("steps", columns, tuple(_row(number, step) for number, step in enumerate(plan.steps, 1)))
    guessed = any(not figure.known for step in plan.ahead for figure in (step.seconds, step.kept))
    title = f"plan for {plan.engine}: {plan.source}"
    return Document(
        title,
        (
            Section("heading", (Paragraph(Span(title)),)),
            Section("steps", (steps,)),
            Section("totals", (points([*summary(plan), *([_GUESSES] if guessed else [])]),)),
        ),
    )


def _row(number: int, step: Step) -> Row:
    state = "cached" if step.cached else _STATES.get(step.kind, "")
    if step.cached and step.cache_use:
        state += f" (made with {step.cache_use})"
    if step.same:
        state = f"{state}; identical code: not measured".removeprefix("; ")
    kept = amount(step.kept, _GB) if step.kept.value and not step.cached else ""
    minutes = "" if step.cached else amount(step.seconds, _MINUTE)
    memory = amount(step.peak, _GB) if step.peak else ""
    role = Role.DONE if step.cached else Role.PLAIN
    return row(str(number), step.title, _who(step), minutes, kept, memory, state, role=role)


def _who(step: Step) -> str:
    """The variants that the step is for: the first one executes it, the others share its result."""
    named = list(step.variants[:_NAMED])
    more = len(step.variants) - len(named)
    return ", ".join([*named, f"and {more} more"] if more else named)
