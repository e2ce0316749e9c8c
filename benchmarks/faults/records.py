"""Records that were cut off, at many lengths: what is whole is read, and the same command goes on from there."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from asked import words_of
from driving import Place, call
from kills import after, kept_home, undisturbed
from ledger import Case, Ledger
from outcome import study_of

from burnish.base.errors import UserError
from burnish.record import lines, rescue
from burnish.record.record import FILE, Record

_RESUMED = 10
"""Of so many records that are cut off, one is resumed by the command line; of the others events are compared."""


def disturb(ledger: Ledger, place: Path, seed: int, points: int, _names: Sequence[str]) -> None:
    """Cuts a run's record, and an exported one, at random lengths."""
    home = kept_home(place, "tune")
    for number in range(points):
        name = f"{seed}-{number}"
        if not ledger.has("record", name):
            drawn = random.Random(f"{seed} {number}")
            resumed = number % _RESUMED == 0
            ledger.add(_resumed(place, home, name, drawn) if resumed else _read(place, home, name, drawn))
        if not ledger.has("export", name):
            ledger.add(_exported(place, home, name, random.Random(f"export {seed} {number}")))


def _cut(path: Path, drawn: random.Random) -> int:
    """Cuts a file off at a random length; returns it."""
    length = drawn.randrange(path.stat().st_size)
    with path.open("r+b") as file:
        file.truncate(length)
    return length


def _read(place: Path, home: Path, name: str, drawn: random.Random) -> Case:
    """What is read of it is its first events, and as many as lie in its first pages."""
    began = time.monotonic()
    folder = place / "cut"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(study_of(home), folder)
    with closing(Record(folder)) as record:
        whole = list(record.lines())
    length = _cut(folder / FILE, drawn)
    found = rescue.readable(folder / FILE)
    problems = [] if list(found) == whole[: len(found)] else ["other events than were written"]
    what = f"{length} bytes: {len(found)} of {len(whole)} events"
    return Case("record", name, "tune", what, tuple(problems), seconds=round(time.monotonic() - began, 1))


def _resumed(place: Path, home: Path, name: str, drawn: random.Random) -> Case:
    """An unfinished run whose record is cut off, resumed by the same command."""
    whole, began = undisturbed(place, "tune"), time.monotonic()
    where = Place(place / "tune")
    where.empty()
    shutil.copytree(home, where.home, symlinks=True, dirs_exist_ok=True)
    folder = study_of(where.home)
    with closing(Record(folder)) as record:
        every = list(record.lines())
    (folder / FILE).unlink()
    with closing(Record(folder, create=True)) as record:
        record.restore(every[:-3])  # without what comes after the last start
    length = _cut(folder / FILE, drawn)
    readable = len(rescue.readable(folder / FILE))
    ended = call(where, words_of("tune", where.root / "files"))
    problems = []
    if ended.code or ended.traceback:
        problems.append(f"ended with {ended.code}: {ended.last[-400:]}")
    elif not readable:
        problems += [] if "left out" in ended.err else ["the run of which nothing can be read is not named"]
    else:
        if f"{readable} events that are whole" not in " ".join(ended.err.split()):
            problems.append("the damage is not named")
        expected = [one for one in after(where, whole) if not one.startswith("left in the home: studies/RUN/record")]
        problems += [one for one in expected if not one.startswith("lost: stage_done")]  # done before the damage
    what = f"{length} bytes: {readable} of {len(every) - 3} events, resumed"
    return Case("record", name, "tune", what, tuple(problems), seconds=round(time.monotonic() - began, 1))


def _exported(place: Path, home: Path, name: str, drawn: random.Random) -> Case:
    """An exported record that is cut off is refused in one line, wherever the cut is."""
    began = time.monotonic()
    suffix = drawn.choice(lines.SUFFIXES)
    with closing(Record(study_of(home))) as record:
        data = lines.pack(record.lines(), f"x{suffix}", preset=1)
    length = drawn.randrange(len(data))
    path = place / f"cut{suffix}"
    path.write_bytes(data[:length])
    problems = []
    try:
        lines.read(path)
        problems.append("read as if it were whole")
    except UserError as error:
        said = str(error)
        problems += ["more than one line"] if "\n" in said else []
    what = f"{length} of {len(data)} bytes, {suffix}"
    return Case("export", name, "tune", what, tuple(problems), seconds=round(time.monotonic() - began, 1))
