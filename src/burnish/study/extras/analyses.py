"""Performs a study's extras in order, as far as the budget allows."""

from __future__ import annotations

import time

from burnish.record.events.bundled import ExtrasDone, LeftExtra
from burnish.study.extras.extras import (
    PROFILES,
    SAMPLES,
    SEARCH,
    TIMELINE,
    Allowance,
    Extra,
    reported,
    robust_of,
    sampled,
    with_rounds,
)
from burnish.study.extras.samples import record_samples
from burnish.study.extras.search import search
from burnish.study.extras.timeline import record_profiles, record_timeline
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.workshop.workshop import Workshop


def analyse(workshop: Workshop, plan: StudyPlan) -> None:
    """Performs the extras that a study asks for; those that there is no time for are recorded as left out.

    Args:
        workshop: the study, after its comparisons.
        plan: the session's plan.
    """
    if not plan.extras:
        return
    if not all(extra.impossible for extra in plan.extras):
        workshop.make_baseline()
    robust = robust_of(workshop.study)
    if robust is not None:
        workshop.study = with_rounds(workshop.study, robust, reported(workshop.record).rounds)
    left: list[LeftExtra] = []
    for extra in plan.extras:
        why = _perform(workshop, extra)
        if why is not None:
            left.append(LeftExtra(extra.name, extra.title, why))
            workshop.session.bench.say(f"left out: {extra.title}: {why}")
    workshop.record.append(ExtrasDone(tuple(left)))


def _perform(workshop: Workshop, extra: Extra) -> str | None:
    """Performs one extra; returns why it is left out, or None."""
    session = workshop.session
    allowance = Allowance(session.options.budget, lambda: time.monotonic() - session.began)
    robust = robust_of(workshop.study)
    if extra.name == SEARCH and robust is not None:
        return search(workshop, robust, allowance.why_not, extra.seconds)
    why = extra.without(workshop.selection.cut) or allowance.why_not(extra.seconds)
    if why is not None:
        return why
    bundled = workshop.study.bundled
    if extra.name == TIMELINE and bundled is not None and bundled.timeline is not None:
        record_timeline(workshop, bundled.timeline)
    elif extra.name == PROFILES:
        record_profiles(workshop)
    elif extra.name == SAMPLES:
        record_samples(workshop, sampled(workshop.study, workshop.selection.chosen))
    return None


def analysis_open(workshop: Workshop) -> bool:
    """Whether an extra is still to be done."""
    bundled, done = workshop.study.bundled, reported(workshop.record)
    last = workshop.record.last(ExtrasDone)
    left = {extra.name for extra in last.event.left} if last else set()
    searching = robust_of(workshop.study) is not None and not (done.over or done.stopped)
    timeline = bundled is not None and bundled.timeline is not None and not done.seconds
    return searching or timeline or bool(left & {PROFILES, SAMPLES})
