"""The studies that ship: every row has its reason, every published line its row, and figures mean what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.catalogue.bundled import published
from burnish.catalogue.bundled.published import Figure, Reference, figure
from burnish.model.workload import OWN_TESTS
from burnish.study.bundled.expansion import Expanded, expand, other_compilers
from burnish.study.comparison import Comparison
from burnish.study.request.workloads import choose

SHIPPED = studies.names()
LEAST = """title = "A study"
reason = "A study of a test, long enough to be a reason."
engine = "fake"
[loads.read]
reason = "The only load that there is for it."
on = { fake = "fake_mix" }
"""
ROW = '[row.one]\ntitle = "one row"\nloads = ["read"]\n'
REASON = 'reason = "A row of a test, long enough to be a reason."\n'
TLS = 'published = { table = "mysql-manual", line = "tls" }\n'
UNLIKE = 'unlike = "Another thing than what was published."\n'


def of(table: Expanded, **match: object) -> list[Comparison]:
    return [
        comparison
        for comparison in table.comparisons
        if all(getattr(comparison, key) == value for key, value in match.items())
    ]


def test_the_studies_are_there() -> None:
    assert {"sun-2008", "mysql-manual"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("engine", ["mariadb", "sqlite", "fake"])
def test_every_comparison_has_two_sides_or_a_reason(name: str, engine: str) -> None:
    own, spec = studies.study(name), load.engine(engine)
    table, rows = expand(own, spec), {row.name: row for row in own.rows_for(engine)}
    assert table.comparisons
    assert len({comparison.key for comparison in table.comparisons}) == len(table.comparisons), "a key names one cell"
    for comparison in table.comparisons:
        row = rows[comparison.row]
        assert len(row.reason) >= 20
        if comparison.reason is None:
            assert {comparison.base} <= set(table.variants)
            assert comparison.release or comparison.candidate in table.variants
            assert comparison.cell is not None or comparison.measure is not None
            differs = (comparison.base, comparison.given) != (
                comparison.candidate,
                (*comparison.given, *comparison.versus),
            )
            assert differs or comparison.control, comparison.key


def test_every_line_of_the_manual_is_a_row() -> None:
    rows = studies.study("mysql-manual").rows
    assert {row.published.line for row in rows if row.published} == set(published.lines("mysql-manual"))
    assert [row.name for row in rows] == [row.published.line for row in rows if row.published]


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("engine", ["mariadb", "fake"])
def test_every_published_figure_says_how_near_its_row_is(name: str, engine: str) -> None:
    rows = {row.name: row for row in studies.study(name).rows_for(engine)}
    for comparison in expand(studies.study(name), load.engine(engine)).comparisons:
        if comparison.published is not None and rows[comparison.row].none is None:
            assert comparison.likeness is not None, comparison.key
            assert bool(comparison.likeness.unlike) == (comparison.likeness.kind != "as published"), comparison.key


@pytest.mark.parametrize("name", SHIPPED)
def test_every_published_line_has_a_row_or_a_reason(name: str) -> None:
    study = studies.study(name)
    references = [each for row in study.rows for each in (row.published, *row.published_on.values()) if each]
    answered = {(each.table, line) for each in references for line in (each.line, each.against)}
    answered |= {(part.table, line) for part in study.not_replicated for line in part.lines}
    for table in study.sources:
        assert {(table, line) for line in published.lines(table)} <= answered
    assert all(set(part.lines) <= set(published.lines(part.table)) for part in study.not_replicated if part.table)


def test_the_farthest_of_row_reading_and_series_counts_and_all_reasons_are_kept() -> None:
    table = expand(studies.study("sun-2008"), load.engine("mariadb"))
    (over_o2,) = of(table, series="gcc", row="fbo", reading="feedback", threads=1)
    assert over_o2.likeness is not None
    assert over_o2.likeness.kind == "different"
    said = " ".join(over_o2.likeness.unlike)
    assert "in place of Sun Studio 12's" in said
    assert "published over -fast" in said
    assert "four processors" in said
    (whole,) = of(table, series="gcc-whole", row="fbo", reading="igen", threads=1)
    assert whole.likeness is not None
    assert whole.likeness.kind == "stand-in"
    assert "four processors" not in " ".join(whole.likeness.unlike)
    (fast,) = of(table, series="gcc-whole", row="fast", reading="feedback", threads=1)
    assert fast.likeness is not None
    assert fast.likeness.kind == "stand-in", "its own base is not the reading's"


def test_feedback_and_aliasing_come_on_top_as_published() -> None:
    table = expand(studies.study("sun-2008"), load.engine("mariadb"))
    (both,) = of(table, series="gcc", row="fbo+alias", reading="feedback", threads=1)
    base, candidate = table.variants[both.base].recipe, table.variants[both.candidate].recipe
    assert (base.flags, base.pgo) == (("no-strict-aliasing",), False)
    assert (candidate.flags, candidate.pgo) == ((), True)
    assert both.published == figure(
        Reference("sun-studio-12-64bit", "fbo+alias", "studio12", "unpatched", "unpatched"), 1
    )


def test_feedback_is_also_over_a_base_like_fast_whose_results_stay_the_same() -> None:
    table = expand(studies.study("sun-2008"), load.engine("mariadb"))
    for name in ("fbo", "fbo+unroll", "fbo+prefetch", "fbo+alias", "fbo+points-to"):
        (each,) = of(table, series="gcc", row=f"over-fast+{name}", threads=1)
        base, candidate = table.variants[each.base].recipe, table.variants[each.candidate].recipe
        assert (base.level, base.target, candidate.level, candidate.target) == ("-O3", "native", "-O3", "native")
        assert not {"Ofast", "fast-math"} & {*base.flags, *candidate.flags}
        assert (base.pgo, candidate.pgo) == (False, True)


def test_sun_has_its_rows_readings_and_series() -> None:
    table = expand(studies.study("sun-2008"), load.engine("mariadb"), second={"gcc": "gcc-11", "clang": None})
    assert {comparison.threads for comparison in table.comparisons} == {1, 2, 4, 8, 16, 32, 64}
    (plain,) = of(table, series="gcc", row="unroll", reading="options", threads=4)
    (source,) = of(table, series="gcc", row="unroll", reading="source", threads=4)
    assert (plain.base, source.base) == ("baseline", plain.candidate), (
        "the source change is compared with the same options"
    )
    patches = table.variants[source.candidate].recipe.patches
    assert [Path(path).name for path in patches] == ["univ-noinline.patch"]
    assert Path(patches[0]).is_file()
    assert table.variants[plain.candidate].recipe.flags == ("unroll-loops-twice",)
    (narrow,) = of(table, series="clang-32", row="native", reading="options", threads=1)
    own = table.variants[narrow.candidate].recipe
    assert (own.toolchain, own.word, own.target) == ("clang", 32, "native")
    assert table.variants[narrow.base].recipe.word == 32, "the base has the same word size"
    (other,) = of(table, series="gcc", row="fbo", reading="compiler", threads=1)
    assert table.variants[other.candidate].recipe.toolchain == "gcc-11"
    (none,) = of(table, series="clang", row="fbo", reading="compiler", threads=1)
    assert "--second-compiler" in (none.reason or "")
    (restrict,) = of(table, series="gcc", row="restrict", threads=1)
    assert restrict.final
    assert "points-to" in (restrict.reason or "")


def test_without_a_profile_the_third_reading_is_a_control() -> None:
    table = expand(studies.study("sun-2008"), load.engine("mariadb"))
    (control,) = of(table, series="gcc", row="fast", reading="igen", threads=16)
    assert control.control
    assert control.base == control.candidate
    (trained,) = of(table, series="gcc", row="fbo", reading="igen", threads=16)
    assert not trained.control
    assert table.variants[trained.candidate].recipe.training == (("igen_like", 1.0),)
    assert table.variants[trained.base].recipe.training == (("oltp_read_only", 1.0),)


def test_equal_comparisons_are_one_cell() -> None:
    table = expand(studies.study("mysql-manual"), load.engine("mariadb"))
    (one,), (other,) = of(table, row="debug"), of(table, row="debug-full-skip-safemalloc")
    assert one.cell is not None
    assert other.cell is not None
    assert one.cell.name == other.cell.name


@pytest.mark.parametrize(
    ("more", "says"),
    [('versus = ["transport=pigeon"]\n', "'pigeon'"), ('loads = ["read"]\n', "'fake_unknown'")],
)
def test_what_this_burnish_does_not_know_is_a_reason(tmp_path: Path, more: str, says: str) -> None:
    path = tmp_path / "x.toml"
    unknown = "fake_unknown" if "loads" in more else "fake_mix"
    text = LEAST.replace("fake_mix", unknown) + '[row.one]\ntitle = "one row"\n' + REASON + more
    path.write_text(text if "loads" in more else text + 'loads = ["read"]\n')
    (each,) = expand(studies.read(path), load.engine("fake")).comparisons
    assert "not known to this Burnish" in (each.reason or "")
    assert says in (each.reason or "")


@pytest.mark.parametrize(
    ("reference", "threads", "words"),
    [
        (Reference("mysql-manual", "tls"), None, "-55"),
        (Reference("mysql-manual", "tcp-remote"), None, "-11 to -8"),
        (Reference("mysql-manual", "frame-pointer"), None, "+1 to +4"),
        (Reference("mysql-manual", "charsets"), None, "no figure"),
        (Reference("mysql-manual", "compile-memory"), None, "200 MB"),
        (Reference("sun-studio-11-32bit", "builtin", "baseline-studio11", "inlined", "inlined"), 8, "+3.7"),
        (Reference("sun-studio-12-64bit", "fbo", "studio12", "unpatched", "unpatched"), 16, "+8.9"),
        (Reference("pgo-sysbench", "pgo", "original"), 16, "+43.6"),
        (Reference("arm-patches", "read_only"), None, "+2.7"),
    ],
)
def test_published_figures_are_changes_in_per_cent(reference: Reference, threads: int | None, words: str) -> None:
    result = figure(reference, threads)
    assert result is not None
    assert result.words == words


def test_nothing_was_published_for_other_threads() -> None:
    assert figure(Reference("sun-studio-11-32bit", "builtin", "baseline-studio11", "plain", "plain"), 64) is None
    assert Figure(None, None).words == "no figure"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LEAST + ROW, "x.toml: row one: reason: field required"),
        (LEAST + ROW + 'reason = "short"\n', "x.toml: row one: reason: string should have at least 20 characters"),
        (
            LEAST + ROW.replace('"read"', '"raed"') + REASON,
            "unknown load in x.toml: row one 'raed' (did you mean 'read'?)",
        ),
        (LEAST + ROW + REASON + 'build = "gcc-o33"\n', "unknown variant 'gcc-o33' (did you mean 'gcc-o3'?)"),
        (
            LEAST + ROW + REASON + 'published = { table = "mysql-manual", line = "tsl" }\n',
            "unknown line of mysql-manual in x.toml: row one 'tsl' (did you mean 'tls'?)",
        ),
        (
            LEAST + ROW + REASON + 'published = { table = "mysql-manul", line = "tls" }\n',
            "unknown published table 'mysql-manul' (did you mean 'mysql-manual'?)",
        ),
        (LEAST + '[row.one]\ntitle = "one row"\n' + REASON, "x.toml: row one: it has no loads"),
        (LEAST + ROW + REASON + 'none = "no"\n', "x.toml: row one: none: string should have at least 20 characters"),
        (LEAST.replace('engine = "fake"\n', "") + ROW + REASON, "x.toml: engine: field required"),
        (LEAST.replace('engine = "fake"', 'engine = "faek"') + ROW + REASON, "unknown engine of x.toml 'faek'"),
        (LEAST.replace("{ fake", "{ sqlit") + ROW + REASON, "engine of x.toml 'sqlit' (did you mean 'sqlite'?)"),
        (LEAST + ROW + REASON + "[row.one.on.oracle]\n", "unknown engine of x.toml 'oracle'"),
        (
            LEAST + ROW + REASON + TLS,
            "x.toml: row one: it has a published figure, so say how it relates to it: likeness",
        ),
        (LEAST + ROW + REASON + TLS + 'likeness = "different"\n', "say in `unlike` what is not as published"),
        (LEAST + ROW + REASON + TLS + 'likeness = "stand-in"\nunlike = "so"\n', "should have at least 20 characters"),
        (LEAST + ROW + REASON + TLS + 'likeness = "as published"\n' + UNLIKE, "`unlike` belongs to likeness ="),
        (LEAST + ROW + REASON + TLS + UNLIKE, "`unlike` belongs to likeness ="),
        (LEAST + ROW + REASON + TLS + 'likeness = "alike"\n', "x.toml: row one: likeness"),
        (
            LEAST
            + ROW
            + REASON
            + TLS
            + 'likeness = "as published"\n[row.one.likeness_on.raed]\nlikeness = "as published"\n',
            "unknown load or reading in likeness_on in x.toml: row one 'raed' (did you mean 'read'?)",
        ),
        (LEAST.replace('reason = "A study of', 'raeson = "A study of') + ROW + REASON, "x.toml"),
    ],
)
def test_a_file_with_something_wrong_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        studies.read(path)
    assert says in str(raised.value)


def test_a_study_may_be_for_an_engine_that_is_not_installed(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    text = LEAST.replace("{ fake", '{ other = "some", fake') + ROW + REASON
    path.write_text(text.replace("[loads.read]", 'other_engines = ["other"]\n[loads.read]'))
    assert studies.read(path).loads["read"].named == {"other": "some", "fake": "fake_mix"}
    path.write_text(text)
    with pytest.raises(UserError, match=r"unknown engine of x\.toml 'other'"):
        studies.read(path)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_loads_of_a_study_are_there(name: str) -> None:
    for item in studies.study(name).loads.values():
        for engine in item.named.keys() & load.engines().keys():
            if item.named[engine] == OWN_TESTS:
                assert load.training(load.engine(engine), OWN_TESTS).engine == engine
            else:
                choose(load.engine(engine), [item.named[engine]])


def test_a_row_may_differ_by_engine(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(LEAST + ROW + REASON + 'build = "clang"\n[row.one.on.fake]\nbuild = "gcc-o3"\n')
    result = studies.read(path)
    assert [row.build for row in result.rows_for("fake")] == ["gcc-o3"]
    assert [row.build for row in result.rows_for("mariadb")] == ["clang"]


def test_another_patch_level_is_the_nearest_of_the_family() -> None:
    class Fake:
        def __init__(self, name: str, family: str, major: int) -> None:
            self.name, self.family, self.major = name, family, major

    result = [
        Fake("gcc-14", "gcc", 14),
        Fake("gcc-12", "gcc", 12),
        Fake("gcc-14.1.0", "gcc", 14),
        Fake("clang-19", "clang", 19),
    ]
    assert other_compilers(result) == {"gcc": "gcc-14.1.0", "clang": None}  # type: ignore[arg-type]


def test_unknown_study() -> None:
    with pytest.raises(UserError, match=r"unknown bundled study 'sun-2009' \(did you mean 'sun-2008'\?\)"):
        studies.study("sun-2009")


def test_a_suite_is_a_cell_for_each_of_its_tests() -> None:
    table = expand(studies.study("mysql-manual"), load.engine("mariadb"))
    own = of(table, row="debug-full-benchmarks")
    assert len(own) > 1
    assert all(item.test and item.reason is None for item in own)
    assert len({item.key for item in own}) == len({each.cell.name for each in own if each.cell}) == len(own)
