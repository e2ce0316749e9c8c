"""Builds that were made again while they were measured, and came out as another program; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from burnish.record.by_type import ByType
from burnish.record.events.builds import ProgramExamined, ProgramFacts
from burnish.record.events.study import RecordsMerged
from burnish.record.events.trials import StartDone
from burnish.study.trials.superseded import superseded


def remade(by: ByType, baseline: str) -> dict[str, str]:
    """By build that was measured as more than one program, a note with the digests of these, and how many starts of
    the earlier ones do not count.

    A build that is cleaned away between two sittings is made again by the same key; with a profile that is trained
    anew it may be another program. Hosts of a merged record each have their own, so nothing is said of those; nor of
    replicates, which are meant to differ.

    Args:
        by: the record's events.
        baseline: name of the build that cells without a base of their own are compared with.
    """
    if RecordsMerged in by:
        return {}
    seen = [one for one in by.recorded(ProgramExamined) if not one.event.build.replicate]
    starts = [one for one in by.recorded(StartDone) if one.event.invalid is None]
    now: dict[str, ProgramFacts] = {}
    measured: dict[str, dict[tuple[str, str], None]] = {}
    for recorded in sorted([*seen, *starts], key=lambda one: one.number):
        event = recorded.event
        if isinstance(event, ProgramExamined):
            now[event.build.variant] = event.program
        elif isinstance(event, StartDone):
            for name in (event.cell.candidate, event.cell.base or baseline):
                if name in now:
                    measured.setdefault(name, {})[now[name].code, now[name].data] = None
    others = superseded(by.of(StartDone))
    left_out: Counter[str] = Counter()
    for start in (one.event for one in starts):
        base, candidate = others.get((start.cell, start.start), (False, False))
        left_out[start.cell.base or baseline] += base
        left_out[start.cell.candidate] += candidate
    return {name: _note(list(programs), left_out[name]) for name, programs in measured.items() if len(programs) > 1}


def _note(programs: Sequence[tuple[str, str]], left_out: int) -> str:
    """What is said of programs, each by the digests of its code and its data, and of the starts that do not count."""
    codes, data = [list(dict.fromkeys(each)) for each in zip(*programs, strict=True)]
    what, digests = ("code", codes) if len(codes) > 1 else ("data", data)
    listed = ", then ".join(digest[:12] for digest in digests)
    counts = f"; starts of the earlier ones, which are left out: {left_out}" if left_out else ""
    return f"made again between its starts, as another program: {what} {listed}{counts}"
