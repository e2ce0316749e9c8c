"""The arithmetic of costs per transaction: they add up, differences have errors, the table explains most."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.record.codec import value_of
from burnish.record.events.why import SampleProfile
from burnish.why.attribution import (
    REST,
    Function,
    Part,
    Profile,
    explaining,
    objects,
    part_of,
    profile,
    profile_from,
    rows,
)
from burnish.why.samples import KERNEL, UNKNOWN

SERVER = "/srv/mariadbd"
LIBC = "/usr/lib/libc.so.6"


def made(label: str = "a", cpu: float = 100e-6, samples: int = 10_000, **weights: int) -> Profile:
    return profile(label, cpu, samples, [(SERVER, name, weight) for name, weight in weights.items()], SERVER)


def own(name: str) -> Function:
    return Function(Part.OWN, "", name)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        (KERNEL, Part.KERNEL),
        (SERVER, Part.OWN),
        (LIBC, Part.LIBC),
        ("/lib64/ld-linux-x86-64.so.2", Part.LIBC),
        ("/usr/lib/libm.so.6", Part.LIBC),
        ("[vdso]", Part.LIBC),
        ("/usr/lib/libmariadb.so", Part.LIBRARY),
        ("/usr/lib/libstdc++.so.6.0.30", Part.LIBRARY),
        (UNKNOWN, Part.LIBRARY),
    ],
)
def test_whose_code(name: str, part: Part) -> None:
    assert part_of(name, SERVER) is part


def test_costs_are_shares_of_what_was_measured() -> None:
    weights = [(SERVER, "f", 30), (SERVER, "f", 20), (LIBC, "memcpy", 10), (KERNEL, "send", 40)]
    result = profile("a", 200e-6, 100, weights, SERVER)
    assert result.cost(own("f")) == pytest.approx(100e-6)
    assert result.cost(Function(Part.LIBC, "libc.so.6", "memcpy")) == pytest.approx(20e-6)
    assert result.parts() == pytest.approx({Part.OWN: 100e-6, Part.LIBC: 20e-6, Part.LIBRARY: 0.0, Part.KERNEL: 80e-6})
    assert [function.name for function in result.heaviest()] == ["f", "memcpy"], "the kernel apart"


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 10**9), min_size=1), st.floats(1e-7, 1.0))
def test_all_costs_add_up(weights: dict[str, int], cpu: float) -> None:
    result = made(cpu=cpu, **weights)
    assert sum(result.cost(function) for function in result.shares) == pytest.approx(cpu)
    assert sum(result.parts().values()) == pytest.approx(cpu)


def test_where_only_user_time_was_sampled_the_kernel_is_one_lump() -> None:
    result = profile("a", 100e-6, 10, [(SERVER, "f", 1)], SERVER, user_share=0.75)
    assert result.parts()[Part.KERNEL] == pytest.approx(25e-6)
    assert result.cost(own("f")) == pytest.approx(75e-6)


def test_the_record_gives_the_profile_back_and_puts_what_is_tiny_together() -> None:
    result = made(f=99_999, tiny=1, mite=1)
    again = profile_from(value_of(SampleProfile, result.as_dict()))
    assert again.cost(own("f")) == pytest.approx(result.cost(own("f")))
    assert again.cost(own(REST)) == pytest.approx(result.cost(own("tiny")) + result.cost(own("mite")))
    assert sum(again.shares.values()) == pytest.approx(1)
    assert (again.label, again.cpu, again.samples) == (result.label, result.cpu, result.samples)


def test_the_error_is_binomial_and_never_below_one_sample() -> None:
    result = made(f=50, g=50, samples=10_000)
    assert result.error(own("f")) == pytest.approx(100e-6 * 0.5 / 100)
    assert result.error(own("not there")) == pytest.approx(100e-6 * 1e-4, rel=0.01)


def test_rows_are_differences_a_transaction_not_of_shares() -> None:
    """All shares are the same, but everything takes half the time: every function has saved half of its own."""
    before, after = made("a", 100e-6, f=60, g=40), made("b", 50e-6, f=60, g=40)
    one, other = rows(before, after)
    assert (one.name, one.before, one.after) == ("f", pytest.approx(60e-6), pytest.approx(30e-6))
    assert one.difference == pytest.approx(-30e-6)
    assert other.difference == pytest.approx(-20e-6)
    assert one.certain
    assert one.error == pytest.approx(math.hypot(before.error(own("f")), after.error(own("f"))))


def test_functions_of_one_build_only_are_marked() -> None:
    result = {row.name: row for row in rows(made(f=50, g=50), made(f=50, h=50), frozenset("g"), frozenset("h"))}
    assert {name: row.note for name, row in result.items()} == {"f": "", "g": "gone", "h": "new"}
    assert result["g"].after == 0


def test_the_table_explains_most_with_few_and_leaves_chance_out() -> None:
    before = made("a", 100e-6, big=500, small=100, same=400, samples=1000)
    after = made("b", 100e-6, big=100, small=95, same=405, other=400, samples=1000)
    every = rows(before, after)
    shown = explaining(every)
    assert {row.name for row in shown} == {"big", "other"}
    assert not next(row for row in every if row.name == "same").certain
    assert explaining(every, Part.KERNEL) == []


def test_the_kernel_has_a_table_of_its_own() -> None:
    before = profile("a", 100e-6, 10_000, [(KERNEL, "send", 50), (SERVER, "f", 50)], SERVER)
    after = profile("b", 60e-6, 10_000, [(KERNEL, "send", 30), (SERVER, "f", 30)], SERVER)
    every = rows(before, after)
    assert [row.name for row in explaining(every)] == ["f"]
    assert [row.name for row in explaining(every, Part.KERNEL)] == ["send"]


def test_objects_add_up_over_their_functions() -> None:
    before = profile("a", 100e-6, 100, [(LIBC, "x", 10), (LIBC, "y", 20), (SERVER, "f", 60), (KERNEL, "k", 10)], SERVER)
    after = profile("b", 50e-6, 100, [("/opt/libother.so", "z", 50), (SERVER, "f", 50)], SERVER)
    result = {row.name: row for row in objects(before, after)}
    assert next(iter(result)) == "the server's own code"
    assert result["libc.so.6"].before == pytest.approx(30e-6)
    assert result["libother.so"].after == pytest.approx(25e-6)
    assert result["kernel"].difference == pytest.approx(-10e-6)
