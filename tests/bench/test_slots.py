"""Slots of a start: given out once, balanced, drawn anew, and the same for the same seed and number."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_scripts import benchmark_script
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
    *("postgresql-gcc-bolt", "sqlite-stale-profile", "sqlite-search", "sqlite-search-again", "sqlite-sittings"),
    *("sqlite-grid", "mysql-tune", "mysql-tune-tcmalloc", "mysql-tune-vendor", "mysql-search", "mysql-apart"),
    *("mysql-deploy", "mysql-arm-2020", "mariadb-search", "mariadb-search-again", "mariadb-search-model"),
    *("mariadb-search-model-five", "mariadb-five", "mariadb-deploy", "mariadb-sun-2008-whole", "mariadb-gcc-pgo-duet"),
    *("mariadb-gcc-pgo-apart", "mariadb-gcc-pgo-whole", "mariadb-arm-2020-whole", "mariadb-search-model-five-again"),
    *("sqlite-sittings-second", "mysql-mysql-manual", "mysql-mysql-manual-compilers", "mysql-tune-zen3"),
    *("mysql-huge-text", "mysql-pgo-clang", "mysql-percona-2026-clang", "mysql-search-zen3", "mysql-tune-zen3-again"),
    *("mysql-search-zen5", "sqlite-grid-zen5", "sqlite-grid-search-zen5"),
    *("mysql-mysql-manual-zen5", "mysql-pgo-zen5", "mysql-tune-vendor-zen5", "mysql-tune-vendor-tests-zen5"),
)
"""Records of 26 November to 1 December whose servers were launched at the same time: duets and interleaved starts."""
FORMAT_1 = ("mariadb-tune",)
UNEVEN = ("postgresql-tune",)
"""A record in which to begin on the first cores cost 2.19 % (docs/BIAS.md, "First on the first cores")."""


@pytest.mark.parametrize(
    ("names", "biased"),
    [(TOGETHER, set()), (FORMAT_1, set()), (UNEVEN, {("duet", "cores")})],
    ids=["launched together", "format 1", "uneven"],
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
    rows = [row for row in rows if row[1] == "few threads"]
    designs = ("duet", "any") if names == FORMAT_1 else ("duet", "interleaved", "any")
    assert {tuple(row[:3]) for row in rows} == {
        (design, "few threads", slot) for design in designs for slot in ("launch", "cores", "data")
    }
    standing_out, errors = set(), dict[tuple[str, str], float]()
    for design, _, slot, starts, _, capacity, *_ in rows:
        assert int(starts) >= 10
        found = re.fullmatch(r"([+-]\d+\.\d\d)% ± (\d+\.\d\d)%", capacity)
        assert found is not None, capacity
        errors[design, slot] = float(found[2])
        if (design != "any" or names == TOGETHER) and abs(float(found[1])) > 3 * float(found[2]):
            standing_out.add((design, slot))
    assert standing_out == biased
    if names == TOGETHER:
        assert all(errors["any", slot] <= error for (_, slot), error in errors.items()), "all starts say most"


def test_starts_count_by_how_little_their_records_load_scatters_and_within_their_cell() -> None:
    """A slot that is worth 1 % on each side of both records, and noise that is 100 times as large in one of them."""
    script = benchmark_script("slots")
    rng = np.random.default_rng(8)
    cells = {}
    for path, noise in (("quiet", 0.002), ("loud", 0.2)):
        had = np.tile([1.0, -1.0, 1.0], 100)  # two in three: a cell's mean of it has to be taken off as well
        figures = 0.01 * had + noise * rng.standard_normal(300)
        cells[Path(path), "load"] = [(figures - figures.mean(), had - had.mean())]
    both, quiet, loud = (
        [float(word.rstrip("%")) for word in script.effect(found).split(" ± ")]
        for found in (cells, {Path("quiet"): cells[Path("quiet"), "load"]}, {Path("loud"): cells[Path("loud"), "load"]})
    )
    assert both[0] == pytest.approx(1.0, abs=0.03)
    assert both == pytest.approx(quiet, abs=0.011)
    assert loud[1] > 50 * both[1]
    assert script.effect({Path("x"): [(np.array([0.1, -0.1]), np.array([1.0, -1.0]))]}) == "-"
