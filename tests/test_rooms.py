"""The order of rooms: a package imports only from those before it; no folder is too full to find a room in."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import burnish

ROOT = Path(burnish.__file__).parent
TESTS = Path(__file__).parent

ROOMS = (
    "base",
    "model",
    "record",
    "artefacts",
    "statistics",
    "why",
    "search",
    "catalogue",
    "workload",
    "program",
    "source",
    "toolchain",
    "engines",
    "profiles",
    "bench",
    "builds",
    "study",
    "report",
    "packages",
    "hosts",
    "cli",
)
"""Every package, the lowest first."""

KNOWN: frozenset[tuple[str, str]] = frozenset()
"""Imports that still point up, as (module, imported module)."""

MOST = 23
"""Modules and packages of a folder, `__init__.py` among them; files of data are not counted."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path


def imported(path: Path, known: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "burnish":
            base = node.module.removeprefix("burnish").lstrip(".")
            for alias in node.names:
                full = f"{base}.{alias.name}".lstrip(".")
                yield full if full in known else base
        elif isinstance(node, ast.Import):
            yield from (each.name.removeprefix("burnish.") for each in node.names if each.name.startswith("burnish."))


def test_no_import_points_up() -> None:
    known = frozenset(name for name, _ in modules())
    up = set()
    for name, path in modules():
        room = name.partition(".")[0]
        for other in imported(path, known):
            its = other.partition(".")[0]
            if room in ROOMS and its in ROOMS and ROOMS.index(its) > ROOMS.index(room):
                up.add((name, other))
    assert up == KNOWN


def test_every_package_is_in_the_order() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == set(ROOMS)
    assert "build" not in packages, "tools take that name for output and skip it"


def test_no_folder_is_too_full() -> None:
    folders = {path.parent for path in ROOT.rglob("*.py")}
    packages = {path.parent for path in ROOT.rglob("__init__.py")}
    counts = {
        str(folder.relative_to(ROOT)): len(
            [path for path in folder.iterdir() if path.suffix == ".py" or path in packages]
        )
        for folder in folders
    }
    assert {folder: count for folder, count in counts.items() if count > MOST} == {}


def test_every_package_says_what_it_is_for() -> None:
    for path in ROOT.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_contributors_are_told_the_same_order() -> None:
    path = ROOT.parents[1] / "CONTRIBUTING.md"
    assert ", ".join(ROOMS) in path.read_text().splitlines()


def test_tests_are_modules_of_different_names() -> None:
    """Tests import one another by their files' names alone, so pytest refuses the second one of a name."""
    names = Counter(path.name for path in TESTS.rglob("*.py"))
    assert [name for name, files in names.items() if files > 1] == []
