"""Which pairs of a sampled start the profiles are made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from burnish.bench.sampling import Ability, Stacks
from burnish.model.workload import Design, Placement
from burnish.study.why.evaluation import Sampled


@pytest.mark.parametrize(
    ("stacks", "pairs", "profiled"),
    [
        (Stacks.POINTERS, "abcd", "abcd"),
        (Stacks.DWARF, "abcd", "acd"),
        (Stacks.DWARF, "abc", "ac"),  # of a load so slow that the last pair was not reached
        (Stacks.DWARF, "ab", "a"),
    ],
)
def test_the_pair_with_copies_of_the_stack_is_left_out_wherever_the_start_ended(
    stacks: Stacks, pairs: str, profiled: str
) -> None:
    ability = cast(Ability, None)
    taken = cast(Any, list(pairs))
    sampled = Sampled({}, Path("perf"), ability, stacks, Design.DUET, Placement.SHARED, taken, (), {}, {})
    assert "".join(cast(Any, sampled.profiled)) == profiled
