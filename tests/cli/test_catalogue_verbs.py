"""The verbs that show the catalogue, as a person and as a machine call them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.base.processor import Processor
from burnish.catalogue import flags, load, options
from burnish.cli import catalogue
from burnish.cli.common import app


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert all(len(line) <= 80 for line in done.output.splitlines() if "--json" not in words)
    return done.output


def values(*words: str) -> list[dict[str, Any]]:
    version, found = json.loads(run(*words, "--json")).values()
    assert version == 1
    return list(found)


def plain(text: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return re.sub(r"\s+", " ", text)


def test_flags_are_listed_by_topic_with_toolchains_and_marks() -> None:
    text = run("flags")
    for entry in flags.flags().values():
        assert f" {entry.name} " in text
    assert re.search(r"^ fast-math .* yes yes +R *$", text, re.MULTILINE)
    assert re.search(r"^ points-to .* yes - *$", text, re.MULTILINE)
    assert re.search(r"^ zero-initialisation .* 12\+ 16\+", text, re.MULTILINE)
    assert "marks: R changes results, P narrows portability, S weakens security" in plain(text)


def test_a_search_shows_entries_in_full() -> None:
    text = plain(run("flags", "xunroll"))
    assert "gcc: -funroll-loops --param=max-unroll-times=2" in text
    assert "clang: -funroll-loops -Xclang -mllvm -Xclang -unroll-max-count=2 [an internal" in text
    assert "answers to sun-compiler-flags: -xunroll=2" in text
    assert "no-pie (weakens security)" in plain(run("flags", "fixed", "address"))
    with pytest.raises(UserError, match=r"no flag says 'unrool' \(did you mean 'unroll-loops'\?\); `burnish flags`"):
        run("flags", "unrool")


def test_flags_for_machines() -> None:
    (entry,) = [each for each in values("flags", "prefetch") if each["flag"] == "prefetch-loops"]
    assert entry["toolchains"]["gcc"] == {
        "c": ["-fprefetch-loop-arrays"],
        "cxx": ["-fprefetch-loop-arrays"],
        "after_counters": True,
    }
    assert "no pass inserts" in entry["toolchains"]["clang"]["absent"]
    assert entry["answers"] == ["sun-compiler-flags: -xprefetch=auto -xprefetch_level=3"]
    assert entry["changes_results"] is False


def test_targets_say_whether_this_host_runs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Processor("x86_64", "old", flags.target("x86-64-v2").needs)
    monkeypatch.setattr(catalogue, "this_processor", lambda: old)
    runs = {each["target"]: each["runs_here"] for each in values("flags", "--targets")}
    assert (runs["x86-64-v2"], runs["haswell"], runs["neoverse-n1"], runs["native"]) == (True, False, False, True)
    text = plain(run("flags", "--targets", "haswell"))
    assert "-march=haswell (this host can't run it)" in text
    assert "-mtune=haswell since" not in text
    with pytest.raises(UserError, match="no target says 'pentium'"):
        run("flags", "--targets", "pentium")


def test_options_of_an_engine() -> None:
    text = plain(run("options", "mariadb", "safemalloc"))
    assert "values: ON | OFF | AUTO; default: AUTO (CMakeLists.txt)" in text
    assert "answers to mysql-manual: debug-full" in text
    assert "none: the gate leaves out 15 tests, of character sets that are" in run("options", "mariadb", "charsets")
    assert {each["name"] for each in values("options", "sqlite")} == set(options.options()["sqlite"])
    assert values("options", "fake") == []
    with pytest.raises(UserError, match=r"no known option of mariadb says 'wth_ssl' \(did you mean 'WITH_SSL'\?\)"):
        run("options", "mariadb", "wth_ssl")


def test_variants_show_their_marks() -> None:
    marked = {each["variant"]: each for each in values("variants")}
    assert marked["ofast-native"]["changes_results"]
    assert marked["ofast-native"]["narrows_portability"]
    assert not marked["gcc-hints-off"]["changes_results"]
    assert marked["gcc-hints-off"]["changes"] == {"flags": "hints-off"}
    assert "no-fortify (weakens security)" in run("variants", "--full")
    assert re.search(r"^no-fortify +S ", run("variants"), re.MULTILINE)


def test_variants_are_a_short_table_or_are_searched() -> None:
    every = load.variants()
    text = run("variants")
    assert len(text.splitlines()) < len(run("variants", "--full").splitlines()) / 2
    assert all(re.search(rf"^{re.escape(name)}( |$)", text, re.MULTILINE) for name in every)
    found = run("variants", "pgo", "BOLT")
    assert plain(every["clang-pgo-thinlto-bolt"].reason) in plain(found)
    assert "no-fortify" not in found
    assert {each["variant"] for each in values("variants", "no-fortify")} < set(every)
    with pytest.raises(UserError, match=r"no variant has 'gcc-pog' \(did you mean 'gcc-pgo'\?\); `burnish variants`"):
        run("variants", "gcc-pog")


def test_an_engine_without_known_options_says_so() -> None:
    assert "no configure option of fake is known" in run("options", "fake")
