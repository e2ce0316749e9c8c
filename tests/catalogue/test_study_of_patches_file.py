"""The study of the ARM patches as its file says it: a row for each patch, and the published table."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.catalogue.bundled import published
from burnish.catalogue.patches import patch_set
from burnish.study.bundled.expansion import Expanded, expand
from burnish.study.comparison import Comparison

ARM = studies.study("arm-2020")
LEAST = """title = "A study"
reason = "A study of a test, long enough to be a reason."
engine = "fake"
[loads.read]
reason = "The only load that there is for it."
on = { fake = "fake_mix" }
"""
WORK = '[row.one]\npatch = "patches/fake/work"\n'
SET = '[row.one]\ntitle = "one row"\nreason = "A row of a test, long enough to be a reason."\npatch_set = "fake"\n'


def table(architecture: str) -> Expanded:
    return expand(ARM, load.engine("mariadb"), architecture=architecture)


def of(found: Expanded, row: str) -> list[Comparison]:
    return [comparison for comparison in found.comparisons if comparison.row == row]


def names(found: Expanded, build: str) -> set[str]:
    return {Path(path).stem for path in found.variants[build].recipe.patches}


def test_every_patch_is_a_row_on_every_load_where_it_must_show() -> None:
    every = patch_set("arm-2020").patches
    rows = {row.patch.name: row for row in ARM.rows if row.patch is not None}
    assert list(rows) == list(every)
    for name, entry in every.items():
        assert rows[name].name == name
        assert (rows[name].title, rows[name].reason) == (entry.title, entry.reason)
        own = of(table("x86_64"), name)
        if entry.path is None:
            (only,) = own
            assert (only.shows, only.final) == ("no patch", True)
            assert only.reason == f"no patch: {entry.today}. {entry.reason}"
            continue
        assert [(item.load, item.given) for item in own] == [(load.workload, load.words) for load in entry.loads]
        assert all(item.shows == entry.on["x86_64"] for item in own)


def test_on_mysql_its_own_patches_are_the_rows_and_its_own_set_the_table() -> None:
    result = expand(ARM, load.engine("mysql"), architecture="x86_64")
    own = patch_set("arm-2020-mysql").patches
    rows = {row.name for row in ARM.rows if row.patch is not None}
    assert rows - {"cache-line-64"} == set(own) - {"cache-line-arm"}
    assert {item.shows for item in of(result, "cache-line-64")} == {"identical"}
    for name, entry in own.items():
        if entry.path is not None and entry.ability("x86_64") != "identical":
            assert [item.load for item in of(result, name)] == [load.workload for load in entry.loads]
    (each,) = of(result, "all-update-index")
    assert (each.base, each.candidate) == ("without-arm-2020-mysql", "with-arm-2020-mysql")
    assert names(result, each.base) == {"crc32c-hardware", "crc32c-pmull", "my-convert-wide"}
    assert {"sched-getcpu", "cache-line-128", "rw-lock-word"} < names(result, each.candidate)


def test_the_published_table_is_the_whole_set_at_its_threads() -> None:
    result = table("x86_64")
    rows = [row for row in ARM.rows if row.patch_set is not None]
    assert [row.published.line for row in rows if row.published] == list(published.lines("arm-patches"))
    for row, line in zip(rows, published.table("arm-patches"), strict=True):
        (each,) = of(result, row.name)
        assert each.workload is not None
        assert each.workload.name == f"oltp_{line['workload']}:threads={line['threads']}"
        assert (each.base, each.candidate) == ("without-arm-2020", "with-arm-2020")
        assert each.published is not None
        assert each.published.low == float(line["percent"])


def test_figures_of_perf_stand_at_their_loads() -> None:
    figures = {
        (comparison.row, comparison.load): comparison.published.words
        for comparison in table("x86_64").comparisons
        if comparison.shows and comparison.published is not None
    }
    assert figures == {
        ("crc32c-hardware", "oltp_update_non_index"): "3.23 to 0.44",
        ("crc32-hardware", "checksum"): "+50",
        ("crc32-hardware", "oltp_update_non_index"): "0.4 to 0.07",
        ("my-convert-wide", "oltp_read_write"): "0.79 to 0.22",
    }
    assert len(figures) == len(published.lines("arm-perf"))
    units = {
        comparison.load: comparison.published.unit
        for comparison in table("x86_64").comparisons
        if comparison.shows and comparison.published
    }
    assert units.pop("checksum") == "%", "the one figure of a patch that is a change of a rate"
    assert set(units.values()) == {published.SAMPLES}


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_ratios_are_with_over_without(architecture: str) -> None:
    result = table(architecture)
    for entry in patch_set("arm-2020").patches.values():
        for item in of(result, entry.name):
            if entry.direction == "reverted":
                assert (names(result, item.base), item.candidate) == ({entry.name}, "baseline")
            elif entry.direction == "applied":
                assert (item.base, names(result, item.candidate)) == ("baseline", {entry.name})
    without, having = patch_set("arm-2020").sides(architecture)
    for item in of(result, "all-read-only"):  # one patch's build is its row's too, and has that row's name
        assert names(result, item.base) == {path.stem for path in without}
        assert names(result, item.candidate) == {path.stem for path in having}


def test_what_each_architecture_shows() -> None:
    here, there = table("x86_64"), table("aarch64")
    assert {item.shows for item in of(here, "rw-lock-word")} == {"control"}
    assert {item.shows for item in of(there, "rw-lock-word")} == {"shows"}
    assert {item.shows for item in of(here, "cache-line-64")} == {"identical"}
    assert {item.shows for item in of(table("riscv64"), "cache-line-64")} == {"not known"}
    (none,) = of(table("riscv64"), "all-read-only")
    assert none.final, "nobody looked at any of them there"


def test_another_engine_has_none_of_it() -> None:
    for comparison in expand(ARM, load.engine("sqlite")).comparisons:
        assert comparison.final
        assert comparison.reason == "its patches are for mariadb, not for sqlite"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (WORK.replace("work", "wokr"), "x.toml: row one: unknown patch of fake 'wokr' (did you mean 'work'?)"),
        (WORK + 'loads = ["read"]\n', "patch and loads don't go together; its loads are the patch's own"),
        (WORK + 'versus = ["work_percent=130"]\n', "patch and versus don't go together"),
        (WORK + 'patch_set = "fake"\n', "patch and patch_set don't go together"),
        (SET, "x.toml: row one: it has no loads"),
        (SET.replace('"fake"', '"fkae"') + 'loads = ["read"]\n', "unknown set of patches in x.toml: row one 'fkae'"),
        (
            WORK + '[row.one.published_on]\nfake_mxi = { table = "arm-perf", line = "wider copies in my_convert" }\n',
            "unknown load in published_on in x.toml: row one 'fake_mxi' (did you mean 'fake_mix'?)",
        ),
        (
            WORK + '[row.one.published_on]\nfake_mix = { table = "arm-perf", line = "wider copies in my_covnert" }\n',
            "unknown line of arm-perf in x.toml: row one 'wider copies in my_covnert'",
        ),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(LEAST + text)
    with pytest.raises(UserError) as raised:
        studies.read(path)
    assert says in str(raised.value)


def test_least_of_a_row_about_a_patch(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(LEAST + WORK)
    (each,) = expand(studies.read(path), load.engine("fake")).comparisons
    assert (each.base, each.candidate, each.load) == ("without-work", "baseline", "fake_mix")
