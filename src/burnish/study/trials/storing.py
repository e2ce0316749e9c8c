"""Where the data of a study's sides are: on Burnish's disk, in memory, or on a device that the user named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base import storage, warden
from burnish.base.files import size_of
from burnish.base.workbench import Workbench
from burnish.bench import flushing
from burnish.model.condition import DISK, MEMORY, Condition
from burnish.model.engine import EngineSpec
from burnish.model.workload import Workload
from burnish.record.events.trials import FlushesProbed, StartBegun
from burnish.record.record import Record
from burnish.record.store import Entry
from burnish.workload.conditions import storage_of

SIDES = 2
_GROWTH = 512 << 20
"""Bytes by which a side's data may grow in a start: logs of changes, of undone rows, of the server."""


@dataclass
class Storing:
    """Decides where data are, and makes the folders.

    Attributes:
        scratch: folder on Burnish's disk.
        record: the study's: starts that are continued stay where they were.
        bench: for lines to the user.
        spec: the engine.
        available: bytes of memory that are available; None: as the kernel says.
    """

    scratch: Path
    record: Record
    bench: Workbench
    spec: EngineSpec
    available: int | None = None
    _short: bool = field(default=False)

    def storage(self, workload: Workload, condition: Condition) -> str:
        """Where the data of a load are under a condition; on disk where memory is too short for the usual place."""
        if condition.storage:
            return condition.storage
        if workload.writes and (earlier := self._earlier(workload)) is not None:
            return earlier
        wanted = storage_of(workload, condition)
        if wanted == MEMORY and (reason := self._lacking(bound(self.spec.costs.dataset_mb * 1_000_000))) is not None:
            if not self._short:
                self.bench.say(f"{workload.name}: its data stay on the disk: {reason}")
                self._short = True
            return DISK
        return wanted

    def _earlier(self, workload: Workload) -> str | None:
        for recorded in self.record.events(StartBegun):
            if recorded.event.cell.workload == workload.name:
                return next(iter((recorded.event.storage or {}).values()), DISK)
        return None

    def _lacking(self, size: int) -> str | None:
        available = storage.available_memory() if self.available is None else self.available
        return storage.lacking(size, available)

    def folder(self, place: str, data: Mapping[str, Entry]) -> Path:
        """The folder for data there, made if needed.

        Args:
            place: see `storage`.
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
        if condition.storage == MEMORY:
            reason = self._lacking(bound(self.spec.costs.dataset_mb * 1_000_000))
            if reason is not None:
                raise storage.too_short(reason)
        elif condition.storage not in ("", DISK):
            storage.on_device(Path(condition.storage))

    def probe(self, places: Iterable[str]) -> None:
        """Times flushes in each of these places, records them, and warns where they are too uneven."""
        for place in dict.fromkeys(places):
            # Every file system in memory is alike, and its size is not known before there are data.
            folder = Path(warden.STORES) if place == MEMORY else self.folder(place, {})
            probed = flushing.probe(folder, place, storage.kind_of(folder))
            self.record.append(probed)
            if (line := flushing.warning(probed)) is not None:
                self.bench.say(line)

    def probed(self, place: str) -> FlushesProbed | None:
        """The latest probe there."""
        found = [recorded.event for recorded in self.record.events(FlushesProbed) if recorded.event.storage == place]
        return found[-1] if found else None


def bound(data: int) -> int:
    """Bytes that both sides' data in memory may take, for data sets of `data` bytes."""
    return SIDES * (2 * data + _GROWTH)
