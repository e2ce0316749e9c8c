"""Where the program of a variant lies: saying so reads none of it, using it reads all of it."""

from __future__ import annotations

from pathlib import Path

from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.model.cell import BuildId
from burnish.record.events import Recorded
from burnish.record.events.builds import BuildMade
from burnish.record.store import Store
from burnish.study.kept.programs import key_of, program_of


def test_a_changed_program_has_a_place_and_is_not_used(tmp_path: Path) -> None:
    home = Home(tmp_path)
    store = Store(home.store)
    engine = create(load.engine("fake"))
    server = engine.built("fast", store.begin("builds", "k1"), "k1").server
    server.parent.mkdir()
    server.write_text("program")
    path = engine.built("fast", store.admit("builds", "k1", {}).folder, "k1").server
    events = [Recorded(1, "2026-11-26T09:00:00Z", BuildMade(BuildId("fast"), "k1", {}))]
    assert program_of(home, "fake", "fast", events) == path
    path.write_text("changed")
    assert program_of(home, "fake", "fast", events, checked=False) == path
    assert program_of(home, "fake", "fast", events) is None
    path.unlink()
    assert program_of(home, "fake", "fast", events, checked=False) is None


def test_other_link_orders_afterwards_are_not_what_was_measured() -> None:
    def made(replicate: int, key: str) -> Recorded[BuildMade]:
        return Recorded(1, "2026-11-26T09:00:00Z", BuildMade(BuildId("fast", replicate), key, {}))

    measured = [made(0, "before"), made(0, "measured")]
    relinked = [made(number, f"order {number}") for number in range(1, 7)]
    assert key_of("fast", [*measured, *relinked]) == "measured"
    assert key_of("fast", relinked) == "order 1"
    assert key_of("fast", relinked[1:]) is None
