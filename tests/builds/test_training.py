"""Training on the fake engine: a usable profile is kept, and one that is none is refused by name."""

from __future__ import annotations

import contextlib
import functools
import itertools
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.builds import objects, training
from burnish.builds.training import Trainer
from burnish.catalogue import load
from burnish.engines.contract import Tick
from burnish.engines.fake import engine
from burnish.model.recipe import Recipe, Variant
from burnish.profiles import watching
from burnish.profiles.collecting import BOLT_PROFILE, PROFILE_FILE, check_digest, profile_digest
from burnish.profiles.stages import Train, TrainingPlan, check_training
from burnish.program.built import Built
from burnish.program.elf import build_id
from burnish.toolchain.toolchains import Toolchain
from conftest import FakeBench
from profiling import TRAINING, Shop


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("training")


Shops = Callable[[str], Shop]


@pytest.fixture
def shop(roots: Path, gcc: Toolchain, request: pytest.FixtureRequest) -> Shops:
    """A function that gives the shop of a kind of profile, with the instrumented build made once."""

    def get(kind: str) -> Shop:
        toolchain: Toolchain = request.getfixturevalue("clang") if kind == "clang" else gcc
        if not toolchain.has_profile_runtime:
            pytest.skip(f"{toolchain.name} without its profile runtime")
        if kind == "bolt" and not toolchain.bolt_can_instrument:
            pytest.skip("no BOLT that can instrument")
        made = Shop(roots / kind, toolchain)
        made.instrumented(kind)
        return made

    return get


KINDS = pytest.mark.parametrize("kind", ["gcc", "clang", "bolt"])


@KINDS
def test_from_training_to_a_build_with_the_profile(shop: Shops, kind: str) -> None:
    here = shop(kind)
    trained, after = here.instrumented(kind)
    profile = here.make(trained)
    about = profile.about
    assert about["kind"] == kind
    assert about["training"] == [list(step) for step in TRAINING]
    assert about["rates"]["fake_mix"] > 0
    assert about["counted"] >= 2
    assert about["digest"] == profile_digest(profile.folder)
    name = {"clang": PROFILE_FILE, "bolt": BOLT_PROFILE, "gcc": "gcda/fake_work.gcda"}[kind]
    assert (profile.folder / name).stat().st_size > 0
    hot = set((profile.folder / "hot.txt").read_text().splitlines())
    assert hot >= {"clang": {"fake_work"}, "gcc": {"fake_work.gcda"}, "bolt": {"fake_work"}}[kind]
    (final,) = after
    built = here.make(final)
    if kind == "bolt":
        assert str(built.about["audit"]).endswith(" with a profile, 0 stale, 0 of 2 hot ones missing")
    else:
        assert "0 mismatching, 0 missing (0.0%" in str(built.about["audit"])
        assert built.about["cancelled"] == []
    assert built.about["profile"] == profile.key
    server = here.builder.built("final", built).server
    assert build_id(server)
    assert process.run([server, "--version"]).output.startswith("fake ")
    assert not here.builder.place.exists(), "the constant path is left empty"


def test_what_bolt_said_at_an_earlier_attempt_is_not_read(shop: Shops) -> None:
    here = shop("bolt")
    trained, (final,) = here.instrumented("bolt")
    here.make(trained)
    for entry in here.builder.store.entries():
        if entry.key == final.key:
            here.builder.store.remove(entry)
    log = here.builder.bench.log_path(f"bolt-test-{final.key}.log")
    with log.open("a") as file:
        file.write("7777 out of 7777 functions in the binary (100.0%) have non-empty execution profile\n")
        file.write("7777 (100.0% of all profiled) functions have invalid (possibly stale) profile\n")
    assert "7777" not in here.make(final).about["audit"]


@KINDS
def test_builds_give_way_to_other_work_and_a_training_does_not(
    shop: Shops, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, start = shop(kind), process.start
    lows: list[bool] = []

    def watched(*words: Any, **settings: Any) -> Any:
        lows.append(settings.get("low", False))
        return start(*words, **settings)

    monkeypatch.setattr(process, "start", watched)
    trained, after = here.instrumented(kind)
    for stage in here.chain(kind)[: -len(after)]:
        lows.clear()
        here.make(replace(stage, key=f"{stage.key}-again"))
        assert lows, f"{stage.title} runs programs"
        assert set(lows) == {stage != trained}, stage.title


@KINDS
def test_the_engines_own_tests_can_train(shop: Shops, kind: str) -> None:
    here = shop(kind)
    trained, _ = here.instrumented(kind)
    here.trainer.workloads["own_tests"] = load.training(here.builder.engine.spec, "own_tests")
    build = here.builder.store.find("builds", trained.build)
    assert build is not None
    here.trainer.tools = here.builder.built("tools", build)
    profile = here.make(replace(trained, key=f"own-{kind}", training=(("own_tests", 1.0),)))
    assert profile.about["training"] == [["own_tests", 1.0]]
    assert profile.about["rates"]["own_tests"] > 0
    assert profile.about["counted"] >= 2
    assert not (here.root / "scratch/training").exists()


def test_own_tests_name_the_tests_in_the_profiles_key(gcc: Toolchain) -> None:
    def key(tests: tuple[str, ...], *training: tuple[str, float]) -> str:
        plan = TrainingPlan((("fake_mix", 2.0),), training, tests=tests, tests_s=60.0)
        (stage,) = plan.stages("build", "gcc", gcc, title="training")
        assert isinstance(stage, Train)
        assert stage.training == ((training[0][0], 60.0 if training[0][0] == "own_tests" else 2.0),)
        return stage.key

    assert key(("a",), ("own_tests", 1.0)) != key(("a", "b"), ("own_tests", 1.0))
    assert key(("a",), ("fake_write", 1.0)) == key(("a", "b"), ("fake_write", 1.0))


def test_own_tests_are_no_load_and_can_not_be_sampled(gcc: Toolchain) -> None:
    with pytest.raises(UserError, match="'own_tests' can only train a profile"):
        load.workload(load.engine("fake"), "own_tests")
    recipe = Recipe(pgo=True, sampled=True, training=(("own_tests", 1.0),))
    with pytest.raises(UserError, match="variant v: own_tests start servers of their own, which can't be sampled"):
        check_training(Variant("v", recipe, "for a test"), gcc, lbr=True)


Doctor = Callable[[Shop, Path, Mapping[str, str]], None]


def doctored(here: Shop, trained: Train, monkeypatch: pytest.MonkeyPatch, doctor: Doctor) -> Train:
    """Instead of a load, `doctor` decides what training leaves in the folder for raw profiles."""

    def drive(
        self: Trainer, built: object, workload: object, seconds: float, environment: object, **more: object
    ) -> float:
        raw = here.builder.bolt_raw if trained.kind == "bolt" else here.builder.work / "raw-profile"
        doctor(here, raw, dict(environment))  # type: ignore[call-overload]
        return 1.0

    monkeypatch.setattr(Trainer, "_drive", drive)
    return trained


def only_said_its_version(here: Shop, raw: Path, environment: Mapping[str, str]) -> None:
    for entry in here.builder.store.entries():
        if entry.kind == "builds" and entry.about["instrumented"]:
            server = here.builder.built("instrumented", entry).server
            process.run([server, "--version"], env=environment).check("version")


def wrote_nothing(here: Shop, raw: Path, environment: Mapping[str, str]) -> None:
    """As when a server is killed."""


def wrote_empty_files(here: Shop, raw: Path, environment: Mapping[str, str]) -> None:
    (raw / "1_0.profraw").touch()
    (raw / "raw.1.fdata").touch()


def ran_nothing(here: Shop, raw: Path, environment: Mapping[str, str]) -> None:
    """Whole files in which every count is zero."""
    if "LLVM_PROFILE_FILE" in environment:
        (raw / "1_0.profraw").write_text(":ir\nfake_work\n1\n2\n0\n0\n")
        return
    only_said_its_version(here, raw, environment)
    for path in raw.rglob("*.gcda"):
        if path.name != "fake_work.gcda":
            path.unlink()


@pytest.mark.parametrize(
    ("kind", "doctor", "says"),
    [
        ("clang", wrote_nothing, "test: training wrote no profile data: "),
        ("clang", wrote_empty_files, "holds 1 .profraw files, all empty; the server must end by itself"),
        ("clang", ran_nothing, "test: the profile is empty: 1 functions, none of them ran"),
        ("clang", only_said_its_version, "the profile does not cover the server: fake_work, fake_serve never ran"),
        ("gcc", wrote_nothing, "test: training wrote no .gcda file under "),
        ("gcc", ran_nothing, "test: the profile is empty: 1 functions, none of them ran"),
        ("gcc", only_said_its_version, "the profile does not cover the server: fake_work, fake_serve never ran"),
        ("bolt", wrote_nothing, "test: training wrote no BOLT profile into "),
        ("bolt", wrote_empty_files, "test: training wrote no BOLT profile into "),
        ("bolt", only_said_its_version, "the profile does not cover the server: fake_work, fake_serve never ran"),
    ],
)
def test_a_profile_that_is_none_is_refused(
    shop: Shops, monkeypatch: pytest.MonkeyPatch, kind: str, doctor: Doctor, says: str
) -> None:
    here = shop(kind)
    trained, _ = here.instrumented(kind)
    before = [entry.key for entry in here.builder.store.entries() if entry.kind == "profiles"]
    with pytest.raises(InfrastructureError) as caught:
        here.make(doctored(here, trained, monkeypatch, doctor))
    assert says in str(caught.value)
    assert [entry.key for entry in here.builder.store.entries() if entry.kind == "profiles"] == before


@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("damage", ["changed", "cut off", "gone"])
def test_a_profile_whose_bytes_have_changed_is_refused(shop: Shops, kind: str, damage: str) -> None:
    here = shop(kind)
    trained, (final,) = here.instrumented(kind)
    profile = here.builder.store.find("profiles", trained.key) or here.make(trained)
    check_digest(profile)
    place = profile.folder / (PROFILE_FILE if kind == "clang" else "gcda/server.gcda")
    whole = place.read_bytes()
    if damage == "gone":
        place.unlink()
    else:
        place.write_bytes(whole[:-8] if damage == "cut off" else whole[:-1] + bytes([whole[-1] ^ 1]))
    for entry in here.builder.store.entries():
        if entry.key == final.key:
            here.builder.store.remove(entry)
    # By its size the store knows it already, so that the next command trains it again.
    why = "has changed since it was trained" if damage == "changed" else "is not in the store; run the same command"
    try:
        with pytest.raises(InfrastructureError, match=f"profile {profile.key} {why}"):
            here.make(final)
    finally:
        place.write_bytes(whole)
    check_digest(profile)


@pytest.mark.parametrize(("kind", "first"), [("gcc", watching.FIRST), ("clang", watching.FIRST), ("gcc", 1)])
def test_a_profile_of_another_source_is_refused_when_it_is_used(
    shop: Shops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, first: int
) -> None:
    """At its end, or at the first warning that is looked at."""
    monkeypatch.setattr(watching, "FIRST", first)
    here = shop(kind)
    trained, _ = here.instrumented(kind)
    if here.builder.store.find("profiles", trained.key) is None:
        here.make(trained)
    final = here.chain(kind)[-1]
    for entry in here.builder.store.entries():
        if entry.key == final.key:
            here.builder.store.remove(entry)
    path = here.builder.source / "fake_work.c"
    whole = path.read_text()
    line = "\twhile (rounds-- > 0)\n"
    assert line in whole
    path.write_text(whole.replace(line, f"\tfor (int i = 0; i < 3; i++) if (value == i) return 7 / value;\n{line}"))
    try:
        early = r"so far, .*" if first == 1 else ""
        what = rf"the profile does not fit this build: .*{early}; first: .*fake_work"
        with pytest.raises(InfrastructureError, match=what):
            here.make(final)
    finally:
        path.write_text(whole)
    assert here.builder.store.find("builds", final.key) is None


@pytest.mark.parametrize(
    ("flag", "says"),
    [
        ("-DFAKE_CRASH_AFTER=20", "training on fake_mix: the server was ended by signal 6"),
        ("-DFAKE_HANG_AFTER=1", "training on fake_mix: the load ended with exit code 1: load: no answer"),
    ],
)
def test_a_server_that_does_not_go_through_training(
    shop: Shops, monkeypatch: pytest.MonkeyPatch, flag: str, says: str
) -> None:
    monkeypatch.setattr(engine, "PATIENCE_S", 0.5)
    here = shop("gcc")
    usual = here.trainer.workloads["fake_mix"]
    soon = replace(usual, parameters=tuple({**dict(usual.parameters), "timeout_s": "0.5"}.items()))
    monkeypatch.setitem(here.trainer.workloads, "fake_mix", soon)
    chain = here.chain("gcc", flag)
    here.make(chain[0])
    with pytest.raises(InfrastructureError) as caught:
        here.make(chain[1])
    assert str(caught.value).startswith(says)
    assert here.builder.store.find("profiles", chain[1].key) is None


def test_a_server_that_is_killed_at_the_end_of_its_training_leaves_no_profile(
    shop: Shops, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its counts are lost; those of the recipe's other loads would be taken for the whole training."""
    here = shop("gcc")
    trained, _ = here.instrumented("gcc")
    end = engine.FakeSide._end

    def killed(self: engine.FakeSide, patience: float) -> None:
        if self.spec.workload.name == "fake_write" and self._server is not None:
            self._server.kill()
        end(self, patience)

    monkeypatch.setattr(engine.FakeSide, "_end", killed)
    here.trainer.data["fake_write"] = here.trainer.data["fake_mix"]
    here.trainer.workloads["fake_write"] = load.workload(here.builder.engine.spec, "fake_write")
    both = replace(trained, key="killed", training=(*TRAINING, ("fake_write", 0.5)))
    with pytest.raises(InfrastructureError, match=r"training: the server was ended by signal 9 at its end"):
        here.make(both)
    assert here.builder.store.find("profiles", "killed") is None


def test_the_first_transaction_may_be_late_in_a_short_training(
    bench: FakeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that is busy for a minute is so however long the training was to take."""
    clock = itertools.count(0.0, 10.0)
    ticks = iter([[], [Tick(1.0, 0.0, 0, 0.0, 0.0)], [Tick(2.0, 3.0, 0, 0.5, 0.0)]])

    def nothing() -> None: ...

    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda _: None))
    side = SimpleNamespace(
        boot=nothing, load=nothing, stop=nothing, server_pids=list, ticks=lambda: next(ticks), trouble=nothing
    )
    side.finish = lambda patience: patience
    builder = SimpleNamespace(bench=bench, engine=SimpleNamespace(side=lambda _: side))
    trainer: Any = SimpleNamespace(builder=builder, scratch=tmp_path, data={}, cores=frozenset())
    trainer._look = functools.partial(Trainer._look, trainer)
    load_ = load.workload(load.engine("fake"), "fake_mix")
    built = Built("b", tmp_path, tmp_path / "server", "key")
    rate = Trainer._drive(trainer, built, load_, 0.6, (), seed=1, watch=lambda _: contextlib.nullcontext())
    assert rate == 3.0


def test_training_needs_its_build(shop: Shops) -> None:
    here = shop("gcc")
    lost = Train("k", "nothing", "gcc", here.toolchain, TRAINING, "training")
    with pytest.raises(InfrastructureError, match="instrumented build nothing is not in the store"):
        here.make(lost)


def test_a_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    def digest(**files: str) -> str:
        shutil.rmtree(tmp_path)
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return profile_digest(tmp_path)

    one = digest(gcda__a_gcda="1", gcda__b_gcda="2")
    assert digest(gcda__b_gcda="2", gcda__a_gcda="1", hot_txt="a") == one, "what describes the profile is not it"
    assert digest(gcda__a_gcda="2", gcda__b_gcda="1") != one
    assert digest(gcda__a_gcda="1", gcda__c_gcda="2") != one
    assert digest(gcda__a_gcda="1") != one
    assert digest(a_profdata="1") != digest(a_profdata="2")


def test_a_compile_is_told_with_the_time_that_the_plan_gives_it(shop: Shops, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the same stage took before is no guess at one whose objects lie in the cache."""
    here = shop("gcc")
    stage = here.chain("gcc", "-DFAKE_SPEED=107")[0]
    told: list[float | None] = []
    step = here.builder.bench.step

    def listen(title: str, name: str, expected: float | None = None, **more: bool) -> object:
        told.append(expected)
        return step(title, name, expected, **more)

    monkeypatch.setattr(here.builder.bench, "step", listen)
    monkeypatch.setitem(here.builder.expected, stage.key, 123.0)
    here.make(stage)
    assert told == [123.0]


@pytest.mark.skipif(shutil.which("ccache") is None or shutil.which("time") is None, reason="ccache or GNU time")
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_of_a_killed_compile_it_stays_known_what_its_objects_cost(
    shop: Shops, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = shop(kind)
    stage = here.chain(kind, "-fno-plt")[0]

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as first:
        first.setattr(objects, "facts", killed)
        with pytest.raises(KeyboardInterrupt):
            here.make(stage)
    about = here.make(stage).about
    assert about["cache"]["hits"] == about["costs"]["of"], "its objects come from the cache"
    assert about["costs"]["known"] == about["costs"]["of"]
    assert about["costs"]["compile_cpu_seconds"] > 0
    assert not list(here.builder.work.glob(f"compile-costs-{stage.key}")), "what is in the store is noted no longer"
