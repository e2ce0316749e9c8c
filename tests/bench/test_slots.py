"""Slots of a start: given out once, balanced, drawn anew, and the same for the same seed and number."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.bench.slots import draw_order, draw_slots

LABELS = st.lists(st.text(min_size=1, max_size=5), min_size=2, max_size=4, unique=True)


@given(LABELS, st.text(), st.integers(1, 50))
def test_slots_are_given_out_once_and_follow_from_seed_and_number(labels: list[str], seed: str, number: int) -> None:
    drawn = draw_slots(labels, seed, number)
    assert drawn == draw_slots(labels, seed, number)
    assert set(drawn) == set(labels)
    for slot in ("cores", "data", "launch"):
        assert sorted(drawn[label][slot] for label in labels) == list(range(len(labels)))


@given(st.text(), st.integers(0, 20))
def test_of_two_starts_the_second_turns_every_slot(seed: str, block: int) -> None:
    one, two = (draw_slots(["a", "b"], seed, 2 * block + number) for number in (1, 2))
    for label in ("a", "b"):
        assert {slot: 1 - index for slot, index in one[label].items()} == two[label]


def test_slots_are_balanced_over_seeds_and_independent_of_each_other() -> None:
    """Of 2000 fair draws 1000 ± 22 go one way: 5 standard deviations are 112."""
    counts: Counter[object] = Counter()
    for seed in range(2000):
        drawn = draw_slots(["baseline", "candidate"], f"seed {seed}", 1)["baseline"]
        counts.update(drawn.items())
        counts[drawn["cores"] == drawn["data"], "cores and data"] += 1
        counts[drawn["cores"] == drawn["launch"], "cores and launch"] += 1
        counts[drawn["data"] == drawn["launch"], "data and launch"] += 1
    assert all(abs(count - 1000) < 112 for count in counts.values()), counts
    assert len(counts) == 12


def test_orders_are_balanced_in_two_starts_and_independent_of_the_launch() -> None:
    counts: Counter[bool] = Counter()
    for seed in range(2000):
        one, two = (draw_order(["a", "b"], f"warming up {seed}", number) for number in (1, 2))
        assert one == two[::-1]
        assert one == draw_order(["a", "b"], f"warming up {seed}", 1)
        counts[draw_slots(["a", "b"], str(seed), 1)[one[0]]["launch"] == 0] += 1
    assert abs(counts[True] - 1000) < 112


def test_blocks_of_a_cell_are_drawn_anew() -> None:
    firsts = [draw_slots(["a", "b"], "seed", number)["a"]["cores"] for number in range(1, 400, 2)]
    assert 50 < sum(firsts) < 150


TOGETHER = (
    *("postgresql-gcc-bolt", "sqlite-stale-profile", "sqlite-search", "mysql-tune", "mysql-tune-tcmalloc"),
    *("mysql-tune-vendor", "mysql-search", "mysql-apart", "mysql-deploy", "mariadb-search", "mariadb-five"),
)
"""Records of 2026-11-26 and 27 whose servers were launched at the same time: duets and interleaved starts."""
OLDER = ("mariadb-tune", "postgresql-tune")
"""A record of format 1, and one in which to begin on the first cores cost 2.14 % (docs/BIAS.md, "Launched first")."""


@pytest.mark.parametrize(
    ("names", "biased"), [(TOGETHER, set()), (OLDER, {("duet", "cores")})], ids=["launched together", "older"]
)
def test_what_slots_were_worth_is_read_off_committed_records(
    names: Sequence[str], biased: set[tuple[str, str]]
) -> None:
    """benchmarks/slots.py, over records of both formats: a bias stands out by more than three standard errors."""
    root = Path(__file__).parents[2]
    records = [root / "docs" / "results" / f"{name}.jsonl.xz" for name in names]
    done = subprocess.run(
        [sys.executable, root / "benchmarks" / "slots.py", *records], capture_output=True, text=True, check=True
    )
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in done.stdout.splitlines()[2:]]
    assert {tuple(row[:3]) for row in rows} == {
        (design, "few threads", slot) for design in ("duet", "interleaved") for slot in ("launch", "cores", "data")
    }
    standing_out = set()
    for design, _, slot, starts, _, capacity, *_ in rows:
        assert int(starts) >= 10
        found = re.fullmatch(r"([+-]\d+\.\d\d)% ± (\d+\.\d\d)%", capacity)
        assert found is not None, capacity
        if abs(float(found[1])) > 3 * float(found[2]):
            standing_out.add((design, slot))
    assert standing_out == biased
