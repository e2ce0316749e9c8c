"""Counts by function, shares, overlap, weights, and what gcc's function numbers stand for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.base.errors import UserError
from burnish.toolchain import counts

COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 10**12), min_size=1)


def test_overlap_by_hand() -> None:
    one, other = {"a": 75, "b": 25, "c": 0}, {"a": 1, "b": 1, "d": 2}
    assert counts.overlap(one, other) == pytest.approx(0.25 + 0.25)
    assert counts.overlap(one, {}) == 0


@given(COUNTS, COUNTS, st.integers(1, 1000))
def test_overlap_is_symmetric_and_whole_with_itself_at_any_scale(
    one: dict[str, int], other: dict[str, int], scale: int
) -> None:
    assert counts.overlap(one, other) == pytest.approx(counts.overlap(other, one))
    assert -1e-9 <= counts.overlap(one, other) <= 1 + 1e-9
    if any(one.values()):
        assert counts.overlap(one, {name: scale * count for name, count in one.items()}) == pytest.approx(1)


def test_the_hottest_first_and_the_hot_ones() -> None:
    result = {"cold": 0, "b": 10, "a": 89, "c": 1}
    assert counts.hottest(result, 2) == [("a", 0.89), ("b", 0.1)]
    assert counts.hot_names(result, 0.99) == {"a", "b"}
    assert counts.hot_names({"cold": 0}, 0.99) == frozenset()


@pytest.mark.parametrize(
    ("weights", "whole"),
    [([1, 1], [1, 1]), ([2, 4], [1, 2]), ([0.5, 2.5], [1, 5]), ([0.1, 0.3], [1, 3]), ([1 / 3, 1], [1, 3]), ([7], [1])],
)
def test_weights_become_the_smallest_whole_numbers(weights: list[float], whole: list[int]) -> None:
    assert counts.whole_weights(weights) == whole


@given(st.lists(st.floats(0.01, 1000), min_size=1, max_size=4))
def test_whole_weights_keep_the_proportion(weights: list[float]) -> None:
    whole = counts.whole_weights(weights)
    assert math.gcd(*whole) == 1
    for weight, number in zip(weights, whole, strict=True):
        assert number / sum(whole) == pytest.approx(weight / sum(weights), rel=0.11, abs=2e-3)


def test_a_weight_too_small_to_count() -> None:
    with pytest.raises(UserError, match=r"each must be 0\.001 or more"):
        counts.whole_weights([1, 0.0001])


BRANCHES = "1 f 10 1 g 0 3 100\n1 f 20 1 f 40 0 50\n1 f 30 1 write@PLT 0 0 9\n"


def test_bolts_counts_are_of_both_ends() -> None:
    assert counts.bolt_counts(BRANCHES) == {"f": 159, "g": 100}


def test_bolts_counts_leave_out_what_is_outside_of_the_program() -> None:
    assert counts.bolt_counts(BRANCHES + "0 [unknown] 0 1 f 0 0 7\n") == {"f": 166, "g": 100}


def test_bolts_branches_are_added_up_by_weight() -> None:
    merged = counts.weighted_fdata([(BRANCHES, 2), ("1 f 10 1 g 0 1 7\n1 h 0 1 g 8 0 1\n", 3)])
    assert merged.splitlines() == [
        "1 f 10 1 g 0 9 221",
        "1 f 20 1 f 40 0 100",
        "1 f 30 1 write@PLT 0 0 18",
        "1 h 0 1 g 8 0 3",
    ]
    headed = counts.weighted_fdata([("boltedcollection\n" + BRANCHES, 1), ("boltedcollection\n" + BRANCHES, 1)])
    assert headed.splitlines()[:2] == ["boltedcollection", "1 f 10 1 g 0 6 200"]


@pytest.mark.parametrize("line", ["4 f 10 g 0 3", "f.fdata", "1 f 10 1 g 0 x 1"])
def test_what_is_no_branch_can_not_be_weighted(line: str) -> None:
    with pytest.raises(UserError, match="is not a branch record"):
        counts.weighted_fdata([(f"{BRANCHES}{line}\n", 1)])


def test_sampled_counts() -> None:
    show = (
        "Function: busy: 1000, 10, 2 sampled lines\nSamples collected in the function's body {\n  1: 100\n}\n"
        "Function: local.__uniq.12: CFG checksum 281614736836119\n500, 3, 1 sampled lines\n"
    )
    assert counts.sample_counts(show) == {"busy": 1000, "local.__uniq.12": 500}, "by lines, and by probes"


def test_gccs_numbers_have_names() -> None:
    # Numbers of gcc 12 for `gcc -fprofile-generate -c a.c -o a.o`, with a local function and one that is not.
    names = counts.gcc_names({"a.o": "a.c"}, [("a.c", "local.constprop.0"), ("", "busy"), ("b.c", "local")])
    assert names.of("a.gcda", 621233293) == "a.c;local"
    assert names.of("a.gcda", 16461680) == "busy"
    assert names.of("sub/a.gcda", 621233293) == "a;#621233293", "a local one is its own file's"
