"""The table of a campaign."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from asked import NAMES
from ledger import Case

_HEAD = ["fault", *NAMES, "with a finding"]


def markdown(cases: Sequence[Case]) -> str:
    """One row for each fault: how often in each kind of study, and in how many cases something was wrong."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(NAMES, 0))
    wrong: dict[str, int] = defaultdict(int)
    for case in cases:
        for fault, number in _faults(case).items():
            counts[fault][case.study] += number
            wrong[fault] += bool(case.problems)
    rows = [_HEAD, ["---"] * len(_HEAD)]
    rows += [
        [fault, *(str(of[name] or "") for name in NAMES), str(wrong[fault] or "none")] for fault, of in counts.items()
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    notes = [f"* {case.what}, {case.study}: {'; '.join(case.notes)}" for case in cases if case.notes]
    found = [f"* {case.part} {case.name} ({case.study}): {'; '.join(case.problems)}" for case in cases if case.problems]
    return "\n".join([*lines, "", *notes, *found])


def _faults(case: Case) -> dict[str, int]:
    """By what was done, how often."""
    if case.part == "kills":
        return {f"SIGKILL: {kind}": number for kind, number in case.counts.items()}
    if case.part in ("store", "record", "export"):
        kind, _, rest = case.what.partition(":")
        named = {
            "store": f"a kept file: {kind}",
            "record": "the record cut off, " + ("resumed" if rest.endswith("resumed") else "read"),
            "export": f"an exported record cut off, {case.what.rpartition(', ')[2]}",
        }
        return {named[case.part]: case.points}
    return {"disk full" if case.part == "disk" else case.what: case.points}
