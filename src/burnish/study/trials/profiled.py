"""What kind of comparison a record's cells are, by how far such ratios move between sittings; pure.

Where the sides differ in their profile they move more than in other duets; where they do not, and take turns on a load
that commits, ratios move most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from burnish.model.cell import CellId
from burnish.model.sittings import SpreadKind
from burnish.model.workload import Design
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.events.trials import TrialsPlanned


class Profiles:
    """The profiles of a record's builds, and which of its loads commit.

    Args:
        made: builds.
        found: existing programs; nothing is known of how these were made.
        planned: the trials, which describe their loads.
    """

    def __init__(
        self, made: Iterable[BuildMade], found: Iterable[ProgramFound], planned: Iterable[TrialsPlanned] = ()
    ) -> None:
        self._commit = {name for trials in planned for name, load in trials.workloads.items() if load.writes}
        self._profile: dict[str, str | None] = {}
        self._key: dict[str, str] = {}
        for build in made:
            if "profile" in build.about:
                self._profile[build.key] = build.about["profile"]
            self._key.setdefault(build.build.variant, build.key)
        for program in found:
            self._key.setdefault(program.build.variant, program.key)

    def kind(self, cell: CellId, design: Design, builds: Mapping[str, str] | None = None) -> SpreadKind | None:
        """The kind of a start of a cell by what is known of such ratios in other sittings.

        Args:
            cell: the cell.
            design: of the start.
            builds: as in `differ`.

        Returns:
            None if it is not known whether a side has a profile that the other has not, or if neither has one and the
            sides take turns on a load that does not commit, which was never measured in two sittings; on one that
            commits most is assumed for both.
        """
        differ = self.differ(cell, builds)
        if differ:
            return SpreadKind.PROFILED
        if design is not Design.DUET and cell.workload in self._commit:
            return SpreadKind.COMMITTING
        return SpreadKind.ALIKE if differ is False and design is Design.DUET else None

    def differ(self, cell: CellId, builds: Mapping[str, str] | None = None) -> bool | None:
        """Whether a side of a cell has a profile (PGO, BOLT) that the other has not; None if that is not known.

        Args:
            cell: the cell.
            builds: the key of each side's build, the base's first, as a start recorded them; older records have none.
        """
        names = (cell.base or next(iter(self._key), ""), cell.candidate)
        keys = tuple((builds or {}).values())
        if len(keys) != 2:
            keys = tuple(self._key.get(name, "") for name in names)
        if keys[0] and keys[0] == keys[1]:
            return False
        # A replicate that the record does not describe has the profile of its variant.
        sides = [key if key in self._profile else self._key.get(name) for key, name in zip(keys, names, strict=True)]
        if any(key not in self._profile for key in sides):
            return None
        base, candidate = (self._profile[key] for key in sides if key is not None)
        return base != candidate
