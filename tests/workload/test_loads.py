from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.base.errors import UserError
from burnish.bench.datasets import dataset_key
from burnish.catalogue import load
from burnish.model.workload import Workload
from burnish.workload import loads
from burnish.workload.loads import Parameter

READ = Workload(
    name="oltp_read_only",
    engine="mariadb",
    reason="for tests",
    program="oltp_read_only",
    parameters=(("tables", "4"), ("table_size", "100000")),
    threads=8,
    dataset="sbtest",
    saturated=True,
    shape=("tables", "table_size"),
)
KNOWN = {
    "tables": Parameter("number"),
    "table_size": Parameter("number"),
    "skip_trx": Parameter("switch"),
    "auto_inc": Parameter("switch"),
    "rand_type": Parameter("text", ("uniform", "pareto")),
}


def wanted(text: str) -> Workload:
    return loads.applied(READ, loads.asked(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b", ("a", "b")),
        ("a:x=1,y=2,b", ("a:x=1,y=2", "b")),
        (" a : x=1 , b:y=2,z=3 ,", ("a : x=1", "b:y=2,z=3")),
        ("a,x=1", ("a:x=1",)),
        ("./m.lua:rows=5,../n=x/o.sql", ("./m.lua:rows=5", "../n=x/o.sql")),
        ("", ()),
    ],
)
def test_a_word_with_an_equals_sign_belongs_to_the_load_before_it(text: str, found: tuple[str, ...]) -> None:
    assert loads.split(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=2,b=3", (("a", "2"), ("b", "3"))),
        ("a:x=1,y=2=3, b=0.5", (("a:x=1,y=2", "3"), ("b", "0.5"))),
        ("./m.lua:rows=5=2,../n=x/o.sql=3", (("./m.lua:rows=5", "2"), ("../n=x/o.sql", "3"))),
        ("a:x=1", (("a:x=1", ""),)),
        ("a", (("a", ""),)),
        ("", ()),
    ],
)
def test_a_weight_is_behind_the_last_equals_sign_of_a_load(text: str, found: tuple[tuple[str, str], ...]) -> None:
    assert loads.weighted(text) == found


def test_a_parameter_without_a_load_is_told() -> None:
    with pytest.raises(UserError, match=r"'tables=8' has no load before it; write LOAD:tables=8"):
        loads.split("tables=8,oltp_read_only")


@pytest.mark.parametrize("text", ["a:x", "a:=1", "a:x="])
def test_what_is_no_parameter_is_told(text: str) -> None:
    with pytest.raises(UserError, match=r"is not a parameter; write NAME=VALUE"):
        loads.asked(text)
    with pytest.raises(UserError, match="'x_y' is given twice"):
        loads.asked("a:x-y=1,x_y=2")


def test_a_name_tells_what_differs_and_equal_loads_have_equal_names() -> None:
    one = wanted("oltp_read_only:tables=8,rand-type=pareto")
    assert one.name == "oltp_read_only:rand-type=pareto,tables=8"
    assert one.name == wanted("oltp_read_only:rand_type=pareto,--tables=8").name
    assert dict(one.parameters) == {"tables": "8", "table_size": "100000", "rand_type": "pareto"}
    assert wanted("oltp_read_only:tables=4,threads=8") == READ
    assert one.entry == "oltp_read_only"


def test_only_what_shapes_the_data_tells_datasets_apart() -> None:
    assert wanted("oltp_read_only:rand-type=pareto,skip-trx=on").data_parameters() == READ.data_parameters()
    assert wanted("oltp_read_only:table-size=5").data_parameters() != READ.data_parameters()


def test_settings_that_shape_the_files_tell_datasets_apart() -> None:
    page = replace(READ, settings=(("innodb_page_size", "4k"), ("innodb_buffer_pool_size", "1G")))
    assert page.data_settings({"innodb_page_size"}) == (("innodb_page_size", "4k"),)
    assert page.data_settings({"page_size"}) == ()
    spec = load.engine("mariadb")
    assert dataset_key(spec, "10", page) != dataset_key(spec, "10", READ)
    assert dataset_key(spec, "10", replace(page, settings=page.settings[1:])) == dataset_key(spec, "10", READ)


def test_fewer_threads_are_no_longer_held_to_saturate() -> None:
    assert not wanted("oltp_read_only:threads=4").saturated
    assert wanted("oltp_read_only:threads=16").saturated
    assert wanted("oltp_read_only:threads=16").threads == 16
    for number in ("0", "many", "1025"):
        with pytest.raises(UserError, match=f"threads={number}: give a whole number from 1 to 1024"):
            wanted(f"oltp_read_only:threads={number}")


def test_a_load_with_a_rate_to_keep_to_is_not_held_to_saturate() -> None:
    assert not wanted("oltp_read_only:rate=100").saturated
    assert wanted("oltp_read_only:rate=0").saturated


def test_too_few_threads_for_a_sides_cores_are_named_with_the_number_that_fills_them() -> None:
    assert loads.idle(READ, 2) is None
    message = "8 client threads for a side of 16 cores, which may leave some idle; --threads 64 fills them"
    assert (loads.idle(READ, 16) or "").endswith(message)
    assert loads.idle(wanted("oltp_read_only:threads=1"), 16) is None, "asked for, and not held to saturate"
    assert "--threads 1024" in (loads.idle(READ, 500) or "")


def test_a_ladder_makes_a_load_of_each_step() -> None:
    result = loads.at_each([READ, wanted("oltp_read_only:tables=2")], loads.ladder("1,8"))
    assert [item.name for item in result] == [
        "oltp_read_only:threads=1",
        "oltp_read_only",
        "oltp_read_only:tables=2,threads=1",
        "oltp_read_only:tables=2",
    ]
    assert [item.threads for item in result] == [1, 8, 1, 8]
    assert loads.at_each([READ], ()) == (READ,)
    assert loads.ladder(None) == ()
    with pytest.raises(UserError, match="'x': give whole numbers"):
        loads.ladder("1,x")
    with pytest.raises(UserError, match="4 is given twice"):
        loads.ladder("4,4")


def test_parameters_are_those_of_the_program_and_switches_have_one_spelling() -> None:
    checked = loads.check(wanted("oltp_read_only:skip-trx=TRUE,rand-type=pareto"), KNOWN)
    assert dict(checked.parameters)["skip_trx"] == "on"
    with pytest.raises(UserError, match=r"unknown parameter of oltp_read_only 'tabels' \(did you mean 'tables'\?\)"):
        loads.check(wanted("oltp_read_only:tabels=8"), KNOWN)
    with pytest.raises(UserError, match="rand_type=zipf: 'zipf'; there are: pareto, uniform"):
        loads.check(wanted("oltp_read_only:rand-type=zipf"), KNOWN)
    with pytest.raises(UserError, match="tables=few: give a number"):
        loads.check(wanted("oltp_read_only:tables=few"), KNOWN)
    with pytest.raises(UserError, match="skip_trx=maybe: give on or off"):
        loads.check(wanted("oltp_read_only:skip-trx=maybe"), KNOWN)


def test_a_load_may_be_without_a_parameter_of_its_program() -> None:
    from dataclasses import replace

    narrow = replace(wanted("oltp_read_only:auto-inc=off"), without=("auto_inc",))
    with pytest.raises(UserError, match="unknown parameter of oltp_read_only 'auto_inc'"):
        loads.check(narrow, KNOWN)
