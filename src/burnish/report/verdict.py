"""What a verdict of a record is in a report's words; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NO_EFFECT = "no effect"
"""Verdict of a variant whose program is the baseline's: nothing was measured."""

IDENTICAL = "identical code"
"""In place of a verdict where both sides are the same program, to the byte."""

RUNNING = "running"
"""Verdict of a cell that has none yet."""

USUAL_DELTA = 0.01
"""Within so much of 1 a ratio makes no difference, where the record does not say otherwise."""


def delta(contest: Mapping[str, Any]) -> float:
    """Within so much of 1 a ratio makes no difference, by the rule of a run."""
    rule: Mapping[str, Any] = contest.get("rule", {})
    return float(rule.get("delta") or USUAL_DELTA)


def within(verdict: Mapping[str, Any], contest: Mapping[str, Any]) -> float | None:
    """Of a verdict on a difference that is proved to be within ±delta too, that delta; None of any other.

    Its sentence begins with both (`burnish.statistics.verdicts.Judgement`); no other field of the record has it.
    """
    both = str(verdict["reason"]).startswith(f"{verdict['verdict']}, and within")
    return delta(contest) if both else None


def words(kind: str, within_delta: float | None) -> str:
    """A verdict in a table: ``faster``, or ``faster (<1 %)`` where the difference is proved to be so small."""
    small = within_delta is not None and kind in ("faster", "slower")
    return f"{kind} (<{100 * (within_delta or 0.0):g} %)" if small else kind
