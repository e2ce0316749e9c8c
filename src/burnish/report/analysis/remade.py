"""Builds that were made again while or after they were measured, and came out as another program; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from burnish.model.cell import CellId
from burnish.record.by_type import ByType
from burnish.record.events.builds import ProgramExamined, ProgramFacts
from burnish.record.events.study import RecordsMerged
from burnish.record.events.trials import StartDone
from burnish.study.trials.superseded import Superseded

SHOWN = 3
"""Cells of an earlier program that are named."""

Programs = tuple[str, str]
"""Digests of a program's code and of its data."""


def remade(by: ByType, baseline: str, others: Superseded) -> dict[str, str]:
    """By build that was made as more than one program, a note with the digests of these, how many starts of the earlier
    ones do not count, and which cells have no start of the last one: their figures are an earlier program's.

    A build that is cleaned away between two sittings is made again by the same key; with a profile that is trained
    anew it may be another program. Hosts of a merged record each have their own, so nothing is said of those; nor of
    replicates, which are meant to differ.

    Args:
        by: the record's events.
        baseline: name of the build that cells without a base of their own are compared with.
        others: the superseded starts among these events.
    """
    if RecordsMerged in by:
        return {}
    seen = [one for one in by.recorded(ProgramExamined) if not one.event.build.replicate]
    starts = [one for one in by.recorded(StartDone) if one.event.invalid is None]
    now: dict[str, ProgramFacts] = {}
    measured: dict[str, dict[Programs, None]] = {}
    last: dict[tuple[str, CellId], Programs] = {}
    for recorded in sorted([*seen, *starts], key=lambda one: one.number):
        event = recorded.event
        if isinstance(event, ProgramExamined):
            now[event.build.variant] = event.program
        elif isinstance(event, StartDone):
            for name in (event.cell.candidate, event.cell.base or baseline):
                if name in now:
                    last[name, event.cell] = _digests(now[name])
                    measured.setdefault(name, {})[_digests(now[name])] = None
    earlier: dict[str, list[CellId]] = {}
    for (name, cell), programs in last.items():
        if programs != _digests(now[name]) and not cell.is_canary:
            earlier.setdefault(name, []).append(cell)
    left_out: Counter[str] = Counter()
    for start in (one.event for one in starts):
        base, candidate = others.get((start.cell, start.start), (False, False))
        left_out[start.cell.base or baseline] += base
        left_out[start.cell.candidate] += candidate
    return {
        name: _note([*programs, _digests(now[name])], left_out[name], earlier.get(name, ()))
        for name, programs in measured.items()
        if len(programs) > 1 or name in earlier
    }


def _digests(program: ProgramFacts) -> Programs:
    return program.code, program.data


def _note(programs: Iterable[Programs], left_out: int, earlier: Sequence[CellId]) -> str:
    """What is said of programs, of starts that do not count, and of cells whose starts are all of earlier ones."""
    codes, data = [list(dict.fromkeys(each)) for each in zip(*programs, strict=True)]
    what, digests = ("code", codes) if len(codes) > 1 else ("data", data)
    listed = ", then ".join(digest[:12] for digest in digests)
    counts = f"; starts of the earlier ones, which are left out: {left_out}" if left_out else ""
    if not earlier:
        return f"made again between its starts, as another program: {what} {listed}{counts}"
    named = [f"{cell.candidate} on {cell.workload}" for cell in earlier[:SHOWN]]
    more = [f"{len(earlier) - SHOWN} more"] if len(earlier) > SHOWN else []
    return (
        f"made again after its starts, as another program: {what} {listed}{counts}; not measured since, so that these "
        f"figures are of the earlier program: {', '.join([*named, *more])}; --fresh measures anew"
    )
