"""What the command line prints as JSON, frozen: whatever moves inside, these documents stay as they are.

Each test runs ``python -m burnish`` on the fake engine with a fixed seed and number of starts, masks what a run or a
machine decides, and compares the rest with the committed file. Where a change is meant, ``UPDATE_FROZEN=1 pytest
tests/frozen`` writes the files anew; their diff then shows what has changed for users.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from masking import mask

import burnish
from described import wrong
from forking import Call

HERE = Path(__file__).parent
SURE = frozenset({"speed130", "speed130/bin/server", "work"})
"""Thirty per cent of difference each, which three starts tell on any machine."""
QUICK = ["--pairs", "1", "--seed", "1"]

pytestmark = [
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="frozen on x86-64: controls and needs are named after it"
    ),
    pytest.mark.timeout(400),
]

CHANGES = {r"\[different\]\n(?:.+\n)+": "", r"(?<=^steal_bound = )0\.5$": "1.0"}
"""In the engine's file: no known difference, which is some more starts of `calibrate`; and no pair is invalid for what
the hypervisor took, since that changes counts."""

DOCUMENTS = {"plan": "plan", "merge": "export"}
"""The documents of files that are not the result of a run."""

Run = Callable[..., str]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A function that runs a command, which must succeed, and returns its standard output.

    It runs a copy of the package with `CHANGES` to its fake engine, for which there are no options.
    """
    package = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(burnish.__file__).parent, package / "burnish")
    (spec,) = (path for path in package.rglob("*.toml") if path.read_text().startswith('name = "fake"\n'))
    text = spec.read_text()
    for old, new in CHANGES.items():
        text, count = re.subn(old, new, text, flags=re.MULTILINE)
        assert count == 1, old
    spec.write_text(text)
    return functools.partial(_run, package)


def _run(package: Path, *words: str | Path) -> str:
    done = Call(*words, env=os.environ | {"COLUMNS": "80", "PYTHONPATH": str(package)}).finished(timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(
    name: str,
    printed: str,
    *,
    names: Mapping[str, str] | None = None,
    also: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Compares printed JSON with the frozen file of this name; `also` masks what only this document has."""
    document = "study-plan" if name.startswith("show-") else DOCUMENTS.get(name, "run")
    assert wrong(document, json.loads(printed)) == []
    found = mask(json.loads(printed), sure=SURE, names=names)
    if also is not None:
        also(found)
    path = HERE / f"{name}.json"
    # In the order of printing: rows of some tables are keys, and reports follow it.
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_FROZEN"):
        path.write_text(text)
    changed = difflib.unified_diff(path.read_text().splitlines(), text.splitlines(), "frozen", "printed", lineterm="")
    different = "\n".join(changed)
    assert not different, f"{path.name} (meant? UPDATE_FROZEN=1 pytest tests/frozen):\n{different}"


@pytest.mark.measures
def test_tune_and_merge(run: Run, tmp_path: Path) -> None:
    """A faster build, the same code, a failed gate, a failed compile, no compiler; then two such sessions merged."""
    words = ["tune", "fake", "--recipes", HERE / "own.toml", "--variants", "speed130,gcc-o3,wrong,broken,absent"]
    words += ["--starts", "3", *QUICK, "--fresh", "--json"]
    one, other = run(*words), run(*words)
    check("tune", one)
    merged = tmp_path / "merged.jsonl.xz"
    sessions = (json.loads(printed)["name"] for printed in (one, other))
    check("merge", run("record", "merge", *sessions, "-o", merged, "--json"))
    check("merge-show", run("show", merged, "--json"))


@pytest.mark.measures
def test_compare(run: Run, build_fake: Any, tmp_path: Path) -> None:
    """The other server is faster and has fewer features."""
    programs = []
    for name, built in (("usual", build_fake()), ("speed130", build_fake("-DFAKE_SPEED=130", features="trimmed"))):
        shutil.copytree(built.server.parents[1], tmp_path / name)
        programs.append(tmp_path / name / built.server.relative_to(built.server.parents[1]))
    printed = run("compare", *programs, "--engine", "fake", "--starts", "3", *QUICK, "--json")
    check("compare", printed, names={str(tmp_path): "<folder>"})


@pytest.mark.measures
def test_patch(run: Run) -> None:
    """One of the catalogue's patches slows everything down, the other changes no machine code."""
    package = Path(burnish.__file__).parent
    patches = [next(package.rglob(f"patches/fake/{name}.patch")) for name in ("work", "order")]
    check("patch", run("patch", "fake", *patches, "--starts", "3", *QUICK, "--yes", "--json"))


@pytest.mark.measures
def test_calibrate(run: Run) -> None:
    def noise(found: dict[str, Any]) -> None:
        """A/A may win by chance; of twelve starts one may be spoiled."""
        found["sentences"] = "<sentences>"
        found["calibrations"][0]["delta"] = "<float>"
        for row in found["rows"]:
            row |= {"invalid_starts": "<count>", "invalid_pairs": "<count>"}

    check("calibrate", run("calibrate", "fake", "--designs", "duet", *QUICK, "--json"), also=noise)


@pytest.mark.measures
def test_study_of_patches(run: Run) -> None:
    """Rows measured, of identical code, without a patch, and left out.

    What proves faster by less than 3 % would be made again in other link orders, which is chance for some of them.
    """

    def noise(found: dict[str, Any]) -> None:
        """What a negative control is found to be is chance."""
        table = found["shipped"]
        table["controls"] |= {"pooled": "<interval>", "verdict": "<verdict>", "false": "<rows>"}
        for holder, key in ((table, "advice"), (found, "sentences")):
            holder[key] = [text.split("(geometric mean)")[0] for text in holder[key]]

    rows = "rseg-allocation,rw-lock-word,os-once"
    words = ["--engine", "fake", "--rows", rows, "--starts", "2", "--layouts", "0", *QUICK, "--json"]
    printed = run("study", "run", "arm-2020", *words)
    check("study-arm-2020", printed, also=noise)


@pytest.mark.measures
def test_study_of_builds_and_conditions(run: Run) -> None:
    """Rows of a build, of a condition, of memory to compile, of an option that the engine has not, and of no effect."""
    rows = "dynamic-link,strip,charsets,tls,compile-memory"
    printed = run("study", "run", "mysql-manual", "--engine", "fake", "--rows", rows, "--starts", "2", *QUICK, "--json")
    check("study-mysql-manual", printed)


@pytest.mark.measures
def test_study_of_profiles(run: Run) -> None:
    """A row under two trainings, and the published means that it is compared with."""

    def noise(found: dict[str, Any]) -> None:
        """Whether a claim holds is chance; which functions are hottest is when they were counted."""
        table = found["shipped"]
        for line in table["lines"]:
            line["holds"] = "<answer>" if line["holds"] else ""
        for profile in table["extra"]["profile_facts"]:
            profile |= {"hottest": "<functions>", "hot": "<count>", "counted": "<count>"}

    words = ["--engine", "fake", "--rows", "pool-32g", "--threads", "1", "--starts", "2", *QUICK, "--json"]
    check("study-percona-2026", run("study", "run", "percona-2026", *words), also=noise)


def test_plan(run: Run) -> None:
    check("plan", run("plan", "fake", "--json"))


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        # None whose compiler some machines have and others not.
        ("mysql-manual", "dynamic-link,strip,charsets,tcp-local,tls,log-bin,frame-pointer,compile-memory"),
        ("arm-2020", "rseg-allocation,rw-lock-word,os-once"),
    ],
)
def test_plan_of_a_study(run: Run, name: str, rows: str) -> None:
    def cores(found: dict[str, Any]) -> None:
        """How many there are is the machine's."""
        found["placements"] = [words.split(": ")[0] for words in found["placements"]]

    check(f"show-{name}", run("study", "show", name, "--engine", "fake", "--rows", rows, "--json"), also=cores)
