"""What a verdict of a record is in a report's words; pure."""

from __future__ import annotations

from burnish.record.events.trials import TrialsPlanned

NO_EFFECT = "no effect"
"""Verdict of a variant whose program is the baseline's: nothing was measured."""

IDENTICAL = "identical code"
"""In place of a verdict where both sides are the same program, to the byte."""

RUNNING = "running"
"""Verdict of a cell that has none yet."""

USUAL_DELTA = 0.01
"""Within so much of 1 a ratio makes no difference, where the record does not say otherwise."""


def delta(planned: TrialsPlanned | None) -> float:
    """Within so much of 1 a ratio makes no difference, by the rule of a run."""
    return planned.rule.delta if planned else USUAL_DELTA


def words(kind: str, within: float | None) -> str:
    """A verdict in a table: ``faster``, or ``faster (<1 %)`` where the difference is proved to be so small."""
    small = within is not None and kind in ("faster", "slower")
    return f"{kind} (<{100 * (within or 0.0):g} %)" if small else kind
