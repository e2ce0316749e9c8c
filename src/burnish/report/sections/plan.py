"""What a run would do: its steps with their costs, then the sums."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.base.durations import duration
from burnish.report.answer.search import results_taken
from burnish.report.compose import dropping, points, row
from burnish.report.document import Column, Document, Heading, Paragraph, Role, Row, Section, Span, Table
from burnish.report.words import plural
from burnish.search.ahead import Ahead, PriorAhead, StageAhead
from burnish.study.planning.plan import Plan, Step, amount, summary
from burnish.study.request.prior import HOME, NONE

_STATES = {
    "partial": "most objects cached",
    "relink": "cached objects",
    "read": "sources read before",
    "trials": "at least",
    "again": "at most",
}
_MINUTE, _GB = 60.0, 1e9
_NAMED = 3
_FIGURES = ("", "min", "disk", "mem")

_GUESSES = "disk, mem: GB; \"~\": a guess, from the engine's rough figures or from another variant's step"


_HOMES = "the finished runs of this home"
"""What `--prior home` means, which is what is taken without the option."""

_STAGES = {
    "ladder": "known-good builds, raced",
    "screen": "many changes of the best at once, for their effects",
    "race": "what helped, together",
    "eliminate": "what is not shown to help is taken out",
    "refine": "builds that are expected to gain most for their time",
    "bayes": "builds that a model of what was measured proposes",
    "random": "builds that are drawn",
    "confirm": "the winner again on fresh starts",
}


def document(plan: Plan, ahead: Ahead | None = None, sittings: str = "") -> Document:
    """Source, steps and totals; of a search also what it is expected to do, else in how many sittings, in words."""
    columns = tuple(
        Column(name, right=name in _FIGURES, whole=name in _FIGURES)
        for name in ("", "step", "for", "min", "disk", "mem", "state")
    )
    columns = dropping(columns, "mem", "disk", "state")
    steps = Table("steps", columns, tuple(_row(number, step) for number, step in enumerate(plan.steps, 1)))
    lines = [*summary(plan), *([sittings] if sittings else [])]
    guessed = any(not figure.known for step in plan.ahead for figure in (step.seconds, step.kept))
    title = f"plan for {plan.engine}: {plan.source}"
    return Document(
        title,
        (
            Section("heading", (Paragraph(Span(title)),)),
            Section("steps", (steps,)),
            Section("totals", (points([*lines, *([_GUESSES] if guessed else [])]),)),
            *([_search(ahead)] if ahead is not None else []),
        ),
    )


def _search(ahead: Ahead) -> Section:
    """What a search is expected to do: its stages, what a step costs, the smallest budget."""
    columns = (Column("stage", whole=True), *(Column(head, right=True) for head in ("builds", "starts", "min")))
    stages = ahead.stages if ahead.told else (StageAhead("baseline", 1, 0, ahead.baseline), *ahead.stages)
    rows = [row(one.name, *_stage(one), _STAGES.get(one.name, "")) for one in stages]
    space = f"{plural(ahead.choices, 'choice')}, {plural(ahead.size, 'build')} allowed"
    within = f" within {duration(ahead.budget)}" if ahead.budget is not None else ""
    costs = ", ".join(f"{word} {duration(seconds)}" for word, seconds in ahead.steps.items())
    usual = "if known-good builds gain what is usual and nothing else does; where something does, it goes on there"
    lines = [
        f"about {duration(ahead.seconds)} in all, {usual}",
        f"a build costs {costs} (with its tests); a start {duration(ahead.start)} for each load",
        f"the smallest budget is {-int(-ahead.least // 60)}m: the baseline, the cheapest candidate, and that again",
    ]
    if ahead.later:
        lines.insert(1, f"kept of it for later sittings of the winner: {duration(ahead.later)}")
    if ahead.after:
        lines.insert(1, f"kept of it for ways to deploy the winner: {duration(ahead.after)}")
    if ahead.told:
        lines.insert(0, f"goes on after {plural(ahead.told, 'step')} of an interrupted run")
    if ahead.prior is not None:
        lines.append(_prior(ahead.prior))
    table = Table("search-stages", (*columns, Column("what")), tuple(rows))
    title = Heading(f"Search of {space} ({ahead.strategy}){within}")
    return Section("search", (title, table, points(lines)))


def _prior(prior: PriorAhead) -> str:
    """Where the earlier results are from that a search begins with, and what is measured first because of them."""
    if tuple(prior.asked) == (NONE,):
        return f"prior: none, as asked (--prior {NONE})"
    asked = [_HOMES if word == HOME else word for word in prior.asked or (HOME,)]
    whence = f"{', '.join(asked)}, as the interrupted run found them" if prior.begun else ", ".join(asked)
    found = results_taken(prior.runs, prior.taken)
    if not found:
        return f"prior: {whence}; no result there is of use for this search"
    builds = [_build(name, prior.taken.rungs.get(name, {})) for name in prior.taken.first]
    first = f"; measured first: {', '.join(builds)}" if builds else ""
    return f"prior: {whence}: {found}{first}"


def _build(name: str, settings: Mapping[str, str]) -> str:
    """A known-good build; with its choices if it is one of an earlier run."""
    words = " ".join(f"{choice}={level}" for choice, level in settings.items())
    return f"{name} ({words})" if words else name


def _stage(stage: StageAhead) -> tuple[str, ...]:
    return str(stage.builds or ""), str(stage.starts or ""), f"{stage.seconds / _MINUTE:.0f}"


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
