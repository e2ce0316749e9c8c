"""`burnish why` on real SQLite: two builds that differ in their optimisation level, debug information and all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from test_sqlite import SPEC, build, job_for, source, tree

from burnish.base.errors import UserError
from burnish.bench.sampling import find_ability, find_perf
from burnish.engines.sqlite.engine import Sqlite
from burnish.model.recipe import Flags
from burnish.toolchain.toolchains import Toolchain
from conftest import FakeBench

__all__ = ["source", "tree"]  # fixtures


@pytest.mark.real
@pytest.mark.measures
@pytest.mark.timeout(300)
def test_two_builds_of_sqlite_are_explained(
    source: Path, gcc: Toolchain, tmp_path: Path, bench: FakeBench, burnish_home: Path
) -> None:
    try:
        find_ability(find_perf(), pmu=False, lbr=False)
    except UserError as error:
        pytest.skip(str(error))
    servers = []
    for level in ("-O0", "-O1"):
        place = tmp_path / level
        place.mkdir()
        flags = Flags(c=(level, "-g", "-w", *SPEC.package_c), cxx=(), link=SPEC.package_link)
        job = replace(job_for(gcc, source, place / "build", bench), flags=flags)
        servers.append(build(Sqlite(SPEC), job, place / "kept").server)
    words = ["why", *servers, "--seconds", "5", "--workload", "speedtest1", "--yes", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "burnish", *map(str, words)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=200,
        env=os.environ | {"COLUMNS": "80"},
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["explanation"]
    before, after = told["cpu"].values()
    assert before > 1.3 * after
    assert told["method"]["grouping"] == "source"
    rows = {row["name"]: row for row in told["functions"]}
    assert rows["sqlite3VdbeExec"]["difference"] < 0
    assert rows["sqlite3VdbeExec"]["certain"]
    if told["simulated"]:  # there is valgrind, and no PMU
        one, other = (each["totals"] for each in told["simulated"].values())
        assert one["Ir"] > 1.3 * other["Ir"]
