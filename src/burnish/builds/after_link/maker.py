"""Makes the stages after the link, and keeps what they make."""

from __future__ import annotations

import time
from dataclasses import dataclass

from burnish.base.errors import InfrastructureError
from burnish.base.files import linked_copy
from burnish.builds import witness
from burnish.builds.after_link.stage import AfterLink, Workplace
from burnish.builds.reproducer import SCRIPT
from burnish.engines.contract import Engine
from burnish.record.costs import Cost
from burnish.record.store import DESCRIPTION, Entry, Store
from burnish.record.workbench import Bench


@dataclass
class AfterLinkMaker:
    """Makes the stages that work on a finished program.

    Attributes:
        engine: the engine.
        store: where builds are read and written.
        bench: recorded processes and progress.
    """

    engine: Engine
    store: Store
    bench: Bench

    def make(self, stage: AfterLink, name: str) -> Entry:
        """Makes the stage's build and returns its entry."""
        expected = self.store.cost(self.engine.spec.name, stage.title, name)
        with self.bench.step(f"{name}: {stage.title}", f"{stage.title}-{name}-{stage.key}", expected):
            base = self.store.find("builds", stage.build)
            if base is None:
                raise InfrastructureError(f"build {stage.build} is not in the store; run the same command again")
            began = time.monotonic()
            folder = self.store.begin("builds", stage.key)
            linked_copy(base.folder, folder, DESCRIPTION, SCRIPT)
            place = Workplace(self.engine, self.bench, name, base, folder, stage.key)
            facts = stage.apply(place)
            seconds = time.monotonic() - began
            built = place.built
            facts |= _script(stage, place)
            about = {
                **base.about,
                **facts,
                "base": base.key,
                "seconds": seconds,
                "server_bytes": built.server.stat().st_size,
            }
            entry = self.store.admit("builds", stage.key, about)
            self.store.costs.note(self.engine.spec.name, stage.title, name, Cost(seconds, kept=entry.size()))
            return entry


def _script(stage: AfterLink, place: Workplace) -> dict[str, object]:
    """Writes the script that repeats the stage, if there is one of its base; facts about it."""
    making = witness.read(place.base.about)
    if making is None:
        return {}
    making = stage.script(making, place)
    witness.leave(making, place.folder)
    return {"sha256": making.sha256, "making": witness.described(making)}
