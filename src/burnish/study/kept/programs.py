"""Where the program of a run's variant lies: in the store, or where it was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.record.events import Event, Recorded
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.store import Store


def program_of(
    home: Home | None, engine: str, variant: str, events: Sequence[Recorded[Event]], *, checked: bool = True
) -> Path | None:
    """The program that was measured as a variant; None if it is not on this machine, or no longer in the store.

    Args:
        home: where the store is; None: nowhere.
        engine: the engine's name.
        variant: the variant's name, or that of an existing program.
        events: the run's record; see `key_of`.
        checked: whether its build is read and compared with its digests; False where only its place is said.
    """
    found = [one.event for one in events if isinstance(one.event, ProgramFound)]
    path = next((Path(event.path) for event in reversed(found) if event.build.variant == variant), None)
    key = key_of(variant, events)
    if key is not None and home is not None and home.store.is_dir():  # a home that is only read gets no store
        store = Store(home.store)
        entry = store.find("builds", key) if checked else store.named("builds", key)
        path = create(load.engine(engine)).built(variant, entry.folder, key).server if entry else None
    return path if path is not None and path.is_file() else None


def key_of(variant: str, events: Sequence[Recorded[Event]]) -> str | None:
    """Key of the build that was measured as a variant; None of an existing program.

    It is the variant's last one; of replicates the first, where it has no build beside them: other link orders, which
    are made after it, are no replacement of what was measured.
    """
    made = [one.event for one in events if isinstance(one.event, BuildMade) and one.event.build.variant == variant]
    keys = {event.build.replicate: event.key for event in made}
    return keys.get(0, keys.get(1))
