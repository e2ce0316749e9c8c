"""Where the data of a study's sides are: on Burnish's disk, in memory, or on a device that the user named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.base import storage, warden
from burnish.base.files import size_of
from burnish.base.workbench import Workbench
from burnish.bench import flushing
from burnish.model.condition import DISK, MEMORY, Condition
from burnish.model.engine import EngineSpec
from burnish.record.record import Record
from burnish.record.store import Entry

SIDES = 2
_GROWTH = 512 << 20
"""Bytes by which a side's data may grow in a start: logs of changes, of undone rows, of the server."""


@dataclass(frozen=True)
class Storing:
    """Makes the folders of data where conditions ask for them.

    Attributes:
        scratch: folder on Burnish's disk.
        record: the study's, for probes.
        bench: for lines to the user.
        spec: the engine.
        available: bytes of memory that are available; None: as the kernel says.
    """

    scratch: Path
    record: Record
    bench: Workbench
    spec: EngineSpec
    available: int | None = None

    def folder(self, place: str, data: Mapping[str, Entry]) -> Path:
        """The folder for data there, made if needed.

        Args:
            place: see `Condition.place`.
            data: dataset entries of all loads.

        Raises:
            UserError: memory is too short, or the named folder can't be used.
        """
        if place == DISK:
            return self.scratch
        if place == MEMORY:
            largest = max((size_of(entry.folder / "data") for entry in data.values()), default=0)
            return storage.in_memory(bound(largest), self.available)
        return storage.on_device(Path(place))

    def check(self, condition: Condition) -> None:
        """Refuses a place that can't be had, before anything is made.

        Raises:
            UserError: memory is too short for data of the engine's usual size, or the named folder can't be used.
        """
        if condition.place == MEMORY:
            available = storage.available_memory() if self.available is None else self.available
            reason = storage.lacking(bound(self.spec.costs.dataset_mb * 1_000_000), available)
            if reason is not None:
                raise storage.too_short(reason)
        elif condition.place != DISK:
            storage.on_device(Path(condition.place))

    def probe(self, places: Iterable[str]) -> None:
        """Times flushes in each of these places, records them, and warns where they are too uneven."""
        for place in dict.fromkeys(places):
            # Every file system in memory is alike, and its size is not known before there are data.
            folder = Path(warden.STORES) if place == MEMORY else self.folder(place, {})
            probed = flushing.probe(folder, place, storage.kind_of(folder))
            self.record.append(probed)
            if (line := flushing.warning(probed)) is not None:
                self.bench.say(line)


def bound(data: int) -> int:
    """Bytes that both sides' data in memory may take, for data sets of `data` bytes."""
    return SIDES * (2 * data + _GROWTH)
