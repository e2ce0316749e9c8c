"""The system tables of MariaDB: statements of its own scripts, fed to the server's bootstrap mode."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.engines.mysql_family.data import SHARES
from burnish.engines.mysql_family.server import private_options
from burnish.program.built import Built

SCRIPTS = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")
"""What makes the system tables, in order; MariaDB's own install program feeds the same to a server."""


def system_scripts(builds: Iterable[Built]) -> list[Path]:
    """The scripts that make the system tables, from the first build that has them; a UserError when none has."""
    looked = []
    for built in builds:
        for place in ("scripts", *SHARES):
            folder = built.folder / place
            looked.append(str(folder))
            if all((folder / name).is_file() for name in SCRIPTS):
                return [folder / name for name in SCRIPTS]
    raise UserError(
        f"no {SCRIPTS[0]} beside the server, so no data can be prepared with it (looked in {', '.join(looked)}); "
        "unpack the whole server package in one folder and name the program in there"
    )


def bootstrap(
    built: Built,
    scripts: list[Path],
    folder: Path,
    scratch: Path,
    settings: Iterable[tuple[str, str]],
    bench: Workbench,
) -> None:
    """Makes the system tables by feeding `scripts` to the server in its own bootstrap mode."""
    statements = scratch / "bootstrap.sql"
    # The server's bootstrap mode reads statement by statement, each of which must end its line.
    head = "create database mysql;\nuse mysql;\n"
    statements.write_text(head + "\n".join(script.read_text() for script in scripts))
    shaping = [f"--{name}={value}" for name, value in settings]
    words = [str(built.server), *private_options(folder), *built.options, *shaping, "--bootstrap"]
    done = bench.run(
        "bootstrap",
        words,
        cwd=scratch,
        env=dict(built.environment),
        stdin_file=statements,
        timeout=300,
    )
    done.check(f"making the system tables with {built.server}")
