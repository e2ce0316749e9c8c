"""What is wrong with a request, found in `plan` or as soon as it can be known, each thing in a line of its own."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base.errors import UserError
from burnish.base.paths import home
from burnish.catalogue import load
from burnish.engines.registry import create
from burnish.model.condition import Condition
from burnish.record.store import Store
from burnish.source import sources
from burnish.study import needs, runner
from burnish.study.builds import resolving
from burnish.study.builds.source import source_request
from burnish.study.constructors.tune import tune_study
from burnish.study.planning.study_plan import check_inputs
from burnish.study.request import conditions, workloads
from burnish.study.request.options import Options
from burnish.study.request.request import read_request
from conftest import FAKE_SOURCE, FakeBench
from patchfiles import FASTER, ROUNDS, diff, write
from planned import plan
from studying import burnish, text

REASON = 'reason = "A variant of a test of what may be wrong."\n'
FAKE = load.engine("fake")


def test_a_link_without_the_memory_for_it_stops_a_run_before_anything_is_built(
    burnish_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "memory_with_swap", lambda: 1)
    options = Options(variants=("baseline", "gcc-lto"), yes=True)
    with pytest.raises(
        UserError, match=r"^gcc-lto: a link with link-time optimisation may take .*, 0\.0 MB is free here"
    ):
        runner.run(home(), tune_study("fake", options), options, Console(file=io.StringIO()), None)
    assert not list(burnish_home.glob("store/builds/*"))
    assert not list(burnish_home.glob("studies/*"))


def own(folder: Path, **recipes: str) -> Path:
    """A file of variants with these recipes."""
    path = folder / "own.toml"
    path.write_text("".join(f"[{name}]\n{REASON}recipe = {{ {recipe} }}\n" for name, recipe in recipes.items()))
    return path


def refused(options: Options, engine: str = "fake") -> list[str]:
    """What `plan` says, a line for each thing, without the line that counts them."""
    with pytest.raises(UserError) as error:
        plan(home(), engine, options)
    lines = [line.strip() for line in str(error.value).splitlines()]
    return lines[1:] if len(lines) > 1 else lines


def test_a_baseline_alone_is_refused_before_its_source_is_fetched(burnish_home: Path) -> None:
    (line,) = refused(Options(variants=("baseline",)), engine="mysql")
    assert line.startswith("--variant baseline: there is nothing to compare it with; name another variant too ")
    child = burnish("tune", "sqlite", "--variant", "baseline", "--yes")
    assert child.returncode == 2
    assert "--variant baseline: there is nothing to compare it with" in text(child)[1]
    assert not list(burnish_home.glob("downloads/*"))


def test_all_that_is_wrong_with_a_file_of_variants_and_nothing_that_follows_from_it(tmp_path: Path) -> None:
    path = own(tmp_path, one='flags = ["unroll-lops"]', two='target = "haswel"', good='c = ["-g"]')
    lines = refused(Options(recipes=path, variants=("one", "good")))
    assert lines[0].startswith("own.toml: one: unknown flag 'unroll-lops' (did you mean 'unroll-loops'?)")
    assert lines[1].startswith("own.toml: two: unknown target 'haswel' (did you mean 'haswell'?)")
    assert len(lines) == 2, "that its variants are not known is a consequence"
    (line,) = refused(Options(variants=("gcc-pog",)))
    assert line.startswith("unknown variant 'gcc-pog' (did you mean 'gcc-pgo'?); there are: ")
    assert line.endswith(" more (`burnish variants` lists them)")
    several = refused(Options(workloads=("fake_mx", "fake_lw"), variants=("gcc-pog",)))
    assert [line.partition(";")[0] for line in several] == [
        "unknown variant 'gcc-pog' (did you mean 'gcc-pgo'?)",
        "unknown workload of fake 'fake_mx' (did you mean 'fake_mix'?)",
        "unknown workload of fake 'fake_lw' (did you mean 'fake_low'?)",
    ]


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        ('static = "full", allocator = "jemalloc", preload = true', "static = 'full' and preload contradict"),
        ('toolchain = "/opt/none/gcc"', "variant mine: toolchain: /opt/none/gcc: there is no such program"),
        ('toolchain = "gc"', "variant mine: toolchain: unknown compiler 'gc'"),
        ('pgo = true, profile = "nothing"', "variant mine: profile: unknown profile 'nothing'; there is none yet"),
        ('pgo = true, training = ["fake_mix"]', 'give names and weights, as in [["oltp_read_only", 3], '),
        ("pgo = true, training = { fake_mx = 1 }", "training: unknown workload of fake 'fake_mx' (did you mean "),
        ('flags = ["frame-pointers", "no-frame-pointers"]', "flag 'no-frame-pointers' contradicts 'frame-pointers'"),
    ],
)
def test_a_recipe_that_cannot_be_followed(tmp_path: Path, recipe: str, says: str) -> None:
    (line,) = refused(Options(recipes=own(tmp_path, mine=recipe), variants=("mine",)))
    assert says in line
    assert "mine" in line


def test_a_contradiction_ends_the_plan_with_one_line_and_exit_code_2(burnish_home: Path, tmp_path: Path) -> None:
    path = own(tmp_path, both='static = "full", allocator = "jemalloc", preload = true')
    child = burnish("plan", "fake", "--recipes", path, "--variant", "both")
    out, err = text(child)
    assert child.returncode == 2
    assert out == ""
    assert err.startswith("burnish: variant both: static = 'full' and preload contradict")
    assert len(err.strip().splitlines()) == 1


def test_a_missing_compiler_is_a_row_that_does_not_name_its_variant_twice(tmp_path: Path) -> None:
    path = own(tmp_path, mine='toolchain = "gcc-99"')
    found = plan(home(), "fake", Options(recipes=path, variants=("mine",)))
    ((name, why),) = found.left_out
    assert name == "mine"
    assert why.startswith("toolchain: no compiler 'gcc-99' on this machine; there are: ")


def test_replicates_that_make_no_sense() -> None:
    assert not refusal_of(Options(layouts=6, starts=6))
    assert refusal_of(Options(layouts=6, starts=20)).startswith(
        "--starts 20: --layouts 6 gives each start a fresh pair of builds, so there are 6 starts; leave --starts out"
    )
    assert "--trainings 4 gives each start" in refusal_of(Options(layouts=3, trainings=4, starts=3))
    said = refusal_of(Options(trainings=3, variants=("gcc-o3",)))
    assert said.startswith("--trainings 3: nothing is trained for baseline, gcc-o3; leave it out")
    assert not refusal_of(Options(trainings=3, variants=("gcc-pgo",)))


def refusal_of(options: Options) -> str:
    try:
        plan(home(), "fake", options)
    except UserError as error:
        return str(error)
    return ""


def patched(tmp_path: Path) -> Options:
    """A variant with a patch that the shipped source of the fake engine does not take, and one that it does."""
    stale = diff(ROUNDS, "#define ROUNDS 7UL").replace(f"-{ROUNDS}", "-#define ROUNDS 4001UL")
    write(tmp_path, stale=stale, good=FASTER)
    path = own(tmp_path, stale='patches = ["stale.patch"]', good='patches = ["good.patch"]')
    return Options(recipes=path, variants=("stale", "good"))


def test_a_patch_that_does_not_apply_is_found_before_the_source_is_unpacked(tmp_path: Path) -> None:
    (line,) = refused(patched(tmp_path))
    assert line.startswith(f"variant stale: patch {tmp_path / 'stale.patch'}: does not apply to ")
    assert "hunk #1 of fake_work.c" in line
    assert not home().work("fake").exists(), "a plan unpacks nothing"


def test_patches_are_tried_on_the_source_that_is_meant(tmp_path: Path) -> None:
    """Another tree has the place, as after a study of it: what does not fit that one may fit this one."""
    other = Path(shutil.copytree(FAKE_SOURCE, tmp_path / "other"))
    work = other / "fake_work.c"
    work.write_text(work.read_text().replace(ROUNDS, "#define ROUNDS 4001UL"))
    options = patched(tmp_path)
    for source, wrong in ((other, "good"), (None, "stale")):
        asked = Options(recipes=options.recipes, variants=options.variants, source=source)
        request = source_request(FAKE, asked)
        (line,) = refused(asked)
        assert line.startswith(f"variant {wrong}: patch ")
        found = sources.resolve(request, cache=home().downloads, say=lambda _: None)
        sources.unpack(found, request, cache=home().downloads, place=home().work("fake") / "source")


def test_where_the_source_must_be_fetched_a_plan_says_when_patches_are_tried(tmp_path: Path) -> None:
    options = patched(tmp_path)
    found = plan(home(), "sqlite", options)
    assert found.source.endswith("to be fetched first; then the patches of stale, good are tried on it")
    assert "patches" not in plan(home(), "sqlite", Options()).source


def test_a_profile_may_belong_to_a_source_that_is_not_known_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported with its description before the source was fetched: it is refused when the source turns out another."""
    store = Store(home().store)
    store.begin("profiles", "0123456789abcdef")
    about = {"engine": "sqlite", "kind": "gcc", "source": "of-long-ago", "toolchain": "gcc-12"}
    store.admit("profiles", "0123456789abcdef", about)
    assert resolving._profile(store, "01234567", resolving.UNKNOWN_SOURCE) is not None
    kept = resolving._profile(store, "01234567", resolving.UNKNOWN_SOURCE)
    assert kept is not None
    assert kept.source is None
    known = resolving._profile(store, "01234567", "another")
    assert known is not None
    assert known.source == "of-long-ago"


def test_a_recipe_by_a_usual_name_takes_its_place(tmp_path: Path) -> None:
    """Twice in the list, its cells were planned twice and judged twice."""
    usual = next(name for name in load.engine("fake").ladder if name != "baseline")
    path = own(tmp_path, **{usual: 'c = ["-DFAKE_SPEED=130"]'})
    variants = read_request("fake", Options(recipes=path)).variants
    assert [variant.name for variant in variants].count(usual) == 1
    (taken,) = (variant for variant in variants if variant.name == usual)
    assert taken.recipe.c == ("-DFAKE_SPEED=130",)


def test_too_many_threads_are_found_before_anything_is_built_for_nothing(burnish_home: Path, tmp_path: Path) -> None:
    """As soon as the baseline can be asked: no data, no gate, no other variant; and no study is left."""
    path = own(tmp_path, other='c = ["-DFAKE_SPEED=130"]')
    asked = Options(recipes=path, variants=("other",), ladder=(1, 500, 1000), yes=True)
    # The ladder's most is named: what is asked for is enough for all of it.
    with pytest.raises(UserError, match=r"^max_connections is 256, but fake_mix:threads=1000 has 1000 client threads"):
        runner.run(home(), tune_study("fake", asked), asked, Console(file=io.StringIO()), None)
    kept = [entry.kind for entry in Store(home().store).entries()]
    assert kept == ["builds"], "the baseline alone"
    assert not list(burnish_home.glob("studies/*"))


def test_sqlite_says_at_once_that_it_has_one_thread_and_no_server(tmp_path: Path) -> None:
    engine, bench = create(load.engine("sqlite")), FakeBench(tmp_path)
    with pytest.raises(UserError, match="speedtest1:threads=4: 4 threads, but a load of SQLite has one; leave threads"):
        workloads.choose(load.engine("sqlite"), ["speedtest1"], ladder=(4,))
    with pytest.raises(UserError, match="has no server: --set, --versus and --defaults-file say how one is deployed"):
        engine.ready(Condition(transport="tcp"), tmp_path, bench)
    assert engine.ready(Condition(), tmp_path, bench) == Condition()


@pytest.mark.parametrize(
    ("engine", "word", "says"),
    [
        ("sqlite", "foo=1", "SQLite has no server: --set, --versus and --defaults-file say how one is deployed"),
        ("postgresql", "transport=tls", "transport=tls: PostgreSQL is loaded by transport=unix only; leave it out"),
        ("fake", "no_such=1", "no_such"),
    ],
)
def test_a_condition_that_an_engine_never_has_is_refused_by_the_plan_and_before_packages_are_installed(
    burnish_home: Path, monkeypatch: pytest.MonkeyPatch, engine: str, word: str, says: str
) -> None:
    def installed(*_: object) -> None:
        raise AssertionError("packages are not asked about")

    monkeypatch.setattr(needs, "install_for", installed)
    options = Options(settings=(word,))
    study = tune_study(engine, options)
    with pytest.raises(UserError, match=re.escape(says)):
        check_inputs(home(), study, options)
    with pytest.raises(UserError, match=re.escape(says)):
        runner.run(home(), study, options, Console(file=io.StringIO()), None)
    assert not list(burnish_home.glob("studies/*"))


def test_the_second_programs_condition_is_refused_by_the_plan_too() -> None:
    options = Options(versus=("transport=tcp",))
    with pytest.raises(UserError, match=r"^transport=tcp: PostgreSQL is loaded by transport=unix only; leave it out$"):
        conditions.check(load.engine("postgresql"), options)
    conditions.check(load.engine("mysql"), options)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_plan_refuses_a_condition_in_one_line(burnish_home: Path, engine: str) -> None:
    child = burnish("plan", engine, "--set", "transport=tcp")
    out, err = text(child)
    assert (child.returncode, out, len(err.splitlines())) == (2, "", 1), err
    assert not list(burnish_home.glob("studies/*"))


@pytest.mark.parametrize("words", [("plan", "sqlite"), ("tune", "sqlite", "--dry-run"), ("tune", "sqlite")])
def test_a_load_without_a_rate_is_refused_by_the_plan_as_by_the_run(burnish_home: Path, words: tuple[str, ...]) -> None:
    child = burnish(*words, "--workload", "kvtest", "--strategy", "ladder", "--objective", "p99@40")
    out, err = text(child)
    assert (child.returncode, out) == (2, ""), err
    assert err.startswith("burnish: unknown parameter of kvtest 'rate'"), err
    assert len(err.splitlines()) == 1
    assert not burnish_home.exists(), "nothing was begun, nothing was asked about packages"


def test_what_only_the_loads_program_can_tell_is_left_to_the_run() -> None:
    spec = load.engine("mariadb")
    (timed,) = workloads.choose(spec, ["oltp_insert:rate=40,tabels=8"])
    assert dict(timed.parameters)["tabels"] == "8", "sysbench's script knows them"
    with pytest.raises(UserError, match=r"^unknown parameter of sql_bench 'rate'"):
        workloads.choose(spec, ["sql_bench:tests=ATIS,rate=40"])
