"""Studies on disk: found, begun, gone on with; one run at a time in a home."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from burnish import __version__
from burnish.base.digest import digest_of
from burnish.base.errors import UserError, unknown
from burnish.base.paths import Home
from burnish.record.exchange import IMPORTED
from burnish.record.record import FILE, Record

_DRAFT = ".draft-"


@dataclass(frozen=True)
class Definition:
    """What a study is asked to do; equal definitions are the same study as long as it is not finished.

    Attributes:
        verb: ``tune``, ``compare``, ``calibrate``, ``why`` or ``patch``; of a study that ships, its name.
        engine: engine's name.
        variants: names of variants, baseline first (``tune``, ``patch``), or the two programs' paths (``compare``).
        workloads: names of workloads.
        features: feature set of all variants.
        source: what was asked for as the source: ``debian``, ``debian=VERSION`` or a path.
        precision: half-width to reach (0.01 = ±1 %); None stops at the first verdict.
        max_starts: most starts of a cell.
        pairs: pairs in a start; None: the calibration's or the engine's.
        turns: turns in a pair; None: the engine's.
        starts: number of starts fixed in advance, or None.
        design: trial design of every cell; None: each workload's own.
        explore: whether cells are looked through rather than claimed together.
        layouts: layout replicates of every variant.
        trainings: training replicates of every variant.
        seed: decides slots and keys.
        recipes: each variant's recipe, as plain values.
        conditions: what was asked of conditions and data.
        patches: by variant that has any, the digests of its patches' content.
        portable: level or processor that every build must run on, or None.
    """

    verb: str
    engine: str
    variants: tuple[str, ...]
    workloads: tuple[str, ...]
    features: str
    source: str
    precision: float | None
    max_starts: int
    pairs: int | None
    turns: int | None
    starts: int | None
    design: str | None
    explore: bool
    layouts: int
    trainings: int
    seed: int
    recipes: Mapping[str, Any]
    conditions: tuple[str, ...] = ()
    patches: Mapping[str, Sequence[str]] = field(default_factory=dict)
    portable: str | None = None

    @property
    def digest(self) -> str:
        """Names the definition."""
        return digest_of(asdict(self))


def folders(home: Home) -> list[Path]:
    """The studies' folders, oldest first."""
    found = [path.parent for path in home.studies.glob(f"*/{FILE}") if not path.parent.name.startswith(_DRAFT)]
    return sorted(found, key=lambda path: (path / FILE).stat().st_ctime)


WITHOUT_VERDICTS = ("why", "calibrate")
"""Verbs whose runs explain or prepare: they are shown when they are named."""


def find(home: Home, name: str | None) -> Path:
    """The run called `name`, or a path to its folder; the newest finished one whose name begins so.

    Without a name it is the run last written to that has verdicts, else the one last written to.

    Raises:
        UserError: there is none, or several begin so and none of them is finished.
    """
    every = folders(home)
    if name is None:
        if not every:
            raise UserError(f"{home.studies}: no run yet; `burnish tune` makes the first one")
        newest_first = sorted(every, key=lambda path: -(path / FILE).stat().st_mtime)
        return next((path for path in newest_first if _has_verdicts(path)), newest_first[0])
    if (Path(name) / FILE).is_file():
        return Path(name)
    matching = [path for path in every if path.name == name] or beginning(every, name)
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise unknown("run", name, [path.name for path in every] or ["none yet"], "burnish runs")
    finished = [path for path in matching if is_finished(path)]
    if not finished:
        names = ", ".join(path.name for path in matching)
        raise UserError(f"run {name!r} could be {names}, of which none is finished; name one of them")
    return finished[-1]


def beginning(every: Sequence[Path], name: str) -> list[Path]:
    """The runs whose names begin so, oldest first."""
    return [path for path in every if path.name.startswith(name)]


def is_finished(folder: Path) -> bool:
    """Whether a run has come to its end."""
    with contextlib.closing(Record(folder)) as record:
        return record.last("finished") is not None


def _has_verdicts(folder: Path) -> bool:
    """Whether a run compares, and has something to say."""
    with contextlib.closing(Record(folder)) as record:
        begun = record.last("study")
        verb = begun.body.get("definition", {}).get("verb") if begun else None
        return verb not in WITHOUT_VERDICTS and any(record.last(kind) for kind in ("verdict", "measured"))


def begin_or_resume(home: Home, definition: Definition, *, fresh: bool) -> tuple[Record, bool]:
    """The record to write to, and whether an unfinished study is gone on with.

    Args:
        home: where studies are.
        definition: what is asked.
        fresh: begin a new study even when an unfinished one would fit.
    """
    if not fresh:
        for folder in reversed(folders(home)):
            record = Record(folder)
            begun = record.last("study")
            open_still = record.last("finished") is None and record.last(IMPORTED) is None
            if begun and begun.body.get("digest") == definition.digest and open_still:
                return record, True
            record.close()
    for left in home.studies.glob(f"{_DRAFT}*"):
        shutil.rmtree(left, ignore_errors=True)
    begun_at = f"{definition.engine}-{definition.verb}-{time.strftime('%Y%m%d-%H%M%S')}"
    names = itertools.chain([begun_at], (f"{begun_at}-{number}" for number in itertools.count(2)))
    name = next(name for name in names if not (home.studies / name).exists())
    # Whole or not at all: killed before its first event, it would be a study of nothing.
    draft = home.studies / f"{_DRAFT}{name}"
    with contextlib.closing(Record(draft, create=True)) as record:
        record.append("study", name=name, digest=definition.digest, burnish=__version__, definition=asdict(definition))
    draft.rename(home.studies / name)
    return Record(home.studies / name), False


@contextlib.contextmanager
def lock(home: Home) -> Iterator[None]:
    """Holds the home: two runs would build at one place and disturb each other's measurements."""
    path = home.root / "lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UserError(
                f"{path}: another burnish (process {file.read().strip() or 'unknown'}) is at work in this home; "
                "wait for it or end it"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
