"""Which pairs of a sampled start the profiles are made from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.bench.sampling import Ability, Stacks
from burnish.model.workload import Design, Placement
from burnish.study.why import evaluation
from burnish.study.why.evaluation import Sampled
from burnish.why.stacks import Side


@pytest.mark.parametrize(("share", "cpu", "what"), [(None, 2.0, ""), (0.25, 0.5, " in user code")])
def test_pictures_without_the_kernel_are_of_user_codes_time(share: float | None, cpu: float, what: str) -> None:
    sampled = cast(Any, SimpleNamespace(user_share=lambda _: share))
    side = Side({}, "/sbin/server", 2.0)
    drawn, said = evaluation._drawn(sampled, "a", side)
    assert (drawn.cpu, said) == (cpu, what)


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
