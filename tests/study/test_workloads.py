from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.bench.datasets import dataset_key
from burnish.catalogue import load
from burnish.engines.contract import OwnData
from burnish.engines.shared import mixes, own_script, sysbench
from burnish.engines.shared.sysbench_parameters import GENERAL
from burnish.model.recipe import Recipe, Variant
from burnish.model.workload import Design, Workload
from burnish.program.built import Built
from burnish.study.constructors.compare import compare_study
from burnish.study.request import workloads
from burnish.study.request.options import Options
from burnish.study.request.workloads import choose
from burnish.study.why import sampling
from burnish.workload.loads import Parameter

SPEC = load.engine("mariadb")


def one(text: str, data: OwnData | None = None) -> Workload:
    (found,) = choose(SPEC, [text], data=data)
    return found


def key(workload: Workload) -> str:
    return dataset_key(SPEC, "10.11", workload)


def test_loads_of_equal_schema_and_size_share_a_dataset() -> None:
    same = {
        key(one(text))
        for text in (
            "oltp_read_only",
            "oltp_point_select:threads=3",
            "oltp_insert:rand-type=pareto",
            "select_random_points",
            "analytical:slice=5",
            "together:oltp_read_only=3,oltp_update_index=1",
        )
    }
    assert len(same) == 1
    assert key(one("oltp_read_only:table-size=5")) not in same
    assert key(one("igen_like")) not in same
    assert key(one("in_turn:oltp_read_only=1,igen_like=1")) not in same


def test_what_an_older_study_prepared_is_still_good() -> None:
    from burnish.base.digest import digest_of

    before = digest_of(["mariadb", "10.11", "sbtest", [["table_size", "100000"], ["tables", "4"]]])
    assert key(one("oltp_read_only")) == before


def test_a_mix_is_written_by_its_parts() -> None:
    found = one("together:oltp_read_only=3,oltp_update_index=1,threads=12")
    assert found.name == "together:oltp_read_only=3,oltp_update_index=1,threads=12"
    assert (found.threads, found.writes, found.design) == (12, True, Design.INTERLEAVED)
    small = one("together:oltp_read_only=1,checksum=1,table_size=50")
    assert small.name == "together:oltp_read_only=1,checksum=1,table-size=50"
    assert {part.parameter("table_size") for part, _ in small.parts} == {"50"}
    assert key(small) == key(one("oltp_read_only:table-size=50"))
    assert one("in-turn:oltp_read_only=1,igen_like=1").settings == load.workload(SPEC, "igen_like").settings


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("together:oltp_read_only=3", "a mix has two loads or more"),
        (
            "together:oltp_read_only=3,oltp_isnert=1",
            r"unknown load, or parameter of one, in together 'oltp_isnert' \(did you mean 'oltp_insert'",
        ),
        ("together:./mine.lua=1,oltp_insert=1", r"^mine\.lua: there is no such file"),
        ("together:./mine.sql=half,oltp_insert=1", r"^mine\.sql: there is no such file"),
        (
            "together:oltp_read_only=90,oltp_insert=10,threads=4",
            r"of 4 client threads none is left for oltp_insert; take --threads 6 or more, smaller weights, or in_turn",
        ),
        ("together:oltp_read_only=half,oltp_insert=1", "give its weight, a whole number from 1 to 1000"),
        ("together:oltp_read_only=1,checksum=1", "checksum wants other data than the load before it"),
        ("bulk_insert:threads=300", "each client thread has a table of its own, and there are 256 of them"),
        ("together:bulk_insert=1,oltp_insert=1", "bulk_insert makes tables of the same names"),
        ("together:igen_like=1,larger_than_memory=1", "its loads want different innodb_flush_log_at_trx_commit"),
    ],
)
def test_a_mix_that_makes_no_sense_is_told(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        one(text)


def told(workload: Workload) -> dict[str, Parameter]:
    """What the parts' programs take, as they would tell."""
    if workload.parts:
        return dict(GENERAL)
    reads = {"range_size": Parameter("number")} if workload.entry == "oltp_read_only" else {}
    names = ("tables", "table_size", "db_ps_mode", "skip_trx")
    switch = Parameter("switch")
    return {**GENERAL, **reads, **{name: switch if name == "skip_trx" else Parameter("text") for name in names}}


def test_a_mixs_parameters_go_to_the_parts_whose_programs_take_them() -> None:
    text = "together:oltp_read_only=1,oltp_insert=1,skip-trx=1,range-size=50,rand-type=pareto,table-size=500"
    found = mixes.check(one(text), told)
    assert (
        found.name == "together:oltp_read_only=1,oltp_insert=1,rand-type=pareto,range-size=50,skip-trx=1,table-size=500"
    )
    read, insert = (dict(part.parameters) for part, _ in found.parts)
    assert (read["skip_trx"], read["range_size"], read["table_size"]) == ("on", "50", "500")
    assert insert["skip_trx"] == "on"
    assert "range_size" not in insert
    assert found.parameters == (("rand_type", "pareto"),), "sysbench's own, for all parts"
    with pytest.raises(UserError, match=r"in together 'range_sise' \(did you mean 'range_size'"):
        mixes.check(one("together:oltp_read_only=1,oltp_insert=1,range-sise=5"), told)
    with pytest.raises(UserError, match="oltp_read_only: skip_trx=perhaps: give on or off"):
        mixes.check(one("together:oltp_read_only=1,oltp_insert=1,skip-trx=perhaps"), told)


def test_threads_are_shared_out_as_the_weights_say_or_it_is_said() -> None:
    three = one("together:oltp_read_only=3,oltp_update_index=1,threads=8")
    assert mixes.shares(three) == [6, 2]
    assert mixes.uneven(three) is None
    odd = mixes.uneven(one("together:oltp_read_only=3,oltp_update_index=1,threads=6")) or ""
    assert odd.endswith(": 6 client threads are shared out 5 : 1, not 3 : 1; take a multiple of 4")
    assert mixes.uneven(one("in_turn:oltp_read_only=3,oltp_update_index=1,threads=6")) is None
    assert one("in_turn:oltp_read_only=90,oltp_update_index=1,threads=2").threads == 2


def test_a_load_named_twice_is_told_however_it_is_spelled() -> None:
    with pytest.raises(UserError, match=r"'oltp_read_only:tables=8' is named twice"):
        choose(SPEC, ["oltp_read_only:tables=8", "oltp_read_only:--tables=8"])


def test_a_users_script_is_known_by_what_it_holds(tmp_path: Path) -> None:
    script = tmp_path / "mine.lua"
    script.write_text("function event() end\n")
    first = one(f"{script}:rows=5")
    assert first.name == "mine.lua:rows=5"
    assert first.program == str(script)
    assert first.writes, "what it does is not known"
    script.write_text("function event() end -- changed\n")
    second = one(f"{script}:rows=5")
    assert (first.name, first.dataset) != (second.name, second.dataset)
    assert first.identity != second.identity


def test_what_a_script_requires_by_an_absolute_path_is_the_systems(tmp_path: Path) -> None:
    system = tmp_path / "share/oltp_common.lua"
    system.parent.mkdir()
    system.write_text("-- sysbench's own\n")
    script = tmp_path / "mine.lua"
    script.write_text(f'dofile("{system}")\nfunction event() end\n')
    assert own_script.files(script) == [script]
    assert own_script.read(script)[0] == script.read_bytes()


def test_what_a_script_requires_beside_itself_is_part_of_it(tmp_path: Path) -> None:
    script, helper, deeper = (tmp_path / name for name in ("mine.lua", "helper.lua", "deeper.lua"))
    script.write_text('require("oltp_common")\nrequire "helper"\nfunction event() end\n')
    alone = one(str(script))
    helper.write_text("require('deeper')\n")
    deeper.write_text("rows = 5\n")
    whole = one(str(script))
    assert alone.identity != whole.identity
    assert own_script.unchanged(whole) == script.read_bytes()
    deeper.write_text("rows = 6\n")
    assert one(str(script)).identity != whole.identity
    with pytest.raises(UserError, match=r"mine\.lua: it, or what it requires, was changed while the study ran"):
        own_script.unchanged(whole)


def test_a_profile_is_trained_without_the_users_configuration_file() -> None:
    """Its key has no settings: another command would find a profile trained under those of this one."""
    name = SPEC.training[0][0]
    (measured,) = choose(SPEC, [name], settings=(("innodb_buffer_pool_size", "8G"),))
    training = workloads.training_workloads(SPEC, [], [measured])
    assert training[name].settings == load.workload(SPEC, name).settings != measured.settings


def test_a_recipes_own_training_is_without_the_users_configuration_file(tmp_path: Path) -> None:
    """And leaves the usual training as it is."""
    script = tmp_path / "mine.lua"
    script.write_text("function event() end\n")
    usual, other = SPEC.training[0][0], f"{SPEC.training[0][0]}:tables=3"
    given = (("innodb_buffer_pool_size", "8G"), ("innodb_page_size", "8k"))
    assert "innodb_page_size" in SPEC.settings.shaping
    measured = choose(SPEC, [usual, other, str(script)], settings=given)
    recipe = Recipe(pgo=True, training=tuple((found.identity, 1.0) for found in measured))
    training = workloads.training_workloads(SPEC, [Variant("v", recipe, "for a test")], measured)
    own = load.workload(SPEC, usual).settings
    assert training[usual].settings == own
    assert dict(training[other].settings) == {**dict(own), "innodb_page_size": "8k"}, "its data need this one"
    assert dict(training[measured[2].identity].settings) == {"innodb_page_size": "8k"}
    assert measured[2].settings == given, "it is measured as it was"
    unknown = Variant("v", replace(recipe, training=(("nothing", 1.0),)), "for a test")
    with pytest.raises(UserError, match=r"variant v: training: .*'nothing'"):
        workloads.training_workloads(SPEC, [unknown], measured)


def test_statements_want_data(tmp_path: Path) -> None:
    path, dump = tmp_path / "mine.sql", tmp_path / "dump.sql"
    path.write_text("SELECT 1;")
    dump.write_text("USE `shop`;")
    with pytest.raises(UserError, match="statements need data to work on"):
        one(str(path))
    found = one(str(path), OwnData(dump))
    assert (found.program, found.database, found.own_data) == ("statements.lua", "shop", str(dump))
    before = key(found)
    path.write_text("SELECT 2;")
    assert key(one(str(path), OwnData(dump))) == before, "the data are the same"
    assert one(str(path), OwnData(dump)).identity != found.identity
    dump.write_text("USE `shop`; SELECT 1;")
    assert key(one(str(path), OwnData(dump))) != before
    before = key(one(str(path), OwnData(dump)))
    (set_,) = choose(SPEC, [str(path)], data=OwnData(dump), settings=(("innodb_encrypt_tables", "ON"),))
    assert key(set_) != before, "they are loaded under the user's settings"
    with pytest.raises(UserError, match="none of the loads uses it"):
        one("oltp_read_only", OwnData(dump))


def test_a_mix_has_loads_of_ones_own_in_it(tmp_path: Path) -> None:
    script, queries, dump = tmp_path / "my-load.lua", tmp_path / "mine.sql", tmp_path / "dump.sql"
    script.write_text("function event() end\n")
    queries.write_text("SELECT 1;")
    dump.write_text("USE `shop`;")
    text = f"in_turn:{script}=2,oltp_read_only=1,threads=6"
    found = one(text)
    assert found.name == "in_turn:my-load.lua=2,oltp_read_only=1,threads=6"
    assert [part.file for part, _ in found.parts] == [str(script), ""]
    assert (found.writes, found.design, found.own_data) == (True, Design.INTERLEAVED, "")
    assert [part.entry for part in sysbench.preparing(found)] == ["oltp_read_only", "my-load.lua"]
    script.write_text("function event() end -- changed\n")
    assert one(text).identity != found.identity

    whole = one(f"together:oltp_read_only=1,{script}=1,{queries}=2", OwnData(dump))
    assert (whole.own_data, whole.database) == (str(dump), "shop")
    assert [part.entry for part in sysbench.preparing(whole)] == ["oltp_read_only"], "the others' data are there"
    assert key(whole) != key(one(f"together:{script}=1,{queries}=2", OwnData(dump)))
    with pytest.raises(UserError, match="statements need data to work on"):
        one(f"together:oltp_read_only=1,{queries}=2")
    with pytest.raises(UserError, match="give its weight, a whole number"):
        one(f"together:oltp_read_only=1,{script}=some")


def test_an_engine_without_sysbench_says_what_it_has() -> None:
    for text, what in (("./mine.sql", "a file of this kind"), ("together:kvtest=1,speedtest1=1", "a mix")):
        with pytest.raises(UserError, match=f"sqlite can't run {what}; it has kvtest, kvtest-read"):
            choose(load.engine("sqlite"), [text])


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nix\.lua: there is no such file"):
        one("./nix.lua")
    bad = tmp_path / "bad.sql"
    bad.write_bytes(b"SELECT '\xff';")
    with pytest.raises(UserError, match="not UTF-8 text"):
        one(str(bad), OwnData(bad))


def test_a_parameter_of_another_engines_load_is_one_of_its_entry() -> None:
    from burnish.engines.registry import create

    spec = load.engine("fake")
    chosen = choose(spec, ["fake_mix:bytes=64"])
    engine = create(spec)
    assert workloads.check(engine, chosen, None) == chosen  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"unknown parameter of fake_mix 'byts' \(did you mean 'bytes'\?\)"):
        workloads.check(engine, choose(spec, ["fake_mix:byts=64"]), None)  # type: ignore[arg-type]


def test_an_option_file_is_for_engines_that_read_one(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[mysqld]\nmax_connections = 5\n")
    options = Options(defaults_file=path)
    assert workloads.read_defaults(SPEC, options)[0] == (("max_connections", "5"),)
    with pytest.raises(UserError, match=r"my\.cnf: SQLite reads no option file; leave it out"):
        workloads.read_defaults(load.engine("sqlite"), options)


def test_given_programs_may_be_of_any_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`compare`, `check` and `why`: the groups of the series that Debian has are for a build of its source alone."""
    path = tmp_path / "my.cnf"
    path.write_text(f"[mysqld]\nmax_connections = 5\n[mariadb-{SPEC.series}]\nsort_buffer_size = 1M\n")
    options = Options(defaults_file=path, ladder=(1, 2))
    assert workloads.read_defaults(SPEC, options)[0][1:] == (("sort_buffer_size", "1M"),)
    left_out = f"[mariadb-{SPEC.series}] (line 3) left out: not for a release that is known yet"
    assert workloads.read_defaults(SPEC, options, existing=True) == ((("max_connections", "5"),), (left_out,))
    absent = tmp_path / "absent"
    with pytest.raises(UserError, match="absent"):
        compare_study("mariadb", [absent, absent], options)
    assert left_out in capsys.readouterr().err
    built = Built("mariadbd", absent, absent, "")
    request = sampling.Request("mariadb", ("one", "other"), (built, built))
    with pytest.raises(UserError, match="that is 2 loads"):
        sampling.why(Home(tmp_path), request, None, None, options, Console(), None)
    assert left_out in capsys.readouterr().err
