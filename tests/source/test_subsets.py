"""Which patches stand alone, need others or conflict, on a real tree; which builds tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.source.patches import patch_set, subsets
from burnish.source.patches.patch import Patch, PatchError
from burnish.source.patches.series import Named
from burnish.source.patches.subsets import Builds, Kind, Refusal


def change(line: int, old: str | None = None, new: str | None = None) -> str:
    """A patch to one line of a.c, whose neighbours are its context."""
    old, new = old or f"line {line}", new or f"{old or f'line {line}'}, changed"
    return (
        f"--- a/a.c\n+++ b/a.c\n@@ -{line - 1},3 +{line - 1},3 @@\n line {line - 1}\n-{old}\n+{new}\n line {line + 1}\n"
    )


A = change(10)
B = change(20)
C = change(30)
ON_A = change(10, "line 10, changed", "line 10, changed twice")
ALSO_10 = change(10, "line 10", "line 10, otherwise")


@pytest.fixture
def refusal(tmp_path: Path) -> Refusal:
    (tmp_path / "a.c").write_text("".join(f"line {number}\n" for number in range(1, 41)))
    return lambda found: patch_set.refusal(found, tmp_path, "x 1")


def named(*texts: str, reverted: bool = False) -> list[Named]:
    return [
        Named(name, Patch(Path(f"/p/{name}.patch"), text.encode(), reverted), f"{name}.patch")
        for name, text in zip("abcdef", texts, strict=False)
    ]


def built(refusal: Refusal, *texts: str) -> Builds:
    return subsets.builds(subsets.examine(named(*texts), refusal, "x 1"), refusal)


def shown(found: Builds) -> list[tuple[str, Kind, str]]:
    return [(build.variant, build.kind, " ".join(build.patches)) for build in found.builds]


def problem(refusal: Refusal, *texts: str, reverted: bool = False) -> str:
    with pytest.raises(UserError) as error:
        subsets.examine(named(*texts, reverted=reverted), refusal, "x 1")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_one_patch_is_one_build(refusal: Refusal) -> None:
    assert shown(built(refusal, A)) == [("a", Kind.ALONE, "a")]


def test_of_two_patches_all_but_one_is_the_other_alone(refusal: Refusal) -> None:
    result = built(refusal, A, B)
    assert shown(result) == [("a", Kind.ALONE, "a"), ("b", Kind.ALONE, "b"), ("all", Kind.ALL, "a b")]
    assert [build.also for build in result.builds] == [("all but b",), ("all but a",), ()]


def test_three_patches_alone_together_and_all_but_each(refusal: Refusal) -> None:
    result = built(refusal, A, B, C)
    assert shown(result) == [
        ("a", Kind.ALONE, "a"),
        ("b", Kind.ALONE, "b"),
        ("c", Kind.ALONE, "c"),
        ("all", Kind.ALL, "a b c"),
        ("all-but-a", Kind.ALL_BUT, "b c"),
        ("all-but-b", Kind.ALL_BUT, "a c"),
        ("all-but-c", Kind.ALL_BUT, "a b"),
    ]
    assert not any(build.also for build in result.builds)
    assert [patch.path.stem for patch in result.patches_of(result.builds[-1])] == ["a", "b"]


def test_a_patch_that_needs_another_comes_with_it(refusal: Refusal) -> None:
    result = built(refusal, A, B, ON_A)
    assert [member.needs for member in result.members] == [(), (), ("a",)], "not b, which is before it too"
    assert shown(result) == [
        ("a", Kind.ALONE, "a"),
        ("b", Kind.ALONE, "b"),
        ("c", Kind.WITH_NEEDS, "a c"),
        ("all", Kind.ALL, "a b c"),
        ("all-but-c", Kind.ALL_BUT, "a b"),
    ]
    also = {build.variant: build.also for build in result.builds}
    assert also["b"] == ("all but a",), "without a there can't be c"
    assert also["c"] == ("all but b",)
    assert also["a"] == ("what c needs",)


def test_with_two_patches_of_which_one_needs_the_other(refusal: Refusal) -> None:
    result = built(refusal, A, ON_A)
    assert shown(result) == [("a", Kind.ALONE, "a"), ("all", Kind.ALL, "a b")]
    assert result.builds[1].also == ("b with what it needs",)


def test_what_a_patch_needs_gets_a_build_when_there_is_none(refusal: Refusal) -> None:
    on_b = change(20, "line 20, changed", "line 20, changed twice")
    result = built(refusal, A, B, C, ON_A + on_b.partition("+++ b/a.c\n")[2])
    assert result.members[3].needs == ("a", "b")
    assert shown(result)[-1] == ("before-d", Kind.NEEDS, "a b")


def test_conflicts_name_both_file_and_hunk(refusal: Refusal) -> None:
    message = problem(refusal, A, B, ALSO_10)
    assert message.startswith("a and c conflict: after a, c.patch no longer applies (hunk #1 of a.c (line 9)")
    # One that needs a, and can't be after d, which changes the same line again.
    assert problem(refusal, A, ON_A, B, ON_A.replace("twice", "thrice")).startswith("b and d conflict: after b, ")


def test_a_patch_of_another_tree(refusal: Refusal) -> None:
    message = problem(refusal, A, change(20, "line 99"))
    assert message.startswith("/p/b.patch: does not apply to x 1: hunk #1 of a.c (line 19) does not match")
    assert "there is no file b.c" in problem(refusal, A.replace("a.c", "b.c"))


def test_what_the_tree_has_is_offered_the_other_way_round(refusal: Refusal, tmp_path: Path) -> None:
    tree = tmp_path / "a.c"
    tree.write_text(tree.read_text().replace("line 20\n", "line 20, changed\n"))
    message = problem(refusal, A, B)
    assert message.startswith("b.patch: x 1 has it already; leave it out, or say --reverse b")
    tree.write_text(tree.read_text().replace("line 10\n", "line 10, changed twice\n"))
    assert "x 1 has all 3 patches already" in problem(refusal, A, ON_A, B)
    assert "say --reverse all" in problem(refusal, A, ON_A, B)
    assert "x 1 has a, b already; leave it out, or say --reverse a --reverse b" in problem(refusal, A, ON_A, C)


def test_patches_are_taken_out_last_first(refusal: Refusal, tmp_path: Path) -> None:
    tree = tmp_path / "a.c"
    tree.write_text(tree.read_text().replace("line 10\n", "line 10, changed twice\n"))
    result = subsets.examine(named(A, ON_A, reverted=True), refusal, "x 1")
    assert [member.name for member in result] == ["b", "a"]
    assert [member.needs for member in result] == [(), ("b",)]
    assert "c.patch: x 1 does not have it, so it cannot be taken out" in problem(refusal, A, ON_A, C, reverted=True)


def test_names_of_builds_are_unique(refusal: Refusal) -> None:
    odd = [
        Named(name, item.patch, item.origin) for name, item in zip(("x", "all-but-x", "y"), named(A, B, C), strict=True)
    ]
    result = subsets.builds(subsets.examine(odd, refusal, "x 1"), refusal)
    names = [build.variant for build in result.builds]
    assert len(set(names)) == len(names) == 7
    assert "all-but-x-2" in names


def test_what_does_not_apply_so_is_left_out(refusal: Refusal) -> None:
    """c applies to the tree, and after a and b, but not after b alone."""

    def without_a(found: Sequence[Patch]) -> PatchError | None:
        names = [patch.path.stem for patch in found]
        return PatchError("the whole line", "hunk #1") if names == ["b", "c"] else None

    members = subsets.examine(named(A, B, C), refusal, "x 1")
    result = subsets.builds(members, without_a)
    assert result.left_out == (("a", Kind.ALL_BUT, "hunk #1"),)
    assert [build.variant for build in result.builds] == ["a", "b", "c", "all", "all-but-b", "all-but-c"]
