"""A build that was removed and made again is another program of the same key: nothing of the former counts for it."""

from __future__ import annotations

import shutil
from contextlib import closing, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.builds.evidence import CONTENT, Examiner, known_same
from burnish.catalogue import load
from burnish.engines.fake.engine import FakeEngine
from burnish.engines.gate_report import GateReport
from burnish.model.recipe import Recipe
from burnish.program import elf
from burnish.program.built import Built
from burnish.record.events.builds import GateRun
from burnish.record.record import Record
from burnish.record.store import Store
from burnish.study.builds.make import Maker

SPEC = load.engine("fake")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def kept(store: Store, key: str, of: Built) -> Built:
    """A program as the store's build of this key, in the place of one that was there."""
    shutil.copytree(of.folder, store.begin("builds", key), dirs_exist_ok=True)
    folder = store.admit("builds", key, {"engine": "fake"}).folder
    return FakeEngine(SPEC).built("variant", folder, key)


def test_facts_are_read_again(store: Store, build_fake: Any, bench: Any, tmp_path: Path) -> None:
    slow, fast = build_fake(), build_fake("-DFAKE_SPEED=130")
    examiner = Examiner(FakeEngine(SPEC), store, bench, tmp_path / "scratch")
    base, before = kept(store, "base", slow), kept(store, "key", slow)
    facts = examiner.look(before)
    assert examiner.look(base)["program"]["code"] == facts["program"]["code"]
    assert examiner.changed(before, base)["differ"] == []
    variants = [("baseline", Recipe(), "base"), ("variant", Recipe(), "key")]
    assert known_same(variants, store) == {"key"}
    now = kept(store, "key", fast)
    assert known_same(variants, store) == frozenset(), "a plan takes what was known of the former for nothing"
    assert examiner.look(now)["program"]["code"] != facts["program"]["code"]
    assert examiner.changed(now, base)["differ"] != []
    store.remove(next(entry for entry in store.entries("builds") if entry.key == "key"))
    kept(store, "key", slow)
    examiner.look(now)
    assert known_same(variants, store) == {"key"}


def test_tests_are_run_again(store: Store, build_fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the build id is the same, as BOLT leaves it."""
    monkeypatch.setattr(elf, "build_id", lambda _: "1d")
    engine = SimpleNamespace(spec=SPEC, gate=lambda *_: GateReport(True, 3, 0, (), "1d", 1.0))
    chain = cast("Any", SimpleNamespace(stages=(SimpleNamespace(key="key"),), final="key"))
    with closing(Record(tmp_path / "study", create=True)) as record:
        maker = SimpleNamespace(
            engine=engine, store=store, record=record, scratch=tmp_path / "scratch", tools=object(),
            bench=SimpleNamespace(step=lambda *_: nullcontext(), say=print), _note=lambda *_: None,
            _say_late=lambda *_: None,
        )  # fmt: skip
        for program in (build_fake(), build_fake(), build_fake("-DFAKE_SPEED=130"), build_fake("-DFAKE_SPEED=130")):
            Maker._gate(cast("Maker", maker), chain, kept(store, "key", program))
        taken = [recorded.event.cached for recorded in record.events(GateRun)]
    assert taken == [False, True, False, True]
    assert CONTENT in next(store.entries("gates")).about
