"""Before each start, the sides' programs are dropped from the page cache, so that all are launched alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from burnish.base.workbench import Workbench
from burnish.bench.pairs import Contestant
from burnish.program import cached
from burnish.record.events.trials import StartBegun
from burnish.record.record import Record

LEFT = 0.05
"""Share of a program's pages in the page cache from which on a line says that it could not be dropped."""


@dataclass
class Dropping:
    """Drops programs from the page cache.

    Attributes:
        record: the run's; one whose earlier starts were launched as files lay in the cache goes on so.
        bench: for the line about a program that stays in the cache.
        keep: whether programs are launched as their files lie in the cache, as in Burnish 0.1.0.
    """

    record: Record
    bench: Workbench
    keep: bool = False
    _decided: bool = field(default=False, init=False)
    _said: bool = field(default=False, init=False)

    def drop(self, sides: Sequence[Contestant]) -> dict[str, float | None] | None:
        """The share of each side's program that is still in the cache, by label; None if nothing is dropped.

        A share is None where the kernel does not tell it.
        """
        if not self._decided:
            before = self.record.last(StartBegun)
            self.keep = self.keep or (before is not None and before.event.cached is None)
            self._decided = True
        if self.keep:
            return None
        left = {side.label: cached.drop(cached.files_of(side.built)) for side in sides}
        stays = [side for side in sides if (left[side.label] or 0.0) > LEFT]
        if stays and not self._said:
            self._said = True
            self.bench.say(
                f"{stays[0].built.server}: {left[stays[0].label]:.0%} of it stays in memory (a process has it mapped, "
                "or its file system is in memory): it is measured as it lies there, which can be worth 1 to 2 %"
            )
        return left
