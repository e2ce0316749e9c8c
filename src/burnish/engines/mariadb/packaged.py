"""Asks packaged MariaDB servers what they can do, and loads the distribution's plugins into them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pymysql

from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.engines.contract import MARKER
from burnish.engines.mariadb import option_files
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mariadb.system_tables import bootstrap, system_scripts
from burnish.engines.mysql_family.server import Launch, Server
from burnish.engines.mysql_family.tuning import defaults_in
from burnish.engines.packaged import Account, HostSetting, PackagedServer, PluginTrial
from burnish.program.built import Built

_SMALL = (
    ("innodb_buffer_pool_size", "16M"),
    ("loose_performance_schema", "ON"),
    ("aria_log_file_size", "8M"),
    ("plugin_maturity", "unknown"),  # the distribution ships plugins of every maturity
)

_ASKED = {
    "plugin": "SELECT PLUGIN_NAME, CONCAT(PLUGIN_TYPE, ' ', PLUGIN_VERSION, ' ', PLUGIN_STATUS) "
    "FROM information_schema.PLUGINS WHERE PLUGIN_LIBRARY IS NULL",
    "engine": "SELECT ENGINE, CONCAT(SUPPORT, ' ', IFNULL(TRANSACTIONS, ''), ' ', IFNULL(XA, '')) "
    "FROM information_schema.ENGINES",
    "character set": "SELECT CHARACTER_SET_NAME, DEFAULT_COLLATE_NAME FROM information_schema.CHARACTER_SETS",
    "collation": "SELECT COLLATION_NAME, IFNULL(IS_COMPILED, '') FROM information_schema.COLLATIONS",
    "variable": "SELECT LOWER(VARIABLE_NAME), '' FROM information_schema.GLOBAL_VARIABLES",
    "built-in ability": "SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES "
    "WHERE VARIABLE_NAME LIKE 'have\\_%' OR VARIABLE_NAME = 'version_ssl_library' "
    "OR VARIABLE_NAME = 'version_malloc_library'",
    "status variable": "SELECT LOWER(VARIABLE_NAME), '' FROM information_schema.GLOBAL_STATUS",
    "function": "SELECT FUNCTION, '' FROM information_schema.SQL_FUNCTIONS",
    "keyword": "SELECT WORD, '' FROM information_schema.KEYWORDS",
    "privilege": "SELECT PRIVILEGE_TYPE, '' FROM information_schema.USER_PRIVILEGES "
    "WHERE GRANTEE = CONCAT(QUOTE('root'), '@', QUOTE('localhost'))",
    "table of information_schema": "SELECT TABLE_NAME, '' FROM information_schema.TABLES "
    "WHERE TABLE_SCHEMA = 'information_schema'",
    "table of performance_schema": "SELECT TABLE_NAME, '' FROM information_schema.TABLES "
    "WHERE TABLE_SCHEMA = 'performance_schema'",
}
"""What a running server is asked, by kind: names and values that two builds of one version should have alike."""

_HELP_SECONDS = 60.0

_KNOWN = (
    "SELECT PLUGIN_NAME, PLUGIN_TYPE, PLUGIN_STATUS, PLUGIN_VERSION FROM information_schema.PLUGINS "
    "WHERE PLUGIN_LIBRARY = '{file}' ORDER BY 1"
)

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
"""Names of plugins' files that stand in statements."""


class PackagedMariaDB(PackagedServer):
    """Asks a server by its own help text and, started on private data, by its information schema."""

    def account(self, built: Built, settings: Path | None, place: Path, bench: Workbench) -> Account:
        """See `PackagedServer.account`."""
        told: dict[str, Mapping[str, str]] = {"setting": _defaults(built, settings, bench)}
        with _running(built, place, bench) as server:
            for kind, statement in _ASKED.items():
                told[kind] = {str(name): str(value) for name, value in server.query(statement)}
        return told

    def plugins(self, built: Built, files: Sequence[Path], place: Path, bench: Workbench) -> Mapping[str, PluginTrial]:
        """See `PackagedServer.plugins`; each is installed, used, and uninstalled again."""
        trials: dict[str, PluginTrial] = {}
        waiting = sorted(file for file in files if _NAME.fullmatch(file.name))
        number = 0
        while waiting:
            number += 1
            folder = place / str(number)
            folder.mkdir(mode=0o700)
            options = (*built.options, f"--plugin-dir={files[0].parent}")
            with _running(replace(built, options=options), folder, bench) as server:
                while waiting:
                    file = waiting.pop(0)
                    trials[file.stem] = _tried(server, file)
                    if not server.alive:
                        break
        return trials

    def overridden(self, values: Mapping[str, str], root: Path) -> list[HostSetting]:
        """See `PackagedServer.overridden`."""
        return option_files.overridden(root, root / self.packaging.settings_file, values)

    def settings_text(self, values: Mapping[str, str]) -> str:
        """See `PackagedServer.settings_text`."""
        if not values:
            return ""
        lines = [f"{name} = {value}" for name, value in values.items()]
        return "\n".join([self.packaging.settings_head, *lines, ""])


def _defaults(built: Built, settings: Path | None, bench: Workbench) -> dict[str, str]:
    """Defaults of all settings, from the table at the end of ``--verbose --help``."""
    lines: list[str] = []
    file = "--no-defaults" if settings is None else f"--defaults-file={settings}"
    bench.run(
        "defaults",
        [built.server, file, "--user=root", "--verbose", "--help"],
        env=dict(built.environment),
        timeout=_HELP_SECONDS,
        on_line=lines.append,
    ).check(f"asking {built.server} for its settings")
    return defaults_in(lines)


@contextlib.contextmanager
def _running(built: Built, place: Path, bench: Workbench) -> Iterator[Server]:
    """A server on new private data with its own system tables."""
    folder, scratch = place / "data", place / "run"
    for made in (folder, scratch):
        made.mkdir(mode=0o700)
    (folder / MARKER).write_text("Data of a server that is asked what it can do; made and removed by Burnish.\n")
    bootstrap(built, system_scripts((built,)), folder, scratch, (), bench)
    server = Server(
        Launch(
            program=built.server,
            habits=PRODUCT.habits,
            data=folder,
            folder=scratch,
            options=built.options,
            settings=_SMALL,
            environment=built.environment,
            grants=True,
        )
    )
    server.boot()
    try:
        yield server
    finally:
        server.stop()


_USES = {
    "STORAGE ENGINE": (
        "CREATE OR REPLACE TABLE test_of_plugin.one (a INT NOT NULL) ENGINE={name}",
        "INSERT INTO test_of_plugin.one VALUES (7)",
        "SELECT a FROM test_of_plugin.one",
        "DROP TABLE IF EXISTS test_of_plugin.one",
    ),
    "INFORMATION SCHEMA": ("SELECT COUNT(*) >= 0 FROM information_schema.{name}",),
    "AUTHENTICATION": ("CREATE OR REPLACE USER tried@localhost IDENTIFIED VIA {name}", "DROP USER tried@localhost"),
    "PASSWORD VALIDATION": (
        "CREATE OR REPLACE USER tried@localhost IDENTIFIED BY 'a'",
        "CREATE OR REPLACE USER tried@localhost IDENTIFIED BY 'pAss-w0rd.of:4.Words'",
        "DROP USER tried@localhost",
    ),
    "DATA TYPE": ("SELECT PLUGIN_DESCRIPTION FROM information_schema.PLUGINS WHERE PLUGIN_NAME = '{name}'",),
}
"""What is done with a plugin of a kind; an error is an answer too, if Debian's own server gives the same."""


def _tried(server: Server, file: Path) -> PluginTrial:
    """Installs a plugin, uses it and uninstalls it."""
    failed = _answer(server, f"INSTALL SONAME '{file.stem}'", silent=True)
    if failed:
        return PluginTrial(False, (failed if server.alive else f"{server.ending()} when it was loaded",))
    outcome: list[str] = []
    try:
        known = server.query(_KNOWN.format(file=file.name))
        server.query("CREATE DATABASE IF NOT EXISTS test_of_plugin")
        for name, kind, status, version in known:
            outcome.append(f"{name}: {kind} {version} {status}")
            outcome += [
                f"{name}: {_answer(server, statement.format(name=name))}" for statement in _USES.get(str(kind), ())
            ]
        names = {name for name, *_ in known}
        settings = [str(name) for name, _ in server.query("SHOW GLOBAL VARIABLES")]
        outcome += [f"setting {name}" for name in settings if any(name.startswith(f"{one}_".lower()) for one in names)]
        _answer(server, f"UNINSTALL SONAME '{file.stem}'", silent=True)
    except (pymysql.err.MySQLError, OSError, InfrastructureError) as error:
        outcome.append(f"{error}" if server.alive else f"{server.ending()} while it was used")
        return PluginTrial(server.alive, tuple(outcome))
    return PluginTrial(True, tuple(outcome))


def _answer(server: Server, statement: str, *, silent: bool = False) -> str:
    """The rows or the error in one line, without the system's error number, which means nothing after a failed load;
    with `silent`, '' if it succeeded."""
    try:
        rows = server.query(statement)
    except (pymysql.err.MySQLError, OSError) as error:
        return re.sub(r"\(errno: \d+, ", "(", " ".join(map(str, error.args)))
    return "" if silent else f"{[tuple(map(str, row)) for row in rows]}"
