"""The sides' copies of the loads' data: each start has clean ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.bench import datasets
from burnish.model.workload import Workload
from burnish.record.store import Entry


@dataclass(frozen=True)
class Copies:
    """Where the sides' data are.

    Attributes:
        data: dataset entries by workload name; a load without one has an empty folder.
        scratch: private folder.
        bench: recorded processes.
    """

    data: Mapping[str, Entry]
    scratch: Path
    bench: Workbench

    def place(self, workload: Workload, side: int) -> Path:
        """Where a side's copy of the workload's data is; each dataset has places of its own."""
        entry = self.data.get(workload.name)
        return self.scratch / (f"data{side}-{entry.key}" if entry else f"no-data{side}")

    def clean(self, workload: Workload, sides: int) -> list[Path]:
        """Puts a clean copy of the workload's data at each side's place; returns the places.

        Copies that nothing wrote to are used again: a file beside them says that they are clean.
        """
        entry = self.data.get(workload.name)
        places = [self.place(workload, side) for side in range(sides)]
        for place in places:
            if entry is None:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(mode=0o700, parents=True)
                continue
            clean = place.with_name(f"{place.name}.clean")
            if not clean.exists():
                datasets.copy(entry, place, self.bench)
            if workload.writes:
                clean.unlink(missing_ok=True)
            else:
                clean.touch()
        os.sync()
        return places
