"""Variants that differ in their link alone, from plan to verdict, on the fake engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnish.record.events.builds import BuildMade
from burnish.record.events.trials import StartDone
from burnish.toolchain.link_parts import find_allocator
from burnish.toolchain.toolchains import Toolchain
from studying import QUICK, burnish, events, text


@pytest.fixture(autouse=True)
def need_jemalloc(gcc: Toolchain) -> None:
    if find_allocator("jemalloc", gcc, 64) is None:
        pytest.skip("no jemalloc on this machine")


def test_the_plan_knows_what_is_never_compiled(burnish_home: Path) -> None:
    child = burnish("plan", "fake", "--variant", "strip-all,jemalloc,jemalloc-linked,static-full", "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    steps = [(step["kind"], step["title"], step["variants"]) for step in json.loads(out)["steps"]]
    assert ("after the link", "strip all", ["strip-all"]) in steps
    assert ("after the link", "preload", ["jemalloc"]) in steps
    compiled = [variants for kind, _, variants in steps if kind == "compile"]
    assert compiled == [["baseline", "strip-all", "jemalloc"]], "the baseline's program is theirs"
    again = [variants for kind, _, variants in steps if kind == "relink"]
    assert sorted(again) == [["jemalloc-linked"], ["static-full"]]


def test_a_contradiction_is_found_before_anything_is_built(burnish_home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        '[both]\nreason = "Static and preloaded at once, which cannot be."\n'
        'recipe = { static = "full", allocator = "jemalloc", preload = true }\n'
    )
    child = burnish("tune", "fake", "--variant", "both", "--recipes", own)
    _, err = text(child)
    assert child.returncode == 2
    assert "variant both: static = 'full' and preload contradict" in err
    assert not list((burnish_home / "store").glob("builds/*"))


@pytest.mark.measures
def test_a_preloaded_allocator_is_there_in_every_start(burnish_home: Path) -> None:
    child = burnish("tune", "fake", "--variant", "jemalloc", "--starts", "2", *QUICK, "--json")
    out, err = text(child)
    assert child.returncode == 0, err
    found = json.loads(out)
    (row,) = found["rows"]
    assert 0.7 < row["capacity"]["ratio"] < 1.4, "the fake server allocates nothing under load"
    builds = {each["variant"]: each for each in found["builds"]}
    assert builds["jemalloc"]["gate"].startswith("passed")
    abouts = {made.build.name: made.about for made in events(burnish_home, BuildMade)}
    assert abouts["jemalloc"]["allocator"] == "libjemalloc.so.2, preloaded"
    for start in events(burnish_home, StartDone):
        assert start.launched
        assert all(each.huge_text_bytes is not None for side in start.launched.values() for each in side)
