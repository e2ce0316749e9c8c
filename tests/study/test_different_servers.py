"""Programs of different servers are not compared; those of two versions of one are, and both are named."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.console import Console

from burnish.base.errors import InfrastructureError, UserError
from burnish.base.paths import home
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines import recognising
from burnish.engines.fake.engine import FakeEngine, FakeSide
from burnish.model.recipe import Recipe, Variant
from burnish.program.built import Built, Identity
from burnish.study import runner
from burnish.study.builds.make import Made
from burnish.study.builds.programs import differences, of_one_format, of_one_product, older, several_versions
from burnish.study.constructors.compare import compare_study
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked
from burnish.study.why import sampling
from burnish.study.workshop import group
from conftest import BuildFake

OTHER = b"\x7fELF of another server"


class OtherEngine(FakeEngine):
    """Another server, known by what its program holds."""

    def existing(self, program: Path) -> Built:
        if program.read_bytes() != OTHER:
            raise UserError(f"{program}: not the other server")
        return Built(str(program), program.parent, program, "other")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, build_fake: BuildFake, tmp_path: Path) -> list[Path]:
    """A program of the fake engine, and one of another engine."""
    spec = load.engine("fake")
    other = replace(spec, name="other", title="the other server", implementation=f"{__name__}:OtherEngine")
    engines: Mapping[str, object] = {**load.engines(), "other": other}
    monkeypatch.setattr(load, "engines", lambda: engines)
    (tmp_path / "other").write_bytes(OTHER)
    return [build_fake().server, tmp_path / "other"]


def test_two_engines_programs_are_refused(programs: list[Path], burnish_home: Path) -> None:
    says = f"is the fake engine and {programs[1]} is the other server: different servers"
    for asked in (
        lambda: compare_study("fake", programs, Options()),
        lambda: sampling.requested(home(), str(programs[0]), str(programs[1]), None, None),
        lambda: sampling.requested(home(), str(programs[0]), str(programs[1]), None, "fake"),
    ):
        with pytest.raises(UserError) as raised:
            asked()
        assert says in str(raised.value)
        assert "\n" not in str(raised.value)
    with pytest.raises(UserError, match=f"^--engine fake is the fake engine and {programs[1]} is the other server"):
        compare_study("fake", programs[::-1], Options())


def test_a_program_of_no_engine_is_refused_in_its_engines_words(programs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "none").write_bytes(b"\x7fELF of nothing")
    assert recognising.engine_of(tmp_path / "none") is None
    with pytest.raises(UserError, match=r"none: no program of the fake engine; name a bin/server"):
        compare_study("fake", [programs[0], tmp_path / "none"], Options())


def made(name: str, version: str, product: str) -> Made:
    return Made(Variant(name, Recipe(), ""), None, Identity(version, (), "", product))


def test_products_of_one_engine_are_told_apart_and_versions_are_not() -> None:
    one, newer, fork = made("a", "8.0", "MySQL"), made("b", "9.7", "MySQL"), made("c", "8.0", "Percona Server")
    of_one_product(one, newer)
    of_one_product(one, made("d", "8.0", ""))
    with pytest.raises(UserError, match=r"^a is MySQL and c is Percona Server: different servers"):
        of_one_product(one, fork)
    assert one.identity is not None
    assert newer.identity is not None
    assert differences(one.identity, newer.identity) == ["version: 8.0 against 9.7"]


def test_the_older_program_is_found_by_the_first_number_of_its_version() -> None:
    old, new = made("a", "8.4.8-8 for Linux on x86_64", ""), made("b", "8.4.10 for Linux on x86_64", "")
    assert older(old, new) is older(new, old) is old
    assert several_versions([old, new])
    packaged, unknown = made("c", "8.4.10-1~deb13 for Linux", ""), made("d", "", "")
    assert older(new, packaged) is new
    assert not several_versions([new, packaged])
    assert older(new, unknown) is unknown


def test_major_versions_that_do_not_read_one_anothers_data_are_refused() -> None:
    spec, one = load.engine("postgresql"), made("a", "15.18 (Debian 15.18-0+deb12u1)", "")
    of_one_format(spec, one, made("b", "15.2", ""))
    of_one_format(load.engine("mysql"), one, made("c", "16.2", ""))
    with pytest.raises(UserError, match=r"^a is PostgreSQL 15.18 \(Debian .*\) and c is 16.2: neither reads") as raised:
        of_one_format(spec, one, made("c", "16.2", ""))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("newer_first", [False, True])
def test_two_versions_begin_with_clean_data_of_the_older(
    monkeypatch: pytest.MonkeyPatch, build_fake: BuildFake, burnish_home: Path, *, newer_first: bool
) -> None:
    makers = []
    usual = FakeEngine.create_dataset

    def create(self: FakeEngine, built: Built, *others: Any) -> None:
        makers.append(built.name)
        usual(self, built, *others)

    def trials(**words: Any) -> None:
        raise UserError(f"upgraded={words['upgraded']}")

    monkeypatch.setattr(FakeEngine, "create_dataset", create)
    monkeypatch.setattr(group, "Trials", trials)
    programs = {"old": build_fake("-DFAKE_RELEASE=3").server, "new": build_fake("-DFAKE_RELEASE=10").server}
    names = sorted(programs, reverse=not newer_first)
    options = Options(labels=tuple(names), workloads=("fake_low",), force=True)
    study = compare_study("fake", [programs[name] for name in names], options)
    with pytest.raises(UserError, match="upgraded=True"):
        runner.run(home(), study, options, Console(file=io.StringIO()), None, Asked())
    assert makers == ["old"]


class Refusing(FakeSide):
    """A server of release 10 that does not start on data of release 3, and says why."""

    booted: ClassVar[list[str]] = []

    def boot(self) -> None:
        self.booted.append(self.spec.label)
        if self.spec.label == "new":
            raise InfrastructureError("new: the server ended with exit code 1 while starting")
        super().boot()

    def complaints(self) -> list[str]:
        return ["Cannot upgrade from 1.3 to 1.10.", "Aborting"]


REFUSED = (
    r"^new is the fake engine 1\.10 and old is 1\.3, on whose data both are measured; on these new does not start: "
    r"Cannot upgrade from 1\.3 to 1\.10\.; name two versions"
)


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Labels of the sides that were booted, of a server that refuses an older one's data."""
    Refusing.booted.clear()
    monkeypatch.setattr(FakeEngine, "side", lambda self, spec: Refusing(spec))
    return Refusing.booted


@pytest.mark.parametrize("newer_first", [False, True])
def test_a_newer_version_that_refuses_the_older_ones_data_is_refused_before_the_trials(
    refusing: list[str],
    monkeypatch: pytest.MonkeyPatch,
    build_fake: BuildFake,
    burnish_home: Path,
    *,
    newer_first: bool,
) -> None:
    monkeypatch.setattr(group, "Trials", None)
    programs = {"old": build_fake("-DFAKE_RELEASE=3").server, "new": build_fake("-DFAKE_RELEASE=10").server}
    names = sorted(programs, reverse=not newer_first)
    options = Options(labels=tuple(names), workloads=("fake_low",), force=True)
    study = compare_study("fake", [programs[name] for name in names], options)
    with pytest.raises(UserError, match=REFUSED) as raised:
        runner.run(home(), study, options, Console(file=io.StringIO()), None, Asked())
    assert "\n" not in str(raised.value)
    assert refusing == ["new"]
    assert not list((burnish_home / "studies").glob("*")), "nothing is left of a run that was refused"


def test_why_refuses_a_newer_version_that_refuses_the_older_ones_data(
    refusing: list[str], monkeypatch: pytest.MonkeyPatch, build_fake: BuildFake, burnish_home: Path
) -> None:
    monkeypatch.setattr(sampling, "permitted", lambda *_: (Path("perf"), None))
    engine = FakeEngine(load.engine("fake"))
    old, new = (engine.existing(build_fake(f"-DFAKE_RELEASE={release}").server) for release in (3, 10))
    request = sampling.Request("fake", ("new", "old"), (new, old))
    with pytest.raises(UserError, match=REFUSED):
        sampling.why(home(), request, "fake_low", 1.0, Options(force=True), Console(file=io.StringIO()), None)
    assert refusing == ["new"]


def test_programs_of_one_version_are_not_started_before_the_trials(
    refusing: list[str], monkeypatch: pytest.MonkeyPatch, build_fake: BuildFake, burnish_home: Path
) -> None:
    def trials(**words: Any) -> None:
        raise UserError(f"upgraded={words['upgraded']}")

    monkeypatch.setattr(group, "Trials", trials)
    programs = [build_fake().server, build_fake("-DFAKE_SPEED=130").server]
    options = Options(labels=("old", "new"), workloads=("fake_low",), force=True)
    with pytest.raises(UserError, match="upgraded=False"):
        runner.run(
            home(), compare_study("fake", programs, options), options, Console(file=io.StringIO()), None, Asked()
        )
    assert not refusing


def test_no_run_is_begun_for_two_products(
    monkeypatch: pytest.MonkeyPatch, build_fake: BuildFake, burnish_home: Path
) -> None:
    """As an engine's program says itself, which is asked only when the run begins."""
    usual = FakeEngine.identity

    def identity(self: FakeEngine, built: Built, bench: Workbench) -> Identity:
        return replace(usual(self, built, bench), product=f"server {built.name}")

    monkeypatch.setattr(FakeEngine, "identity", identity)
    study = compare_study("fake", [build_fake().server, build_fake("-DFAKE_RELEASE=3").server], Options())
    with pytest.raises(UserError, match="different servers, whose difference is not one of builds") as raised:
        runner.run(home(), study, Options(), Console(file=io.StringIO()), None, Asked())
    assert "\n" not in str(raised.value)
    assert not list((burnish_home / "studies").glob("*")), "nothing is left of a run that was refused"
