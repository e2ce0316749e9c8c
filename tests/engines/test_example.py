"""The walk-through's engine works as it stands in docs/ENGINES.md, installed as a package of somebody else's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from burnish.catalogue.options import read_option

PAGE = Path(__file__).parents[2] / "docs" / "ENGINES.md"
FILE = re.compile(r"^\*\*`([\w./-]+)`\*\*.*?\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """The example's files; what comes in parts is put together."""
    found: dict[str, str] = {}
    for name, text in FILE.findall(PAGE.read_text()):
        found[name] = f"{found[name]}\n{text}" if name in found else text
    return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages, with the example in it as pip would leave it there."""
    place = tmp_path_factory.mktemp("site-packages")
    for name, text in files().items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    project = tomllib.loads((place / "pyproject.toml").read_text())["project"]
    info = place / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return place


def run(installed: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(installed), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )


def test_it_passes_the_tests_that_every_engine_passes(installed: Path, tmp_path: Path) -> None:
    test = str(installed / "test_tally.py")
    options = ["-p", "no:cacheprovider", "--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "run"), "-q"]
    done = run(installed, "pytest", *options, test, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) passed, (\d+) skipped", done.stdout)
    assert found is not None, done.stdout
    assert int(found[1]) > 30
    assert int(found[2]) <= 3, "no clients, no known difference, no single unit"


def test_it_is_tuned_without_a_line_of_burnish(installed: Path, tmp_path: Path, burnish_home: Path) -> None:
    """From its name on the command line to a verdict, with a profile."""
    words = ["tune", "tally", "--variants", "gcc-pgo", "--starts", "2", "--pairs", "1"]
    done = run(installed, "burnish", *words, "--json", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["engine"], found["baseline"]) == ("tally", "baseline")
    assert found["ended"]
    assert {row["candidate"] for row in found["rows"]} == {"gcc-pgo"}
    assert {row["workload"] for row in found["rows"]} == {"sum"}
    assert all(row["verdict"] for row in found["rows"])
    again = run(installed, "burnish", "workload", "list", "tally", "--json", cwd=tmp_path)
    assert [each["workload"] for each in json.loads(again.stdout)["workloads"]] == ["sum"]


def test_without_the_package_there_is_no_such_engine(tmp_path: Path, burnish_home: Path) -> None:
    done = run(tmp_path, "burnish", "tune", "tally", "--yes", cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown engine 'tally'" in done.stderr


def test_other_entries_of_the_page_are_as_their_files_want_them() -> None:
    known = {text for _, text in FILE.findall(PAGE.read_text())}
    (entry,) = (text for text in BLOCK.findall(PAGE.read_text()) if text not in known)
    ((name, value),) = tomllib.loads(entry).items()
    assert read_option(name, value, "docs/ENGINES.md").name == name
