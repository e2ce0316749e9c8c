"""What two programs are called in a comparison: by the user, or as much of their paths as tells them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.study.comparison import Comparison
from burnish.study.constructors.compare import compare_study
from burnish.study.request.options import Options
from conftest import BuildFake


@pytest.fixture
def programs(build_fake: BuildFake) -> list[Path]:
    return [build_fake(*flags).server for flags in ((), ("-DFAKE_SPEED=130",))]


def compared(programs: list[Path], *labels: str | None) -> tuple[Comparison, tuple[str, ...]]:
    """The first comparison, and what the definition says of the programs."""
    study = compare_study("fake", programs, Options(labels=labels))
    return study.comparisons[0], tuple(study.definition.variants)


def test_programs_are_called_as_the_user_says(programs: list[Path]) -> None:
    comparison, variants = compared(programs, "old", "new")
    assert (comparison.base, comparison.candidate) == ("old", "new")
    plain, unnamed = compared(programs)
    assert variants == tuple(f"{label}={word}" for label, word in zip(("old", "new"), unnamed, strict=True))
    assert plain.base != plain.candidate
    half, _ = compared(programs, None, "new")
    assert (half.base, half.candidate) == (plain.base, "new")


def test_two_programs_have_two_names(programs: list[Path]) -> None:
    with pytest.raises(UserError, match=r"both programs are called 'same'; give names that differ, as in old=PATH"):
        compared(programs, "same", "same")
