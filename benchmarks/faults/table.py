"""The table of a campaign."""

from __future__ import annotations

from collections.abc import Sequence

from ledger import Case


def markdown(cases: Sequence[Case]) -> str:
    """One row for each part and study: how many faults, and what was found."""
    rows = ["| part | study | studies | faults | with a finding |", "| --- | --- | --- | --- | --- |"]
    for part, study in dict.fromkeys((case.part, case.study) for case in cases):
        own = [case for case in cases if (case.part, case.study) == (part, study)]
        wrong = sum(bool(case.problems) for case in own)
        rows.append(f"| {part} | {study} | {len(own)} | {sum(case.points for case in own)} | {wrong or 'none'} |")
    return "\n".join(rows)
