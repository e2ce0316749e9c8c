"""Kept things that have changed: every kind of entry of the store, damaged in every way, before a run needs them."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from asked import words_of
from driving import Place, call
from kills import kept_home, undisturbed
from ledger import Case, Ledger
from outcome import outcome, study_of

from burnish.record.events.builds import GateRun, StageDone
from burnish.record.record import Record
from burnish.record.store import KINDS


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a byte flipped": _flip,
    "cut off": _cut,
    "emptied": lambda path: path.write_bytes(b""),
    "removed": Path.unlink,
    "a folder": _folder,
}

_DESCRIPTION = "burnish.json"


def disturb(ledger: Ledger, place: Path, seed: int, points: int, _names: Sequence[str]) -> None:
    """Damages a file of every kind in one way, and runs a study that needs all of them; then in the next way."""
    home = kept_home(place, "tune")
    for damage in list(DAMAGES)[:points]:
        name = f"{seed}-{damage}"
        if not ledger.has("store", name):
            ledger.add(_one(place, home, name, damage, random.Random(f"{seed} {damage}")))


def _kinds(home: Path) -> list[str]:
    """Kinds of what is kept, each with its own files and its description."""
    kinds = sorted(path.name for path in (home / "store").iterdir() if path.name not in ("ccache", "thinlto"))
    parts = []
    for kind in kinds:
        files = [path for path in (home / "store" / kind).rglob("*") if path.is_file()]
        names = [path.name for path in files] or [kind]
        parts += [f"{kind}: files"] if any(name != _DESCRIPTION for name in names) else []
        parts += [f"{kind}: {_DESCRIPTION}"] if _DESCRIPTION in names else []
    return parts


def _one(place: Path, home: Path, name: str, damage: str, drawn: random.Random) -> Case:
    """The same study in a home without its run, with a damaged file of each kind."""
    whole = undisturbed(place, "tune")
    where = Place(place / "tune")
    where.empty()
    shutil.copytree(home, where.home, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(where.home / "studies")
    began = time.monotonic()
    damaged = [_damaged(where.home / "store", kind, damage, drawn) for kind in _kinds(home)]
    ended = call(where, words_of("tune", where.root / "files"))
    said = " ".join(ended.err.split())
    problems = []
    if ended.code or ended.traceback:
        problems.append(f"ended with {ended.code}: {ended.last[-400:]}")
    else:
        made = _made(where.home)
        for path in damaged:
            kind, key = (*path.parts, "")[:2]
            if kind in KINDS and f"/store/{kind}/{key}" not in said:
                problems.append(f"{path} was not named")
            if kind in ("builds", "datasets", "profiles") and key not in made:
                problems.append(f"{path} was not made again")
        found, expected = outcome(study_of(where.home)), whole_outcome(whole)
        problems += [f"{part} differ" for part in ("builds", "faster") if found[part] != expected[part]]
    names = ", ".join(sorted({"/".join([path.parts[0], path.name]) for path in damaged}))
    what = f"{damage}: {names}"
    spent = round(time.monotonic() - began, 1)
    return Case("store", name, "tune", what, tuple(problems), len(damaged), seconds=spent)


def _damaged(store: Path, kind: str, damage: str, drawn: random.Random) -> Path:
    """Damages a file of a kind; returns its path in the store."""
    folder, _, of = kind.partition(": ")
    root = store / folder
    files = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else [root]
    chosen = drawn.choice([path for path in files if (path.name == _DESCRIPTION) == (of == _DESCRIPTION)])
    DAMAGES[damage](chosen)
    return chosen.relative_to(store)


def whole_outcome(whole: Mapping[str, object]) -> dict[str, object]:
    """What the study says that nothing disturbed."""
    said = whole["outcome"]
    assert isinstance(said, dict)
    return said


def _made(home: Path) -> set[str]:
    """Keys of what was made in this run."""
    with closing(Record(study_of(home))) as record:
        stages = {recorded.event.key for recorded in record.events(StageDone)}
        return stages | {recorded.event.key for recorded in record.events(GateRun) if not recorded.event.cached}
