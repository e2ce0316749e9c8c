"""Words of reports for recorded verdicts; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.record.events.trials import TrialsPlanned

NO_EFFECT = "no effect"
"""Verdict of a variant whose program is identical to the baseline's: nothing was measured."""

IDENTICAL = "identical code"
"""Stands in place of a verdict if both sides are the same program, to the byte."""

RUNNING = "running"
"""Verdict of a cell that has none yet."""

USUAL_DELTA = 0.01
"""Largest distance of a ratio from 1 that counts as no difference, if the record does not say."""


def delta(planned: TrialsPlanned | None) -> float:
    """Largest distance of a ratio from 1 that counts as no difference, by the rule of a run."""
    return planned.rule.delta if planned else USUAL_DELTA


def delta_of(contest: Mapping[str, Any]) -> float:
    """The same from a result's `contest`, which is empty without trials."""
    rule = contest.get("rule")
    return float(rule["delta"]) if rule else USUAL_DELTA


def words(kind: str, within: float | None) -> str:
    """A verdict in a table: ``faster``, or ``faster (<1 %)`` if the difference is proved to be that small."""
    small = within is not None and kind in ("faster", "slower")
    return f"{kind} (<{100 * (within or 0.0):g} %)" if small else kind
