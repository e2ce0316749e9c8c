"""What is kept and what goes: by age, then by size; records of studies never."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.base import paths
from burnish.base.paths import Home
from burnish.profiles.kept import give_name
from burnish.record.events.study import RecordImported, StudyBegun, StudyFinished
from burnish.record.record import FILE, Record
from burnish.record.store import DESCRIPTION, KINDS, Store
from burnish.study.kept.cleaning import DAY_S, Kept, choose, inventory, remove, sweep

ALL_KINDS = (*KINDS, "downloads", "work", "scratch", "ccache", "thinlto", "studies")


def kept(name: str, kind: str = "builds", size: int = 100, age: float = 0.0) -> Kept:
    return Kept(kind, name, "", Path("/nowhere") / kind / name, size, age)


def names(items: list[Kept]) -> list[str]:
    return [item.name for item in items]


ITEMS = [kept("old", age=30 * DAY_S), kept("large", size=1000, age=DAY_S), kept("new", size=50, age=10)]


@pytest.mark.parametrize(
    ("older", "bound", "gone"),
    [
        (None, None, []),
        (7 * DAY_S, None, ["old"]),
        (0.0, None, ["old", "large", "new"]),
        (40 * DAY_S, None, []),
        (None, 2000, []),
        (None, 1150, []),
        (None, 1149, ["old"]),
        (None, 1000, ["old", "large"]),
        (None, 0, ["old", "large", "new"]),
        (7 * DAY_S, 1050, ["old"]),
        (7 * DAY_S, 1049, ["old", "large"]),
    ],
)
def test_choose(older: float | None, bound: int | None, gone: list[str]) -> None:
    assert names(choose(ITEMS, older_s=older, bound=bound)) == gone


KEPT = st.builds(
    kept,
    st.text("abc", min_size=1, max_size=3),
    kind=st.sampled_from(ALL_KINDS),
    size=st.integers(0, 1000),
    age=st.floats(0, 1e7),
)


@given(
    st.lists(KEPT, max_size=12, unique_by=lambda item: (item.kind, item.name)),
    st.none() | st.floats(0, 1e7),
    st.none() | st.integers(0, 5000),
)
def test_whatever_is_asked(items: list[Kept], older: float | None, bound: int | None) -> None:
    before = list(items)
    gone = choose(items, older_s=older, bound=bound)
    assert items == before, "pure"
    assert gone == choose(items, older_s=older, bound=bound)
    assert len(set(map(id, gone))) == len(gone)
    assert not [item for item in gone if item.kind == "studies"], "a record can't be made again"
    stays = [item for item in items if item not in gone and item.kind != "studies"]
    if older is not None:
        assert all(item.age_s <= older for item in stays)
    if bound is not None:
        assert sum(item.size for item in stays) <= bound
    young = [item for item in gone if older is None or item.age_s <= older]
    if bound is None:
        assert young == []
    for item in young:
        assert all(item.age_s >= other.age_s for other in stays), "the longest unused goes first"
    if young and bound is not None:
        youngest = min(young, key=lambda item: item.age_s)
        total = sum(item.size for item in stays)
        assert total + sum(item.size for item in young if item.age_s == youngest.age_s) > bound, "no more than needed"


@pytest.fixture
def home() -> Home:
    home = paths.home()
    store = Store(home.store)
    for kind, about in (
        ("builds", {"engine": "fake", "toolchain": "gcc-12", "instrumented": True}),
        ("profiles", {"engine": "fake", "kind": "clang"}),
        ("gates", {}),
    ):
        (store.begin(kind, f"{kind}-key") / "file").write_bytes(b"x" * 50_000)
        store.admit(kind, f"{kind}-key", about)
    (home.downloads / "fake_1.0").mkdir(parents=True)
    (home.downloads / "fake_1.0/archive.tar").write_bytes(b"x" * 20_000)
    (home.downloads / "loose.tar").write_bytes(b"x" * 10_000)
    home.work("fake").mkdir(parents=True)
    (home.work("fake") / "object.o").write_bytes(b"x" * 30_000)
    (home.scratch / "fake").mkdir(parents=True)
    (home.store / "thinlto").mkdir()
    (home.store / "thinlto/llvmcache-1").write_bytes(b"x" * 40_000)
    (home.store / "thinlto/llvmcache-2").write_bytes(b"x" * 40_000)
    with closing(Record(home.studies / "fake-tune-1", create=True)) as record:
        record.append(StudyBegun("fake-tune-1", {}))
    return home


def test_inventory_is_everything(home: Home) -> None:
    items = inventory(home)
    found = {(item.kind, item.name): item for item in items}
    assert set(found) == {
        ("builds", "builds-key"),
        ("profiles", "profiles-key"),
        ("gates", "gates-key"),
        ("downloads", "fake_1.0"),
        ("downloads", "loose.tar"),
        ("work", "fake"),
        ("scratch", "fake"),
        ("thinlto", "thinlto"),
        ("studies", "fake-tune-1"),
    }
    assert found["builds", "builds-key"].what == "fake instrumented gcc-12"
    assert found["profiles", "profiles-key"].what == "fake clang"
    assert found["builds", "builds-key"].size >= 50_000
    assert found["thinlto", "thinlto"].size >= 80_000
    assert found["downloads", "loose.tar"].size >= 10_000
    assert all(0 <= item.age_s < 3600 for item in items)
    downloads = [item.name for item in items if item.kind == "downloads"]
    assert downloads == ["fake_1.0", "loose.tar"], "largest first within a kind"


def test_age_is_since_last_use(home: Home) -> None:
    path = home.store / "builds/builds-key" / DESCRIPTION
    then = time.time() - 3 * DAY_S
    os.utime(path, (then, then))
    (item,) = (item for item in inventory(home) if item.kind == "builds")
    assert item.age_s == pytest.approx(3 * DAY_S, abs=60)


def test_source_packages_are_items_of_their_own(home: Home) -> None:
    for name in ("fake_1.0-1", "fake_1.0-2"):
        (home.downloads / "debian" / name).mkdir(parents=True)
    (home.downloads / "debian/.lock").touch()
    names = {item.name for item in inventory(home) if item.kind == "downloads"}
    assert {"debian/fake_1.0-1", "debian/fake_1.0-2"} <= names
    assert not any(name == "debian" or ".lock" in name for name in names)


def test_packages_and_logs_of_single_builds_are_items(home: Home) -> None:
    for name in ("packages/mariadb", "verified/0a1b", "micro/20261201-000000", "logs/build"):
        (home.root / name).mkdir(parents=True)
    found = {(item.kind, item.name) for item in inventory(home)}
    expected = {("packages", "mariadb"), ("verified", "0a1b"), ("micro", "20261201-000000"), ("logs", "build")}
    assert expected <= found


def test_what_work_with_hosts_has_left_goes_and_what_goes_on_stays(home: Home) -> None:
    """Each task on a worker leaves files, a log and a record, for good."""
    left = ("files/0a1b/own.toml", "builds/fake-tune-1/record", "logs/build-key.log", "results/ended/one.jsonl.xz",
            "tasks/bench-ended/answer.json", "tasks/bench-open/begun.json", "results/open/one.jsonl.xz",
            "join/address.json", "dask/x")  # fmt: skip
    for name in left:
        place = home.root / "hosts" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("{}")
    campaigns = home.root / "hosts" / "campaigns"
    campaigns.mkdir()
    (campaigns / "digest.json").write_text('{"name": "open"}')
    items = [item for item in inventory(home) if item.kind == "hosts"]
    assert {item.name for item in items} == {
        *("files/0a1b", "builds/fake-tune-1", "logs/build-key.log", "results/ended", "tasks/bench-ended")
    }
    remove(home, choose(items, older_s=None, bound=0))
    here = {str(path.relative_to(home.root / "hosts")) for path in (home.root / "hosts").rglob("*") if path.is_file()}
    assert here == {*left[5:], "campaigns/digest.json"}


def test_what_could_not_be_removed_is_not_said_to_be_freed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (item,) = (item for item in inventory(home) if item.name == "fake_1.0")
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    assert remove(home, [item]) == 0


def test_what_is_removed_half_is_not_taken_for_what_it_was(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill in the midst of a removal leaves the marker of a source's tree, by which the tree is taken as complete."""
    (home.downloads / "debian/fake_1.0-1").mkdir(parents=True)
    (home.downloads / "debian/fake_1.0-1/archive.tar").write_bytes(b"x" * 20_000)
    doomed = [item for item in inventory(home) if item.name in ("fake", "debian/fake_1.0-1", "fake-tune-1")]
    assert len(doomed) == 4
    with monkeypatch.context() as killed:
        killed.setattr("shutil.rmtree", lambda *_, **__: None)
        remove(home, doomed)
    assert not any(item.folder.exists() for item in doomed)
    assert not {(item.kind, item.name) for item in doomed} & {(item.kind, item.name) for item in inventory(home)}
    assert not any(".removed" in item.name for item in inventory(home))
    left = sweep(home)
    assert sorted(path.name for path in left) == [".removed-fake", ".removed-fake", ".removed-fake-tune-1",
                                                  ".removed-fake_1.0-1"]  # fmt: skip
    assert not any(path.exists() for path in left)
    assert sweep(home) == []


def test_a_link_to_a_folder_stays(home: Home, tmp_path: Path) -> None:
    (home.downloads / "elsewhere").symlink_to(tmp_path)
    remove(home, [item for item in inventory(home) if item.name == "elsewhere"])
    assert (home.downloads / "elsewhere").is_symlink()


def test_what_goes_is_gone_and_the_rest_stays(home: Home) -> None:
    items = inventory(home)
    doomed = [item for item in items if item.name in ("builds-key", "fake_1.0", "loose.tar")]
    assert remove(home, doomed) == sum(item.size for item in doomed)
    left = {(item.kind, item.name) for item in inventory(home)}
    assert left == {(item.kind, item.name) for item in items if item not in doomed}
    assert not list((home.store / "builds").iterdir())


def test_everything_may_go_but_the_studies(home: Home) -> None:
    remove(home, choose(inventory(home), older_s=None, bound=0))
    assert [(item.kind, item.name) for item in inventory(home) if item.size] == [("studies", "fake-tune-1")]
    with closing(Record(home.studies / "fake-tune-1")) as record:
        assert record.last(StudyBegun) is not None
    assert (home.studies / "fake-tune-1" / FILE).is_file()


def test_an_unfinished_run_goes_when_it_is_asked_for_and_no_other(home: Home) -> None:
    with closing(Record(home.studies / "fake-tune-2", create=True)) as record:
        record.append(StudyBegun("fake-tune-2", {}))
        record.append(StudyFinished())
    with closing(Record(home.studies / "fake-tune-3", create=True)) as record:
        record.append(StudyBegun("fake-tune-3", {}))
        record.append(RecordImported("elsewhere.jsonl"))
    (home.studies / "fake-tune-4").mkdir()
    (home.studies / "fake-tune-4" / FILE).write_text("no record")
    items = inventory(home)
    assert names([item for item in items if item.unfinished]) == ["fake-tune-1"]
    assert names(choose(items, older_s=None, bound=None, unfinished=True)) == ["fake-tune-1"]
    assert names(choose(items, older_s=DAY_S, bound=None, unfinished=True)) == []
    assert names(choose(items, older_s=None, bound=None)) == []
    remove(home, choose(items, older_s=None, bound=None, unfinished=True))
    assert sorted(path.name for path in home.studies.iterdir()) == ["fake-tune-2", "fake-tune-3", "fake-tune-4"]


def test_a_profile_with_a_name_stays(burnish_home: Path) -> None:
    store = Store(burnish_home / "store")
    for key in ("named", "other"):
        store.begin("profiles", key)
        store.admit("profiles", key, {"engine": "fake", "kind": "clang"})
    give_name(store, "mine", "named")
    items = inventory(Home(burnish_home))
    assert [item.what for item in items if item.name == "named"] == ["fake clang mine"]
    assert "named" not in names(choose(items, older_s=0.0, bound=0))
    assert "other" in names(choose(items, older_s=-1.0, bound=None))
