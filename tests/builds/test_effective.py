"""The last flag wins: what was asked for and does not hold in an object is said, with the object."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.builds.effective import examine, holds
from burnish.builds.stages import is_level
from burnish.program.built import CompiledObject

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-Og", "-Oz", "-Ofast", "-O")


@pytest.mark.parametrize(
    ("flag", "command", "in_force"),
    [
        ("-O3", "cc -O3 -c a.c", True),
        ("-O3", "cc -O3 -O2 -c a.c", False),
        ("-O3", "cc -O2 -O3 -c a.c", True),
        ("-O3", "cc -O3 -O -c a.c", False),
        ("-O2", "cc -O2 -Ofast -c a.c", False),
        ("-O3", "cc -c a.c", False),
        ("-fno-plt", "cc -fno-plt -c a.c", True),
        ("-fno-plt", "cc -fno-plt -fplt -c a.c", False),
        ("-fno-omit-frame-pointer", "cc -fno-omit-frame-pointer -fomit-frame-pointer -c a.c", False),
        ("-fomit-frame-pointer", "cc -fomit-frame-pointer -fno-omit-frame-pointer -c a.c", False),
        ("-fomit-frame-pointer", "cc -fno-omit-frame-pointer -fomit-frame-pointer -c a.c", True),
        ("-flto=thin", "cc -flto=thin -fno-lto -c a.c", False),
        ("-flto=thin", "cc -flto=thin -flto -c a.c", False),
        ("-flto=thin", "cc -flto -flto=thin -c a.c", True),
        ("-fprofile-use", "cc -fprofile-use -fprofile-use=/p -c a.c", True),
        ("-fprofile-use", "cc -fprofile-use -fno-profile-use -c a.c", False),
        ("-fprofile-use", "cc -fprofile-use=/p -fno-profile-use -c a.c", False),
        ("-fprofile-use=/p", "cc -fprofile-use=/p -fprofile-use=/other -c a.c", False),
        ("-fplt", "cc -fplt -fno-plt-of-another-name -c a.c", True),
        ("-march=native", "cc -march=native -march=x86-64 -c a.c", False),
        ("-march=native", "cc -march=native -mtune=generic -c a.c", True),
        ("-mavx2", "cc -mavx2 -mno-avx2 -c a.c", False),
        ("-DX", "cc -DX -c a.c", True),
        ("-DX", "cc -DX -UX -c a.c", False),
        ("-DX", "cc -UX -DX -c a.c", True),
        ("-DX", "cc -DX -DX=1 -c a.c", True),
        ("-DX=2", "cc -DX=2 -DX=1 -c a.c", False),
        ("-DX=2", "cc -DX=1 -DX=2 -c a.c", True),
        ("-DX=a=b", "cc -DX=a=b -c a.c", True),
        ("-DX", "cc -DX -DXY=0 -UXZ -c a.c", True),
        ("-UX", "cc -UX -DX -c a.c", False),
        ("-D_FORTIFY_SOURCE=2", "cc -D_FORTIFY_SOURCE=2 -U_FORTIFY_SOURCE -c a.c", False),
        ("-D_FORTIFY_SOURCE=2", "cc -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -c a.c", True),
        ("-ffile-prefix-map=/a=.", "cc -ffile-prefix-map=/a=. -ffile-prefix-map=/b=. -c a.c", True),
        ("-pthread", "cc -pthread -c a.c", True),
        ("-pthread", "cc -c a.c", False),
    ],
)
def test_holds(flag: str, command: str, in_force: bool) -> None:
    assert holds(flag, command.split()) is in_force


@given(st.lists(st.sampled_from(LEVELS), min_size=1), st.sampled_from(LEVELS))
def test_of_many_levels_the_last_one_holds(levels: list[str], asked: str) -> None:
    assert holds(asked, ["cc", *levels, "-c", "a.c"]) is (levels[-1] == asked)


@given(
    st.lists(st.sampled_from(["-fa", "-fno-a", "-fb", "-fno-b", "-DX", "-UX", "-DX=2", "-DY", "-O2", "-O3"])),
    st.sampled_from(["-fa", "-fno-a", "-DX", "-DX=2", "-UX", "-O3"]),
)
def test_a_flag_at_the_end_always_holds_and_one_that_is_nowhere_never(command: list[str], flag: str) -> None:
    assert holds(flag, [*command, flag])
    assert not holds(flag, [word for word in command if word != flag])


@pytest.mark.parametrize("flag", LEVELS)
def test_levels_are_known(flag: str) -> None:
    assert is_level(flag)


@pytest.mark.parametrize("flag", ["-o", "-O2x", "-O4", "-Ofaster", "O2", "-fO2"])
def test_what_is_no_level(flag: str) -> None:
    assert not is_level(flag)


def compiled(source: str, flags: str) -> CompiledObject:
    return CompiledObject(path=f"{source}.o", source=source, command=("cc", *flags.split(), "-c", source))


def test_examine_counts_what_was_cancelled() -> None:
    objects = [
        compiled("/s/a.c", "-O3 -DX"),
        compiled("/s/b.c", "-O3 -DX -O2"),
        compiled("/s/c.cc", "-O3 -fno-rtti"),
        compiled("/s/d.cc", "-O3 -fno-rtti -frtti -O2"),
        compiled("/s/e.cc", "-O3 -fno-rtti -O2"),
    ]
    found = examine(objects, ["-O3", "-DX"], ["-O3", "-fno-rtti"])
    assert found.objects == 5
    assert found.levels == (("-O2", 3), ("-O3", 2)), "the level that is in force, most frequent first"
    assert found.cancelled == (("-O3", 3, "/s/b.c"), ("-fno-rtti", 1, "/s/d.cc"))
    assert found.summary == (
        "5 objects: -O2 in 3, -O3 in 2; -O3 cancelled in 3 of 5 (e.g. /s/b.c); "
        "-fno-rtti cancelled in 1 of 5 (e.g. /s/d.cc)"
    )


def test_each_language_is_held_against_its_own_flags() -> None:
    objects = [compiled("a.c", "-O2 -DC"), compiled("b.cpp", "-O2 -DCXX"), compiled("c.S", "-O2 -DC")]
    assert examine(objects, ["-DC"], ["-DCXX"]).cancelled == ()
    assert {flag for flag, _, _ in examine(objects, ["-DCXX"], ["-DC"]).cancelled} == {"-DC", "-DCXX"}


def test_an_object_without_a_level_says_so() -> None:
    assert examine([compiled("a.c", "-g")], [], []).levels == (("no level", 1),)
    assert examine([], ["-O2"], []).summary == "0 objects: "


def test_a_plain_stack_protector_cancels_the_strong_one() -> None:
    """MariaDB's own hardening switch appends -fstack-protector after Debian's -fstack-protector-strong."""
    command = ("c++", "-fstack-protector-strong", "-fstack-protector", "-c", "a.cc")
    assert not holds("-fstack-protector-strong", command)
    assert holds("-fstack-protector", command)


def test_what_the_recipe_takes_back_itself_was_not_cancelled() -> None:
    """no-stack-protector comes after the package's -fstack-protector-strong: that is no accident."""
    asked = ["-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-fno-stack-protector", "-U_FORTIFY_SOURCE"]
    assert examine([compiled("a.c", " ".join(asked))], asked, []).cancelled == ()
    undone = examine([compiled("a.c", " ".join([*asked, "-fstack-protector"]))], asked, [])
    assert [flag for flag, _, _ in undone.cancelled] == ["-fno-stack-protector"]
