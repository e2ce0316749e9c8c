"""How much of an older source's profile still matches, weighed by its counts: pure."""

from __future__ import annotations

import pytest

from burnish.profiles import audit, matching

COUNTS = {"hot": 900, "a.c;warm": 60, "b.c;warm": 30, "gone.c;f": 10, "never": 0}


def test_a_function_weighs_as_it_ran() -> None:
    lost = frozenset({("x/a.c", "warm"), ("x/new.c", "added"), ("x/a.c", "never")})
    match = matching.of_clang(COUNTS, lost, ["a.c", "b.c"])
    assert (match.functions, match.unmatched) == (4, 2)
    assert match.share == pytest.approx(0.93)
    assert match.heaviest == (("a.c;warm", 0.06), ("gone.c;f", 0.01))
    assert match.words == (
        "trained on another source; 93 % of its counts still match, in 2 of 4 functions that ran; of what is lost most "
        "is a.c;warm 6 %, gone.c;f 1 %"
    )


def test_nothing_lost_and_nothing_counted() -> None:
    whole = matching.of_clang({"f": 1}, frozenset(), [])
    assert (whole.share, whole.words) == (
        1.0, "trained on another source; 100 % of its counts still match, in 1 of 1 functions that ran"
    )  # fmt: skip
    assert matching.of_clang({}, frozenset(), []).share == 0.0
    assert matching.of_gcc({}, frozenset(), []).share == 0.0


def test_a_profile_of_which_little_matches_is_used_and_one_of_which_hardly_anything_does_is_not() -> None:
    most, few, hardly = (
        matching.of_clang({"kept": kept, "lost": 100 - kept}, frozenset({("a.c", "lost")}), []) for kept in (50, 6, 4)
    )
    advice = "; less than half: a profile trained on this source gains more"
    assert (most.enough, most.words.endswith(advice)) == (True, False)
    assert (few.enough, few.words.endswith(advice)) == (True, True)
    assert not hardly.enough


def test_gccs_functions_weigh_as_their_objects_do() -> None:
    objects = {"x/a.cc.gcda": (4, 800), "x/b.gcda": (1, 100), "x/gone.cc.gcda": (2, 100)}
    lost = frozenset({("../x/a.cc", "int f(int)"), ("../x/h.h", "inlined")})
    match = matching.of_gcc(objects, lost, ["x/a.cc.o", "x/b.o"])
    assert (match.functions, match.unmatched) == (7, 3)
    assert match.share == pytest.approx(0.7)
    assert match.heaviest == (("x/a.cc.gcda", 0.2), ("x/gone.cc.gcda", 0.1))
    assert matching.of_gcc(objects, frozenset({("y/b.c", "g")}), []).share == pytest.approx(0.9)


def test_an_audit_has_all_that_was_not_matched() -> None:
    log = (
        "warning: a.c: function control flow change detected (hash mismatch) warm Hash = 12 up to 0 count discarded\n"
        "warning: b.c: no profile data available for function cold Hash = 7\n"
    )
    found = audit.audit_clang(log, frozenset({"a.c;warm"}))
    assert found.names == {("a.c", "warm"), ("b.c", "cold")}
    assert len(found.mismatched) == 1
