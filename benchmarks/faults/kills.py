"""SIGKILL at random points of a study, the same command after each, until it ends; compared with one left alone."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from asked import words_of
from driving import HOOK, Ended, Place, call, files_of, left_running
from ledger import Case, Ledger
from outcome import differences, doubled, outcome, study_of

_MOST = 8
"""Kills of one study: then it is let through."""

_SOONEST_S, _LONGEST_S = 0.5, 30.0


def undisturbed(place: Path, name: str) -> dict[str, object]:
    """What a study says that nothing disturbs, how long it takes and how many operations on files it has."""
    kept = place / f"whole-{name}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    where = Place(place / name)
    where.empty()
    count = where.root / "count"
    ended = call(where, words_of(name, where.root / "files"), environment=_hooked(FAULTS_COUNT=str(count)))
    assert ended.code == 0, ended.err
    found: dict[str, object] = {
        "outcome": outcome(study_of(where.home)),
        "files": sorted(files_of(where.home)),
        "left": sorted(path.name for path in where.temporary.iterdir()),
        "seconds": ended.seconds,
        "operations": int(count.read_text()),
        "bytes": sum(path.lstat().st_blocks * 512 for path in where.home.rglob("*")),
    }
    shutil.copytree(where.home, place / f"{name}-home", symlinks=True, dirs_exist_ok=True)
    kept.write_text(json.dumps(found))
    return dict(json.loads(kept.read_text()))


def kept_home(place: Path, name: str) -> Path:
    """The home in which a study was run that nothing disturbed, as it was left."""
    undisturbed(place, name)
    return place / f"{name}-home"


def _hooked(**variables: str) -> dict[str, str]:
    return {"PYTHONPATH": f"{HOOK}:{os.environ.get('PYTHONPATH', '')}", **variables}


def killed_at(whole: Mapping[str, object], share: float) -> dict[str, str]:
    """Environment in which a study is killed before one of its operations on files: after this share of them."""
    return _hooked(FAULTS_AT=str(1 + int(share * int(str(whole["operations"])))))


def disturb(ledger: Ledger, place: Path, seed: int, points: int, names: Sequence[str]) -> None:
    """Kills studies until there were so many kills; the kinds of studies in turn."""
    number = 0
    while sum(case.points for case in ledger.cases if case.part == "kills") < points:
        name = names[number % len(names)]
        if not ledger.has("kills", f"{seed}-{number}"):
            ledger.add(_one(place, name, f"{seed}-{number}", random.Random(f"{seed} {number}")))
        number += 1


def _one(place: Path, name: str, case: str, drawn: random.Random) -> Case:
    """One study, killed again and again until a call ends by itself."""
    whole = undisturbed(place, name)
    where = Place(place / name)
    where.empty()
    words, began = words_of(name, where.root / "files"), time.monotonic()
    problems: list[str] = []
    kinds: Counter[str] = Counter()
    said: list[str] = []
    ended: Ended | None = None
    while sum(kinds.values()) < _MOST:
        share, what = drawn.random() ** 2, drawn.choice(["driver", "group", "all"])
        if drawn.random() < 0.5:
            kind = f"{what} by time"
            later = _SOONEST_S + share * min(_LONGEST_S, float(str(whole["seconds"])))
            ended = call(where, words, kill=(later, what))
            said.append(f"{later:.1f} s ({what})")
        else:
            kind = "driver by operation"
            at = killed_at(whole, share)
            ended = call(where, words, environment=at)
            said.append(f"operation {at['FAULTS_AT']}")
        if ended.code != -9:
            break
        kinds[kind] += 1
        if "all" not in kind:
            problems += [f"left behind by {said[-1]}: {left}" for left in left_running(ended.pid)]
        problems += [f"after {said[-1]}: {again}" for again in _torn(where)]
        ended = None
    if ended is None:
        ended = call(where, words)
    if ended.code != 0 or ended.traceback:
        problems.append(f"ended with {ended.code}: {ended.last[-600:]}")
    else:
        problems += after(where, whole)
    return Case(
        "kills", case, name, f"{sum(kinds.values())} kills: {', '.join(said)}", tuple(problems), sum(kinds.values()),
        seconds=round(time.monotonic() - began, 1), counts=dict(kinds),
    )  # fmt: skip


def _torn(where: Place) -> list[str]:
    """What is doubled in the record as it was left by a kill."""
    folders = [path for path in (where.home / "studies").glob("*") if not path.name.startswith(".")]
    return doubled(folders[0]) if len(folders) == 1 else [f"{len(folders)} runs"] if folders else []


def after(where: Place, whole: dict[str, object]) -> list[str]:
    """What is wrong with a home in which a disturbed study came to its end."""
    folder = study_of(where.home)
    said = whole["outcome"]
    assert isinstance(said, dict)
    problems = differences(outcome(folder), said) + doubled(folder)
    files, expected = files_of(where.home), set(map(str, whole["files"]))  # type: ignore[call-overload]
    problems += [f"left in the home: {name}" for name in sorted(files - expected)]
    problems += [f"missing in the home: {name}" for name in sorted(expected - files)]
    problems += [f"left in TMPDIR: {path.name}" for path in where.temporary.iterdir()]
    return problems
