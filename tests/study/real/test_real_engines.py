"""The real things: Debian's own mariadbd and postgres, each against itself, no compile."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

import debians
from benchmark_scripts import benchmark_script
from real_runs import burnish, calm

pytestmark = pytest.mark.real

SPREAD = 0.04
"""Of a start's ratio on a virtual machine: from 1.4 % in a calm hour to 4 % (docs/BIAS.md, "launched first"). Bounds of
four times that are for what is wrong by a factor: a side that counts twice, or the other side's work."""


def near_one(ratio: float, starts: int) -> bool:
    """Whether a ratio of equal programs, the mean of so many starts, is one that noise explains."""
    return abs(math.log(ratio)) < 4 * SPREAD / math.sqrt(starts)


@pytest.mark.measures
@pytest.mark.timeout(900)
def test_debians_mariadbd_against_itself(burnish_home: Path, tmp_path: Path) -> None:
    server = debians.mariadbd(tmp_path)
    twin = server.with_name("mariadbd-twin")
    shutil.copyfile(server, twin)
    twin.chmod(0o755)
    words = ["compare", server, twin, "--engine", "mariadb", "--workload", "oltp_read_only:table-size=10000"]
    done = burnish(*words, "--precision", "none", "--max-starts", "3", "--pairs", "2", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["differences"] == []
    (row,) = calm(found)
    assert row["starts"] >= 2, "one of three may be invalid"
    assert near_one(row["capacity"]["ratio"], row["starts"])
    (canary,) = found["canaries"]
    assert canary["ratios"]
    assert all(near_one(ratio, 1) for ratio in canary["ratios"])
    for side in row["sides"].values():
        assert side["throughput"] > 0
        assert side["latency"]["p95"] > 0


@pytest.mark.measures
@pytest.mark.timeout(600)
def test_debians_postgres_against_itself(burnish_home: Path, tmp_path: Path) -> None:
    inside = debians.postgres(tmp_path).relative_to(tmp_path / "root")
    one, twin = tmp_path / "one", tmp_path / "twin"
    for copy in (one, twin):  # both: a program and its copy differ by more than two copies do
        shutil.copytree(tmp_path / "root", copy, symlinks=True)
    words = ["compare", one / inside, twin / inside, "--engine", "postgresql"]
    words += ["--workload", "select_only:scale=1", "--precision", "none", "--max-starts", "3", "--pairs", "1"]
    done = burnish(*words, "--yes", "--json", limit=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["differences"] == []
    (row,) = calm(found)
    assert row["starts"] >= 2, "one of three may be invalid"
    assert near_one(row["capacity"]["ratio"], row["starts"])
    for side in row["sides"].values():
        assert side["throughput"] > 0
        assert side["latency"]["p95"] > 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("engine", "load"), [("mariadb", "oltp_point_select"), ("postgresql", "select_only")])
def test_debians_servers_serve_on_a_simulated_processor(
    engine: str, load: str, burnish_home: Path, tmp_path: Path
) -> None:
    """One of them waits in io_uring and maps 8 TB, the other has processes with titles of their own, as nobody."""
    caches = benchmark_script("simulated_caches")
    program = debians.mariadbd(tmp_path) if engine == "mariadb" else debians.postgres(tmp_path)
    rows = caches.measure(engine, load, {"debian": program}, seconds=2.0)
    row = next(rows)  # with the smaller cache; the larger one is simulated alike
    rows.close()
    assert row.transactions >= 1
    assert row.per_transaction("Ir") > 10_000
    assert 0 < row.per_transaction("ILmr") < row.per_transaction("I1mr") < row.per_transaction("Ir")
