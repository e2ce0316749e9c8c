"""Earlier searches that a search begins from, as a user names them: runs of this home, or exported records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.record.by_type import ByType
from burnish.record.events.searches import MainEffect, SearchEnded
from burnish.record.events.study import StudyBegun
from burnish.record.exchange import read_events, study_events
from burnish.search.effects import Effect
from burnish.search.prior import Finding
from burnish.study.kept.runs import find

NORMAL = 1.96
"""Half-width of a 95 % interval in standard errors; with few builds it is more, and the error taken too large."""


def findings(home: Home, names: Sequence[str], engine: str) -> tuple[Finding, ...]:
    """What earlier searches of an engine found, on this host or others.

    Args:
        home: where runs are kept.
        names: runs' names, or files of exported records.
        engine: the engine.

    Raises:
        UserError: there is no such run or file, it is of another engine, or it has no search that came to its end.
    """
    return tuple(_finding(home, name, engine) for name in names)


def _finding(home: Home, name: str, engine: str) -> Finding:
    by = ByType(read_events(Path(name)) if Path(name).is_file() else study_events(find(home, name)))
    begun, ended = by.last(StudyBegun), by.last(SearchEnded)
    own = str(begun.definition.get("engine")) if begun is not None else "?"
    if own != engine:
        raise UserError(f"--prior {name}: it is of {own}, not of {engine}; name searches of one engine")
    if begun is None or ended is None:
        raise UserError(f"--prior {name}: it has no search that came to its end; name a run of `burnish tune --budget`")
    return Finding(begun.name, tuple(map(_effect, ended.effects)), ended.settings if ended.winner else None)


def _effect(one: MainEffect) -> Effect:
    half = 0.5 * (math.log(one.high) - math.log(one.low)) if one.low > 0.0 else 0.0
    return Effect(one.choice, one.level, math.log(one.ratio), half / NORMAL, half, one.builds)
