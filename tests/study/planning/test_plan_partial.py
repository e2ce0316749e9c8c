"""Patched and static builds in a plan: most of their objects are those of the same recipe without, in the cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_plan import GCC, PACKAGE, SPEC, chain, plan, step, variant

from burnish.builds.sharing import ANY_SOURCE, changed_share, objects_key, relatives
from burnish.builds.stages import Compile, Stage, stages
from burnish.model.recipe import Recipe
from burnish.record.costs import Cost, Figure, History
from burnish.source.patches.patch import Patch
from burnish.study.planning.plan import RELINK_SHARE, summary
from burnish.toolchain.linking import Linking

CODE = Patch(Path("code.patch"), b"--- a/x/one.cc\n+++ b/x/one.cc\n@@ -1 +1 @@\n-a\n+b\n")
HEADER = Patch(Path("header.patch"), b"--- a/x/one.h\n+++ b/x/one.h\n@@ -1 +1 @@\n-a\n+b\n")
Chain = tuple[str, tuple[Stage, ...]]


def patched(name: str, *patches: Patch, recipe: Recipe | None = None) -> Chain:
    return name, stages(
        variant(name, recipe or Recipe()),
        spec=SPEC,
        source="source",
        toolchain=GCC,
        package=PACKAGE,
        features="full",
        with_tools=False,
        bolt=None,
        profile_place="/work/p.profdata",
        patches=patches,
    )


def last(found: Chain) -> Compile:
    stage = found[1][-1]
    assert isinstance(stage, Compile)
    return stage


BASELINE = ("baseline", chain("baseline", Recipe()))
SERIES = [BASELINE, patched("code", CODE), patched("header", HEADER), patched("o3", CODE, recipe=Recipe(level="-O3"))]


def test_a_patched_build_takes_most_objects_from_the_cache() -> None:
    found = plan(chains=SERIES)
    kinds = {each.variants[0]: each.kind for each in found.steps if each.title == "compile"}
    assert kinds == {"baseline": "compile", "code": "partial", "header": "partial", "o3": "compile"}
    assert found.full_compiles == 2
    assert "2 builds with most objects cached" in " ".join(summary(found))
    assert plan(chains=SERIES, objects=None).full_compiles == 4, "without ccache everything is compiled"


def test_so_it_does_when_the_baseline_is_of_another_study() -> None:
    alone = [patched("code", CODE), patched("header", HEADER)]
    assert step(plan(chains=alone), "compile", "code").kind == "compile"
    known = frozenset({objects_key(last(BASELINE))})
    assert plan(chains=alone, objects=known).full_compiles == 0
    here = plan(chains=SERIES[:2], have={last(BASELINE).key})
    assert step(here, "compile", "code").kind == "partial", "it is in the store"


def test_its_cost_is_a_guess_between_none_and_all() -> None:
    full = SPEC.costs.compile_s
    code, header = (step(plan(chains=SERIES), "compile", name).seconds for name in ("code", "header"))
    assert RELINK_SHARE * full < code.value < header.value < full
    assert not code.known
    rows = [("compile", "baseline", Cost(480.0)), ("compile (objects cached)", "other", Cost(60.0))]
    some = ("compile (some objects cached)", "other", Cost(150.0))
    found = plan(chains=SERIES, history=History([*rows, some]))
    assert step(found, "compile", "baseline").seconds == Figure(480.0, known=True)
    assert step(found, "compile", "o3").seconds == Figure(480.0), "not what some patch's build took"
    assert step(found, "compile", "code").seconds == Figure(60.0 + changed_share(last(SERIES[1])) * 420.0)
    for title in ("compile", "compile (objects cached)", "compile (some objects cached)"):
        own = plan(chains=SERIES, history=History([*rows, (title, "header", Cost(222.0))]))
        assert step(own, "compile", "header").seconds == Figure(222.0, known=True)


def test_what_is_expected_is_found_by_key_and_where_the_source_was_not_there_yet_by_name() -> None:
    found = plan(chains=SERIES)
    header = step(found, "compile", "header")
    assert found.expected[header.key] == found.expected["header: compile"] == header.seconds.value
    assert found.expected["header: compile"] < found.expected["baseline: compile"]


@pytest.mark.parametrize("forced", [(), (("STATIC", "ON"),)])
def test_a_static_build_is_one_of_the_same_recipe(forced: tuple[tuple[str, str], ...]) -> None:
    plain = last(BASELINE)
    static = replace(plain, linking=Linking(static=True), options=forced)
    assert relatives(static, "source", forced) == {objects_key(plain)}
    other = replace(static, options=(*forced, ("OTHER", "ON")))
    assert objects_key(plain) not in relatives(other, "source", forced)
    assert relatives(plain, "source", forced) == frozenset()
    both = replace(static, patches=(CODE,), source="patched")
    assert objects_key(plain) in relatives(both, "source", forced)
    assert objects_key(replace(plain, source=ANY_SOURCE)) in relatives(both, "", forced)
