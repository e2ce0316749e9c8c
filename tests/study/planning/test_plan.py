"""A plan: what is made once for several, what comes from the store or the cache, and honest guesses."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.base import system
from burnish.base.errors import UnavailableError, UserError
from burnish.base.paths import Home
from burnish.builds.sharing import in_order, kept_as, objects_key, reading_key
from burnish.builds.stages import Compile, PackageFlags, Stage, stages
from burnish.catalogue import load
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Recipe, Variant
from burnish.record.costs import Cost, Figure, History
from burnish.record.store import Store
from burnish.report.sections.plan import document
from burnish.study import needs
from burnish.study.builds.resolving import Chain, resolve
from burnish.study.extras.searched import step_seconds
from burnish.study.planning import forecast
from burnish.study.planning.plan import RELINK_SHARE, Known, Plan, Step, amount, link_memory, make_plan, summary
from burnish.study.request.options import Options
from burnish.study.request.request import read_request
from burnish.toolchain.toolchains import Toolchain
from chains import CLANG, GCC, toolchain
from drawn import drawn

SPEC = load.engine("fake")
PACKAGE = PackageFlags(c=("-g", "-O2"), cxx=("-g", "-O2"), link=("-Wl,-z,relro",))
BARE = PackageFlags(c=("-O2",), cxx=("-O2",), link=())
LLD = ("-fuse-ld=lld",)
POINTERS = ("-fno-omit-frame-pointer",)

LADDER = {
    "baseline": Recipe(),
    "gcc-pgo": Recipe(pgo=True),
    "clang-pgo-thinlto": Recipe(toolchain="clang", pgo=True, lto="thin", link=LLD),
    "clang-pgo-thinlto-bolt": Recipe(toolchain="clang", pgo=True, lto="thin", bolt=True, link=LLD),
    "static": Recipe(link=("-static",)),
    "strip": Recipe(link=("-s",)),
    "unhardened": Recipe(hardening=False),
    "frame-pointers": Recipe(c=POINTERS, cxx=POINTERS),
}


def variant(name: str, recipe: Recipe) -> Variant:
    return Variant(name, recipe, "a reason that is long enough")


def chain(name: str, recipe: Recipe, spec: EngineSpec = SPEC) -> tuple[Stage, ...]:
    return stages(
        variant(name, recipe),
        spec=spec,
        source="source",
        toolchain=CLANG if recipe.toolchain == "clang" else GCC,
        package=PACKAGE if recipe.hardening else BARE,
        features=spec.default_features,
        with_tools=name == "baseline",
        bolt=CLANG,
        profile_place="/work/p.profdata",
    )


CHAINS = [(name, chain(name, recipe)) for name, recipe in LADDER.items()]


def plan(
    *,
    have: Collection[str] = (),
    history: History | None = None,
    objects: frozenset[str] | None = frozenset(),
    chains: list[tuple[str, tuple[Stage, ...]]] = CHAINS,
    trials: Step | None = None,
    spec: EngineSpec = SPEC,
    readings: frozenset[str] = frozenset(),
) -> Plan:
    known = Known(lambda _, key: key in have, history or History(), objects, {}, "source", readings)
    gates = {each[-1].key: f"gate {each[-1].key}" for _, each in chains}
    return make_plan(
        chains,
        spec=spec,
        known=known,
        source="a source",
        gates=gates,
        data=[("fake", "data key")],
        trials=[trials] if trials else [],
    )


def step(found: Plan, title: str, name: str) -> Step:
    return next(each for each in found.steps if each.title == title and name in each.variants)


def test_the_ladder_takes_six_full_compiles() -> None:
    found = plan()
    assert found.full_compiles == 6
    assert [each.variants[0] for each in found.steps if each.kind == "relink"] == ["static", "strip"]
    read = [(each.variants[0], each.title) for each in found.steps if each.kind == "read"]
    assert read == [("clang-pgo-thinlto", "with profile")], "clang has read its sources for the instrumented build"
    without_cache = plan(objects=None)
    assert without_cache.full_compiles == 9, "without ccache each link is a compile too"


def test_what_is_shared_is_one_step_for_all() -> None:
    found = plan()
    both = ("clang-pgo-thinlto", "clang-pgo-thinlto-bolt")
    for title in ("instrumented", "training", "with profile"):
        shared = [each for each in found.steps if each.title == title and both[0] in each.variants]
        assert [each.variants for each in shared] == [both]
    assert len({each.key for each in found.steps}) == len(found.steps)


def test_the_baseline_comes_first_then_what_is_shared_then_the_rest() -> None:
    order = [(each.title, each.variants) for each in plan().steps]
    assert [title for title, _ in order[:3]] == ["compile", "dataset fake", "gate"]
    shared = [number for number, (_, names) in enumerate(order) if len(names) > 1]
    own = [number for number, (_, names) in enumerate(order) if names not in ((), ("baseline",)) and len(names) == 1]
    assert max(shared) < min(number for number in own if order[number][0] != "gate")


def test_a_stage_comes_after_what_it_is_made_from() -> None:
    seen: set[str] = set()
    for stage in in_order([each for _, each in CHAINS]):
        for needed in (getattr(stage, "build", None), getattr(stage, "profile", None)):
            assert needed is None or needed in seen
        seen.add(stage.key)
    assert seen == {stage.key for _, each in CHAINS for stage in each}
    assert in_order([]) == []


def test_what_is_in_the_store_costs_nothing() -> None:
    everything = {each.key for each in plan().steps}
    found = plan(have=everything)
    assert found.ahead == ()
    assert found.seconds == Figure(0.0, known=True)
    assert summary(found) == [f"nothing to build: all {len(found.steps)} steps are in the store"]
    assert found.full_compiles == 0


def test_a_build_that_only_trainings_ran_is_not_made_again_for_profiles_that_are_there() -> None:
    bolt = CHAINS[3][1]
    marks = {each.key for each in bolt if each.title in ("instrumented", "BOLT instrumentation")}
    everything = {each.key for each in plan().steps}
    assert plan(have=everything - marks).ahead == ()
    trained, used = (next(each for each in bolt if each.title == title) for title in ("training", "with profile"))
    gone = marks | {trained.key}
    assert plan(have=everything - gone).ahead == (), "nothing uses the profile that is missing"
    steps = plan(have=everything - gone - {used.key}).ahead
    assert [each.title for each in steps] == ["instrumented", "training", "with profile"]


def test_objects_of_an_earlier_study_are_known_by_name() -> None:
    baseline = CHAINS[0][1][-1]
    static = replace(LADDER["static"], link=("-static", "-Wl,-z,now"))
    alone = [("baseline", chain("baseline", static))]
    key = objects_key(baseline)  # type: ignore[arg-type]
    assert plan(chains=alone).full_compiles == 1
    assert plan(chains=alone, objects=frozenset({key})).full_compiles == 0
    assert objects_key(replace(baseline, source="another source")) != key  # type: ignore[arg-type]


def test_estimates_are_the_hosts_own_where_it_has_any() -> None:
    rows = [
        ("compile", "baseline", Cost(500.0, peak=700, kept=90, tree=2000)),
        ("compile (objects cached)", "other", Cost(50.0)),
        ("training", "gcc-pgo", Cost(65.0)),
    ]
    found = plan(history=History(rows))
    baseline = step(found, "compile", "baseline")
    assert (baseline.seconds, baseline.peak) == (Figure(500.0, True), Figure(700.0, True))
    assert (baseline.kept, baseline.tree) == (Figure(90.0, True), Figure(2000.0, True))
    assert step(found, "compile", "unhardened").seconds == Figure(500.0, known=False), "another variant's: a guess"
    assert step(found, "compile", "static").seconds == Figure(50.0, known=False)
    assert step(found, "training", "gcc-pgo").seconds == Figure(65.0, known=True)
    assert step(found, "gate", "gcc-pgo").seconds == Figure(float(SPEC.costs.gate_s), known=False)
    assert amount(baseline.seconds, 60.0) == "8.3"
    assert amount(Figure(90.0), 60.0) == "~1.5"
    assert amount(None, 1.0) == "?"


def test_a_search_counts_what_steps_took_here_cached_or_not() -> None:
    rows = [
        ("compile", "baseline", Cost(2500.0)),  # beside other work, which is not what a compile usually takes
        *(("instrumented", name, Cost(500.0)) for name in LADDER),
        *(("with profile", name, Cost(500.0)) for name in LADDER),
        ("with profile (objects cached)", "another", Cost(50.0)),
        ("with profile (sources read before)", "another", Cost(80.0)),
        ("BOLT instrumentation", "clang-pgo-thinlto-bolt", Cost(90.0)),
        ("BOLT training", "clang-pgo-thinlto-bolt", Cost(60.0)),
        ("BOLT", "clang-pgo-thinlto-bolt", Cost(20.0)),
        *(("gate", name, Cost(100.0)) for name in LADDER),
    ]
    empty = plan(history=History(rows))
    everything = plan(history=History(rows), have={each.key for each in empty.steps})
    assert not everything.ahead
    for found in (empty, everything):
        costs = step_seconds(found, SPEC, trains=True)
        assert costs["rewrite"] == 120.0
        assert costs["relink"] == 50.0 + 90.0 + 60.0 + 20.0 + 100.0, "what is linked anew is rewritten anew"
        assert costs["optimise"] == 80.0 + 90.0 + 60.0 + 20.0 + 100.0, "clang has read the sources already"
        assert costs["compile"] == 500.0 + 80.0 + 60.0 + 90.0 + 60.0 + 20.0 + 100.0, "sources are read once"
    without = replace(plan(), steps=tuple(each for each in plan().steps if not each.title.startswith("BOLT")))
    guess = RELINK_SHARE * SPEC.costs.compile_s + SPEC.costs.gate_s
    assert step_seconds(without, SPEC, trains=True)["relink"] == pytest.approx(guess)
    assert all("made" not in each for each in everything.as_dict()["steps"])


def test_a_compile_is_expected_to_take_what_its_compiler_took() -> None:
    """Of MariaDB, clang compiles the same objects in two thirds of gcc's time."""
    rows = [
        ("compile", "newest", Cost(9.0)),
        ("compile by clang", "newest", Cost(9.0)),
        ("compile by gcc", "a", Cost(14.0)),
    ]
    found = plan(history=History(rows))
    assert step(found, "compile", "unhardened").seconds == Figure(14.0)
    assert step(found, "instrumented", "gcc-pgo").seconds == Figure(14.0), "and so does one that counts"
    assert step(found, "instrumented", "clang-pgo-thinlto").seconds == Figure(9.0)


def test_where_one_compiler_has_compiled_the_other_is_expected_to_take_as_long() -> None:
    """A host that takes twice as long for the baseline does so for clang's builds: the engine's figure is for none."""
    spec = replace(SPEC, costs=replace(SPEC.costs, compile_s=100, once_read=0.3))
    rows = [(name, "baseline", Cost(200.0)) for name in ("compile", "compile by gcc")]
    for history, full in ((History([]), 100.0), (History(rows), 200.0)):
        found = plan(spec=spec, history=history)
        assert step(found, "instrumented", "clang-pgo-thinlto").seconds == Figure(full)
        assert step(found, "with profile", "clang-pgo-thinlto").seconds == Figure(0.3 * full)
        assert step(found, "compile", "static").seconds == Figure(RELINK_SHARE * full)


def test_a_first_plan_says_what_a_compile_took_on_the_slowest_host() -> None:
    spec = replace(SPEC, costs=replace(SPEC.costs, compile_s=1900), slow_compile_s=6300)
    line = "a full compile counts 31 min 40 s, as on a quiet host; on the slowest so far it took 1 h 45 min"
    first = plan(spec=spec)
    assert line in summary(first)
    assert line in summary(first, seconds=False)
    assert "guessed" not in first.as_dict()
    assert line not in summary(plan(spec=spec, have={each.key for each in first.steps}))
    measured = plan(spec=spec, history=History([("compile by gcc", "baseline", Cost(2400.0))]))
    assert not any("slowest" in each for each in summary(measured))
    assert not any("slowest" in each for each in summary(plan())), "of this engine no slow host is recorded"


def test_what_clang_has_read_for_another_build_is_expected_to_cost_its_making_alone() -> None:
    spec = replace(SPEC, costs=replace(SPEC.costs, compile_s=100, once_read=0.3))
    rows = [("compile", "baseline", Cost(70.0)), ("with profile (sources read before)", "another", Cost(12.0))]
    for history, expected in ((History([]), Figure(30.0, known=False)), (History(rows), Figure(12.0))):
        own = step(plan(spec=spec, history=history), "with profile", "clang-pgo-thinlto")
        assert (own.kind, own.seconds) == ("read", expected)
    read = {reading_key(each) for _, chain in CHAINS for each in chain if isinstance(each, Compile)}
    fresh = step(plan(readings=frozenset(read - {None})), "instrumented", "clang-pgo-thinlto")
    assert fresh.kind == "read", "an earlier run had them read"
    assert step(plan(), "with profile", "gcc-pgo").kind == "compile", "gcc reads and makes at once"


def test_the_summary_says_what_is_ahead() -> None:
    trials = Step("trials", "trials of 14 cells", (), "", False, Figure(600.0))
    left = replace(plan(trials=trials), left_out=(("mine", "no compiler 'gcc-99'"),), to_install=("bolt-19",))
    lines = summary(left)
    builds = "6 full compiles, 2 builds from cached objects, 1 build of sources read before"
    assert f"{builds}, 3 trainings, 2 BOLT steps, 8 gates" in lines[0]
    assert lines[-2:] == ["installed first, after asking: bolt-19", "left out: mine: no compiler 'gcc-99'"]
    assert "trials of 14 cells take ~10 min 00 s at least" in lines
    assert not any("?" in line for line in lines), "what is not known is not said"
    assert [line for line in lines if " take " not in line] == summary(left, seconds=False)


def test_the_table_is_readable_at_80_columns() -> None:
    lines = drawn(document(plan())).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("clang-pgo-thinlto-bolt" in line for line in lines)
    assert any(line.rstrip().endswith("cached objects") for line in lines)


def resolved(variants: list[Variant], found: list[Toolchain]) -> list[str | None]:
    return [each.missing for each in resolve_all(variants, found)]


def resolve_all(variants: list[Variant], found: list[Toolchain]) -> list[Chain]:
    return resolve(
        variants,
        spec=replace(SPEC, debian_package=None),
        source_digest="source",
        source=Path("/nowhere"),
        toolchains=found,
        features="full",
        profile_place=Path("/work/p.profdata"),
    )


def test_a_variant_whose_compiler_will_be_installed_is_not_said_to_be_left_out() -> None:
    """On a new machine the plan comes before the installation, and `tune` makes them after it."""
    left = (("clang", "no compiler 'clang'"), ("other", "no compiler 'gcc-99'"))
    lacking = {"clang": ("clang-19", "lld-19"), "other": ("gcc-99",)}
    found = replace(plan(), left_out=left, lacking=lacking, to_install=("bison", "clang-19", "lld-19"))
    assert found.later == ("clang",)
    assert summary(found)[-2:] == [
        "also built, once these are installed: clang (not counted here; plan again after that)",
        "left out: other: no compiler 'gcc-99'",
    ]
    assert replace(found, to_install=("bison",)).later == ()


def test_what_is_missing_names_its_packages() -> None:
    chains = resolve_all([variant("baseline", Recipe()), variant("old", Recipe(toolchain="clang"))], [GCC])
    assert [chain.packages for chain in chains] == [(), system.packages("clang")]


OLDER = toolchain("clang", 16)
BARE_OF_BOLT = replace(CLANG, bolt=None, bolt_can_instrument=False)


@pytest.mark.parametrize(
    ("here", "groups", "clang"),
    [
        ([GCC], ["clang", "bolt"], None),
        ([GCC, CLANG], [], 19),
        ([GCC, BARE_OF_BOLT, OLDER], ["bolt"], 19),
        ([GCC, replace(CLANG, profdata=None)], ["clang"], 19),
        ([GCC, replace(OLDER, linker=None, bolt_can_instrument=False)], ["clang", "bolt"], None),
    ],
)
def test_what_variants_take_is_installed_for_the_clang_that_is_here(
    here: list[Toolchain], groups: list[str], clang: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "find_toolchains", lambda: here)
    variants = [variant(name, LADDER[name]) for name in ("baseline", "clang-pgo-thinlto", "clang-pgo-thinlto-bolt")]
    assert needs.optional_groups(variants) == groups
    assert needs.packages_of(groups) == [name for group in groups for name in system.packages(group, clang)]


def test_what_the_host_lacks_is_left_out_and_what_contradicts_stops_the_request() -> None:
    missing = variant("new", Recipe(toolchain="gcc-99"))
    lacking = variant("lacking", LADDER["clang-pgo-thinlto"])
    parts = replace(CLANG, linker=None)
    baseline = variant("baseline", Recipe())
    why = resolved([baseline, missing, lacking], [GCC, parts])
    assert why[0] is None
    assert "no compiler 'gcc-99' on this machine" in str(why[1])
    assert "no linker for ThinLTO" in str(why[2])
    one = variant("one", Recipe(lto="thin"))
    two = variant("two", Recipe(toolchain="gccc"))
    with pytest.raises(UserError) as raised:
        resolved([baseline, one, missing, two], [GCC, CLANG])
    said = str(raised.value).splitlines()
    assert said[0] == "2 things are wrong with this request:"
    assert "variant one: lto = 'thin' needs clang" in said[1]
    assert "unknown compiler 'gccc' (did you mean 'gcc'?)" in said[2]
    assert len(said) == 3


def test_a_baseline_that_cannot_be_built_stops_the_request() -> None:
    with pytest.raises(UnavailableError, match="no compiler 'gcc-99'"):
        resolved([variant("baseline", Recipe(toolchain="gcc-99"))], [GCC])


def test_every_unknown_name_is_reported_at_once() -> None:
    options = Options(variants=("gcc-o33", "baseline"), workloads=("fake_mx",), features="ful", source=Path("/no/tree"))
    with pytest.raises(UserError) as raised:
        read_request("fake", options)
    said = str(raised.value)
    for words in (
        "unknown variant 'gcc-o33' (did you mean 'gcc-o3'?)",
        "unknown workload of fake 'fake_mx' (did you mean 'fake_mix'?)",
        "unknown feature set of fake 'ful' (did you mean 'full'?)",
        "--source /no/tree: there is no such file or folder",
    ):
        assert words in said


def test_a_build_is_as_wide_as_what_it_took_before_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gib = 1 << 30
    monkeypatch.setattr(forecast, "available_memory", lambda: 8 * gib)
    store = Store(tmp_path / "store")
    of = forecast.widths(SPEC, store, 8, None)
    plain, thin = CHAINS[0][1][-1], chain("thin", LADDER["clang-pgo-thinlto"])[-1]
    assert isinstance(plain, Compile)
    assert isinstance(thin, Compile)
    assert (of(plain, "baseline").compile, of(thin, "thin").link) == (8, 8), "the engine's rough figures"
    store.costs.note("fake", thin.title, "thin", Cost(1.0, peak=5 * gib))
    assert (of(thin, "thin").compile, of(thin, "thin").link) == (8, 1), "with LTO the largest process is the link"
    store.costs.note("fake", "link", "thin", Cost(1.0, peak=2 * gib))
    assert of(thin, "thin").link == 3, "what that very link took"
    store.costs.note("fake", plain.title, "baseline", Cost(1.0, peak=gib))
    assert of(plain, "baseline").compile == 6, "without LTO it may be a compilation"


def test_the_builds_of_mysqls_ladder_take_less_than_four_hours_from_nothing() -> None:
    """By the engine's own rough figures: each full compile is half an hour."""
    spec = load.engine("mysql")
    chains = [(name, chain(name, load.variant(name).recipe, spec)) for name in spec.ladder]
    found = plan(chains=chains, spec=spec)
    assert found.full_compiles == 5
    assert sum(step.seconds.value for step in found.building) < 4 * 3600


@pytest.fixture
def linked() -> Plan:
    """Builds of which only the one with link-time optimisation takes as much memory as 9.7's of MySQL."""
    spec = replace(SPEC, costs=replace(SPEC.costs, link_mb=1500, lto_link_mb=6000))
    names = ("baseline", "gcc-pgo", "clang-pgo-thinlto")
    return plan(chains=[(name, chain(name, LADDER[name], spec)) for name in names], spec=spec)


def test_a_link_that_needs_more_memory_than_there_is_is_refused_before_anything_is_built(linked: Plan) -> None:
    with pytest.raises(UserError) as raised:
        needs.check_memory(linked, 4_000_000_000)
    assert str(raised.value) == (
        "clang-pgo-thinlto: a link with link-time optimisation may take 6.0 GB of memory, 4.0 GB is free here, swap "
        "included; name other variants (`burnish variants` lists some without), or add memory or swap"
    )
    needs.check_memory(linked, 6_000_000_000)
    needs.check_memory(linked, None)


def test_memory_is_asked_for_no_link_that_is_done_or_does_not_compile(linked: Plan) -> None:
    done = tuple(replace(step, cached=step.link is not None) for step in linked.steps)
    needs.check_memory(replace(linked, steps=done), 1_000_000_000)
    assert [step.title for step in linked.steps if step.link is not None] == ["with profile"]


def test_what_a_link_took_here_counts_and_stays_out_of_documents(linked: Plan) -> None:
    history = History((("link", "clang-pgo-thinlto", Cost(1.0, peak=7_000_000_000)),))
    (last,) = (made for made in chain("x", LADDER["clang-pgo-thinlto"]) if made.title == "with profile")
    assert isinstance(last, Compile)
    assert link_memory(last, "clang-pgo-thinlto", SPEC, history) == Figure(7e9, known=True)
    assert link_memory(last, "another", SPEC, history) == Figure(1e6 * SPEC.costs.lto_link_mb)
    assert not any("link" in step for step in linked.as_dict()["steps"])


def vendors(name: str) -> Compile:
    """The last build of a variant of MySQL's own recipe, whose flags name no link-time optimisation."""
    last = chain(name, load.variant(name).recipe, load.engine("mysql"))[-1]
    assert isinstance(last, Compile)
    return last


def test_a_link_compiles_too_where_the_trees_own_options_make_it(tmp_path: Path) -> None:
    spec = load.engine("mysql")
    spec = replace(spec, costs=replace(spec.costs, link_mb=1000, lto_link_mb=6000))
    names = ("baseline", "mysql-vendor-pgo", "mysql-vendor-pgo-lto")
    found = plan(chains=[(name, chain(name, load.variant(name).recipe, spec)) for name in names], spec=spec)
    linked = {each.variants: each.link for each in found.steps if each.link is not None}
    assert linked == {("mysql-vendor-pgo-lto",): Figure(6e9)}, "WITH_LTO decides where it is named"
    with pytest.raises(UserError, match=r"^mysql-vendor-pgo-lto: a link with link-time optimisation may take 6\.0 GB"):
        needs.check_memory(found, 4_000_000_000)
    assert link_memory(vendors("mysql-vendor-pgo"), "x", spec, History()) == Figure(1e9)
    store = Store(tmp_path / "store")
    store.costs.note("mysql", "with profile", "mysql-vendor-pgo-lto", Cost(1.0, peak=7_000_000_000))
    jobs = forecast.widths(spec, store, 8, None)(vendors("mysql-vendor-pgo-lto"), "mysql-vendor-pgo-lto")
    assert jobs.compile > 1, "the largest process of such a build is its link, not a compilation"


def test_a_plan_on_a_fresh_home_says_the_largest_process() -> None:
    spec = replace(SPEC, costs=replace(SPEC.costs, object_mb=700, link_mb=200, lto_link_mb=2500))
    names = ("baseline", "clang-pgo-thinlto")
    found = plan(chains=[(name, chain(name, LADDER[name], spec)) for name in names], spec=spec)
    assert step(found, "compile", "baseline").peak == Figure(0.7e9), "a compilation"
    assert step(found, "with profile", "clang-pgo-thinlto").peak == Figure(2.5e9), "a link"
    assert found.as_dict()["totals"]["peak_bytes"] == {"value": 2.5e9, "known": False}
    assert "largest process: ~2.5 GB" in summary(found)[2]
    cached = plan(have={step(found, "compile", "baseline").key})
    assert step(cached, "compile", "baseline").peak is None, "what is there is not guessed at"


def test_a_plan_that_the_disk_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own sums, with the unpacked source, the servers' data and a margin."""
    costs = replace(SPEC.costs, source_mb=1000, build_mb=5000, kept_mb=900, dataset_mb=500)
    spec, home = replace(SPEC, costs=costs), Home(tmp_path)
    found = plan(chains=[(name, chain(name, LADDER[name], spec)) for name in ("baseline", "gcc-pgo")], spec=spec)
    assert (found.kept.value, found.tree.value) == (3.2e9, 5e9)
    need = round(needs.MARGIN * (1e9 + 5e9 + 3.2e9 + needs.COPIES * 0.5e9))

    def free(number: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=number))

    free(need + 1)
    needs.check_disk(home, spec, found)
    free(need - 100_000_000)
    with pytest.raises(UserError) as raised:
        needs.check_disk(home, spec, found)
    assert str(raised.value) == (
        f"{tmp_path}: {need / 1e9 - 0.1:.1f} GB free, the plan needs about {need / 1e9:.1f} GB; `burnish clean` frees "
        "space, or name a larger disk in BURNISH_HOME"
    )
    done = replace(found, steps=tuple(replace(each, cached=True) for each in found.steps))
    free(round(2 * needs.COPIES * 0.5e9))
    needs.check_disk(home, spec, done)


@pytest.mark.parametrize("engine", ["mariadb", "mysql", "postgresql", "sqlite"])
def test_a_ladder_takes_about_as_much_disk_without_a_plan_as_with_one(engine: str) -> None:
    """What `burnish doctor` says beside what a run asks for."""
    spec = load.engine(engine)
    found = plan(chains=[(name, chain(name, load.variant(name).recipe, spec)) for name in spec.ladder], spec=spec)
    assert needs.disk_of_ladder(spec) == pytest.approx(
        needs.disk_needed(spec, found.kept.value, found.tree.value), rel=0.1
    )


def test_where_a_stage_is_kept() -> None:
    kinds = {stage.title: kept_as(stage) for stage in chain("b", LADDER["clang-pgo-thinlto-bolt"])}
    assert kinds == {
        "instrumented": "builds",
        "training": "profiles",
        "with profile": "builds",
        "BOLT instrumentation": "builds",
        "BOLT training": "profiles",
        "BOLT": "builds",
    }
