"""Nothing outside the folders of engines and their families names an engine: that is data or an engine's code."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import burnish
from burnish.base.engine_folders import engine_folders

ROOT = Path(burnish.__file__).parent
DATA = ROOT / "catalogue" / "data"

NAMES = re.compile(
    r"mariadb|mysql|percona|postgres|pgbench|sqlite|\bfake\b|_fake|fake_|innodb|speedtest1|\bmtr\b", re.IGNORECASE
)
"""What engines and their parts are called, those that may come included."""


FAMILIES = (ROOT / "engines" / "mysql_family",)
"""What several engines share beyond a protocol: as much inside as their own folders."""


def modules() -> Iterator[Path]:
    own = [*(folder.path for folder in engine_folders()), *FAMILIES]
    for path in sorted(ROOT.rglob("*.py")):
        if not any(path.is_relative_to(folder) for folder in own):
            yield path


def documentation(tree: ast.Module) -> set[int]:
    """Ids of the strings that stand alone: docstrings, which may tell where a figure was measured."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def words(path: Path) -> Iterator[tuple[int, str]]:
    """(line, word) of a module's strings, but for docstrings, and of the names in it."""
    tree = ast.parse(path.read_text())
    told = documentation(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield line, node.value
        elif isinstance(node, ast.Name):
            yield line, node.id
        elif isinstance(node, ast.Attribute):
            yield line, node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield line, node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias):
            yield line, node.name
        elif isinstance(node, ast.ImportFrom):
            yield line, node.module or ""


EXCEPTIONS = {
    "base/process.py": {  # environment variables of whatever client a user's shell is set up for; no child has them
        "LIBMYSQL",
        "MARIADB",
        "MYSQL",
        "SQLITE_",
    },
    "catalogue/answers.py": {"mysql-manual"},  # a published table
    "engines/shared/digest_table.py": {"pymysql", "MySQLError"},  # the protocol's driver
    "engines/shared/sql_bench.py": {
        "InnoDB",  # a storage engine that all servers with this protocol have
        "--server=mariadb",  # sql-bench's names of the driver DBD::MariaDB and of its options
        "mariadb_ssl",
        "mariadb_ssl_optional",
        "mariadb_ssl_verify_server_cert",
    },
    "engines/shared/sysbench.py": {  # sysbench's names of the protocol's driver and of its options
        "--db-driver=mysql",
        "--mysql-db=",
        "--mysql-host=",
        "--mysql-ignore-errors=",
        "--mysql-port=",
        "--mysql-socket=",
        "--mysql-ssl=on",
        "--mysql-user=root",
    },
    "record/costs.py": {"sqlite3"},  # Python's module: Burnish's own records are such files
    "record/record.py": {"sqlite3", "record.sqlite"},
    "record/rescue.py": {"sqlite3"},
    "record/store.py": {"costs.sqlite"},
    "study/kept/stopping.py": {"sqlite3"},
    "workload/sql/digests.py": {"mysql"},  # the schema of a server's own tables
}
"""What may stand where although it looks like an engine's name."""


def is_prose_of_help(path: str, word: str) -> bool:
    """Whether it is a sentence or an example of the command line's help, where engines are named to be understood."""
    return path.startswith("cli/") and " " in word.strip()


def test_no_engine_is_named_outside_of_its_folder() -> None:
    found: dict[str, set[str]] = {}
    for path in modules():
        name = str(path.relative_to(ROOT))
        for _, word in words(path):
            if NAMES.search(word) and not is_prose_of_help(name, word):
                found.setdefault(name, set()).add(word)
    assert found == EXCEPTIONS


@pytest.mark.parametrize("name", ["variants.toml", "space.toml", "flags", "linking.toml"])
def test_recipes_for_all_engines_are_about_none(name: str) -> None:
    """What is for one engine's builds alone is in its folder; reasons and sources may say where a figure is from."""
    found: list[str] = []
    files = sorted((DATA / name).rglob("*.toml")) if (DATA / name).is_dir() else [DATA / name]
    assert files
    for path in files:
        left = [tomllib.loads(path.read_text())]
        while left:
            value = left.pop()
            if isinstance(value, dict):
                found += [key for key in value if NAMES.search(key)]
                left += [part for key, part in value.items() if key not in {"reason", "source", "does"}]
            elif isinstance(value, list):
                left += value
            elif NAMES.search(str(value)):
                found.append(str(value))
    assert found == []


def test_every_engines_name_would_be_seen() -> None:
    for folder in engine_folders():
        assert NAMES.search(folder.name), f"{folder.name}: add it to NAMES"


def test_no_engine_knows_another() -> None:
    for folder in engine_folders():
        others = [other.package for other in engine_folders() if other != folder]
        for path in folder.path.rglob("*.py"):
            known = {word for _, word in words(path)}
            assert not known & set(others), path
            assert not any(word.startswith(f"{other}.") for word in known for other in others), path


@pytest.mark.parametrize("name", ["mysql", "postgresql"])
def test_an_engine_made_of_what_is_shared_costs_at_most_900_lines(name: str) -> None:
    """All that its folder holds, notes and data too: what any server needs is not written again for each."""
    (folder,) = (engine_folder.path for engine_folder in engine_folders() if engine_folder.name == name)
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    lines = {path.name: len(path.read_text().splitlines()) for path in files}
    assert sum(lines.values()) <= 900, lines
