"""Whether the sides of a record's cells differ in their profile: such ratios move more between sittings; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from burnish.model.cell import CellId
from burnish.model.workload import Design
from burnish.record.events.builds import BuildMade, ProgramFound


class Profiles:
    """The profiles of a record's builds.

    Args:
        made: builds.
        found: existing programs; nothing is known of how these were made.
    """

    def __init__(self, made: Iterable[BuildMade], found: Iterable[ProgramFound]) -> None:
        self._profile: dict[str, str | None] = {}
        self._key: dict[str, str] = {}
        for build in made:
            if "profile" in build.about:
                self._profile[build.key] = build.about["profile"]
            self._key.setdefault(build.build.variant, build.key)
        for program in found:
            self._key.setdefault(program.build.variant, program.key)

    def kind(self, cell: CellId, design: Design, builds: Mapping[str, str] | None = None) -> bool | None:
        """The kind of a start of a cell by what is known of such ratios in other sittings.

        Args:
            cell: the cell.
            design: of the start.
            builds: as in `differ`.

        Returns:
            True if a side has a profile that the other has not; False if it is a duet and none has; None if that is not
            known, or if neither has one but the sides take turns: such ratios move more than those of a duet do.
        """
        differ = self.differ(cell, builds)
        return differ if differ or design is Design.DUET else None

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
