"""Costs of steps measured on this host (seconds, memory, disk): the basis of every estimate."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from burnish.base.files import remove_tree

Quantity = Literal["seconds", "peak", "kept", "tree"]

_COLUMNS: dict[Quantity, str] = {
    "seconds": "REAL",
    "peak": "INTEGER",
    "kept": "INTEGER",
    "tree": "INTEGER",
}


@dataclass(frozen=True)
class Cost:
    """The cost of one step; 0 for a quantity that was not recorded.

    Attributes:
        seconds: wall time.
        peak: largest resident set of any one process, bytes.
        kept: bytes that it added to the store.
        tree: largest size of its build folder, bytes.
    """

    seconds: float
    peak: int = 0
    kept: int = 0
    tree: int = 0


@dataclass(frozen=True)
class Figure:
    """An expected amount (seconds or bytes).

    Attributes:
        value: the amount.
        known: whether this step was measured on this host; otherwise it is an estimate, shown with "~".
    """

    value: float
    known: bool = False

    def __add__(self, other: Figure) -> Figure:
        return Figure(self.value + other.value, self.known and other.known)


@dataclass(frozen=True)
class History:
    """Costs of one engine's steps: (step, name, cost), the newest first."""

    rows: Sequence[tuple[str, str, Cost]] = ()

    def figure(self, step: str, name: str, quantity: Quantity, like: str = "") -> Figure | None:
        """The newest amount of this step for this name; if there is none, an estimate from another name.

        Args:
            step: the step's name in the costs.
            name: name of the build, dataset or variant.
            quantity: which quantity.
            like: step whose newest amount, for any name, is the better estimate; otherwise this step's own.
        """
        amounts = [
            (row_name, amount)
            for row_step, row_name, cost in self.rows
            if row_step == step and (amount := getattr(cost, quantity))
        ]
        own = next((amount for row_name, amount in amounts if row_name == name), None)
        if own is not None:
            return Figure(float(own), known=True)
        if like and (guess := self.figure(like, "", quantity)):
            return Figure(guess.value)
        return Figure(float(amounts[0][1])) if amounts else None


class Costs:
    """The costs file of a store; created with its first entry.

    Args:
        path: the file.
        say: prints a line for the user.
    """

    def __init__(self, path: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self.path = path
        self.say = say

    def note(self, engine: str, step: str, name: str, cost: Cost) -> None:
        """Stores the cost of a step, where there is room for it."""
        with self._expendable(), closing(self._open()) as db, db:
            names = ", ".join(_COLUMNS)
            marks = ", ".join("?" * len(_COLUMNS))
            db.execute(
                f"INSERT INTO cost (at, engine, step, name, {names}) VALUES (?, ?, ?, ?, {marks})",  # noqa: S608
                (time.time(), engine, step, name, *(getattr(cost, column) for column in _COLUMNS)),
            )

    def history(self, engine: str) -> History:
        """All stored costs of an engine's steps; does not write."""
        if not self.path.is_file():
            return History()
        rows: list[tuple[Any, ...]] = []
        with (
            contextlib.suppress(sqlite3.DatabaseError),  # the next cost that is stored begins a new file
            closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True, timeout=10.0)) as db,
        ):
            have = _columns(db)
            names = [name if name in have else "0" for name in _COLUMNS]  # an older version's file has fewer
            query = f"SELECT step, name, {', '.join(names)} FROM cost WHERE engine = ? ORDER BY at DESC"  # noqa: S608
            rows = db.execute(query, (engine,)).fetchall() if have else []
        return History(tuple((step, name, Cost(*map(_number, values))) for step, name, *values in rows))

    def note_compiles(self, costs: Mapping[str, tuple[int, float, float]]) -> None:
        """Stores the costs of compilations by command: (peak bytes, wall seconds, CPU seconds)."""
        with self._expendable(), closing(self._open()) as db, db:
            rows = [(key, *cost) for key, cost in costs.items()]
            db.executemany("INSERT OR REPLACE INTO compile VALUES (?, ?, ?, ?)", rows)

    def compiles(self, keys: Iterable[str]) -> dict[str, tuple[int, float, float]]:
        """Costs of these compilations when the compiler last ran for them (not the cache)."""
        with self._expendable(), closing(self._open()) as db:
            rows = ((key, db.execute("SELECT * FROM compile WHERE command = ?", (key,)).fetchone()) for key in keys)
            return {key: (row[1], row[2], row[3]) for key, row in rows if row}
        return {}

    @contextlib.contextmanager
    def _expendable(self) -> Iterator[None]:
        """What is done with the file may fail: it only helps to estimate. One that is damaged is begun anew."""
        try:
            yield
        except sqlite3.OperationalError as error:  # no room, no permission, another run's lock
            if self.path.is_dir():
                self._set_aside(error)
        except sqlite3.DatabaseError as error:
            self._set_aside(error)

    def _set_aside(self, error: Exception) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged")
        remove_tree(aside)
        self.path.rename(aside)
        self.say(f"{self.path}: damaged ({error}); begun anew, so that plans are estimates for a while")

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=10.0)
        columns = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        db.execute(f"CREATE TABLE IF NOT EXISTS cost (at REAL, engine TEXT, step TEXT, name TEXT, {columns})")
        db.execute(
            "CREATE TABLE IF NOT EXISTS compile (command TEXT PRIMARY KEY, peak INTEGER, seconds REAL, cpu REAL)"
        )
        for name, kind in _COLUMNS.items():
            if name not in _columns(db):  # a file created by an older version
                db.execute(f"ALTER TABLE cost ADD COLUMN {name} {kind}")
        return db


def _number(value: object) -> Any:
    """A cost as it was stored; 0 for what is not one."""
    return value if isinstance(value, int | float) else 0


def _columns(db: sqlite3.Connection) -> set[str]:
    return {str(row[1]) for row in db.execute("PRAGMA table_info(cost)")}
