"""Fixtures for all tests: a home of their own, a workbench, compilers, and builds of the fake engine."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, settings

from burnish.catalogue import load
from burnish.engines.contract import BuildJob
from burnish.engines.fake.engine import FakeEngine
from burnish.engines.testing import PlainBench as FakeBench
from burnish.model.recipe import Flags
from burnish.program.built import Built
from burnish.study.kept.machine import NONE, VARIABLE
from burnish.toolchain.toolchains import Toolchain, find_toolchains
from fakerun import tuned

# A shell that begins the tests in the background has them ignore SIGINT, and with them every program they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is the machine's business; a check tries the same examples each time, as Hypothesis's newer
# versions do by themselves where `CI` is set.
settings.register_profile(
    "burnish", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("burnish")

# Tests run side by side, and play several hosts on one machine.
os.environ[VARIABLE] = NONE

pytest_plugins = ["closing"]

FAKE_SOURCE = load.engine("fake").folder / "source"


LONGEST = ("study", "statistics", "frozen")
"""Folders whose tests run whole studies, or simulate many."""


def pytest_configure(config: pytest.Config) -> None:
    """Keeps compiled Python files for this session where the environment forbids them (containers often do).

    Tests start the command line some hundred times, and more than half of a short call's time is compiling its modules.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # workers inherit what the first process has set
        place = tempfile.mkdtemp(prefix="burnish-tests-pycache-")
        os.environ["PYTHONPYCACHEPREFIX"] = place
        config.add_cleanup(lambda: shutil.rmtree(place, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that measure get a second try: their figures come from a machine on which other tests run.

    The longest come first, and files in which something is measured before all others: of the workers none is then left
    with several of them, or begins one, while the others have no more to do.
    """
    here = Path(__file__).parent
    measuring = [item for item in items if item.get_closest_marker("measures") is not None]
    files = {item.path for item in measuring}
    items.sort(key=lambda item: (item.path not in files, item.path.relative_to(here).parts[0] not in LONGEST))
    for item in measuring:
        item.add_marker(pytest.mark.flaky(reruns=1))


class BuildFake(Protocol):
    """Builds the fake engine once for each combination of arguments in a test session."""

    def __call__(
        self,
        *flags: str,
        toolchain: Toolchain | None = None,
        options: tuple[tuple[str, str], ...] = (),
        features: str = "full",
    ) -> Built: ...


@pytest.fixture(autouse=True)
def burnish_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own: no test sees or changes the user's."""
    place = tmp_path / "burnish-home"
    monkeypatch.setenv("BURNISH_HOME", str(place))
    return place


@pytest.fixture
def bench(tmp_path: Path) -> FakeBench:
    """A workbench with its logs in the test's folder."""
    return FakeBench(tmp_path / "logs")


@pytest.fixture(scope="session")
def toolchains() -> list[Toolchain]:
    """All compilers of this machine."""
    return find_toolchains()


def _first(found: list[Toolchain], family: str) -> Toolchain:
    for toolchain in found:
        if toolchain.family == family:
            return toolchain
    pytest.skip(f"no {family} on this machine")


@pytest.fixture(scope="session")
def gcc(toolchains: list[Toolchain]) -> Toolchain:
    """The newest gcc; the test is skipped without one."""
    return _first(toolchains, "gcc")


@pytest.fixture(scope="session")
def clang(toolchains: list[Toolchain]) -> Toolchain:
    """The newest clang; the test is skipped without one."""
    return _first(toolchains, "clang")


@pytest.fixture
def fake_engine() -> FakeEngine:
    """The fake engine as the catalogue has it."""
    return FakeEngine(load.engine("fake"))


@pytest.fixture(scope="session")
def build_fake(tmp_path_factory: pytest.TempPathFactory, gcc: Toolchain) -> BuildFake:
    """A function that builds the fake engine, with gcc -O2 and the compile flags it is given."""
    root = tmp_path_factory.mktemp("fake-builds")
    made: dict[object, Built] = {}

    def build(
        *flags: str,
        toolchain: Toolchain | None = None,
        options: tuple[tuple[str, str], ...] = (),
        features: str = "full",
    ) -> Built:
        compilers = toolchain or gcc
        key = (flags, compilers.name, options, features)
        if key not in made:
            engine = FakeEngine(load.engine("fake"))
            name = f"{compilers.name}-{len(made)}"
            place = root / "place"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            job = BuildJob(
                source=FAKE_SOURCE,
                place=place,
                toolchain=compilers,
                flags=Flags(c=("-O2", "-g", *flags), cxx=(), link=()),
                features=engine.spec.features[features],
                options=options,
                hardening=True,
                with_tools=False,
                relocations=False,
                jobs=1,
                bench=FakeBench(root / "logs"),
            )
            engine.build(job)
            for path, where in engine.keep(job):
                shutil.copytree(path, root / name / where)
            made[key] = engine.built(name, root / name, name)
        return made[key]

    return build


@pytest.fixture(scope="session")
def sqlite_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for the real builds of SQLite: within `make test` one for all parts, since they take minutes."""
    kept = os.environ.get("BURNISH_TEST_KEPT")
    return (Path(kept) if kept else tmp_path_factory.mktemp("kept")) / "sqlite-home"


@pytest.fixture(scope="session")
def tuned_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run of baseline, a faster build, one that weakens security and one that fails its gate."""
    return tuned(tmp_path_factory.mktemp("packages"), "speed400", "unsafe", "wrong")
