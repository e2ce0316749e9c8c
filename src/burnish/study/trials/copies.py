"""The sides' copies of the loads' data; each start gets clean ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.bench import datasets
from burnish.engines.contract import MARKER
from burnish.model.workload import Workload
from burnish.record.store import Entry


@dataclass(frozen=True)
class Copies:
    """Makes and finds the sides' copies of data sets.

    Attributes:
        data: dataset entries by workload name; a load without one has an empty folder.
        scratch: private folder.
        bench: recorded processes.
        upgraded: whether servers of several versions use them: a newer one may change data that no load writes to, so
            that an older one can't read them any more.
    """

    data: Mapping[str, Entry]
    scratch: Path
    bench: Workbench
    upgraded: bool = False

    def place(self, workload: Workload, side: int, root: Path | None = None) -> Path:
        """The folder of a side's copy of the workload's data; each dataset has its own folders."""
        entry = self.data.get(workload.name)
        return (root or self.scratch) / (f"data{side}-{entry.key}" if entry else f"no-data{side}")

    def clean(self, workload: Workload, sides: int, roots: Sequence[Path] = ()) -> list[Path]:
        """Makes a clean copy of the workload's data for each side; returns the folders.

        Copies that nothing has written to are used again; a file beside them marks them as clean.

        Args:
            workload: the load.
            sides: number of sides.
            roots: folder for each side's copy, where other data are removed to make room; empty: `scratch` for all.
        """
        entry = self.data.get(workload.name)
        places = [self.place(workload, side, roots[side] if roots else None) for side in range(sides)]
        for root in set(roots) - {self.scratch}:
            for other in root.iterdir():
                if other.is_dir() and other not in places:
                    _mark(other).unlink(missing_ok=True)
                    shutil.rmtree(other, ignore_errors=True)
        for place in places:
            if entry is None:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(mode=0o700, parents=True)
                continue
            clean = _mark(place)
            if not (clean.exists() and (place / MARKER).is_file()):
                datasets.copy(entry, place, self.bench)
            if workload.writes or self.upgraded:
                clean.unlink(missing_ok=True)
            else:
                clean.touch()
        os.sync()
        return places


def _mark(place: Path) -> Path:
    """The file beside a copy that says that nothing has written to it."""
    return place.with_name(f"{place.name}.clean")
