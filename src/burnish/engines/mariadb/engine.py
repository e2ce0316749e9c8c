"""MariaDB: from its cmake tree to a mariadbd that can be tested, loaded and measured."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from burnish.base.errors import UserError
from burnish.engines.contract import BuildJob
from burnish.engines.mariadb.cmake import configure_command
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mariadb.system_tables import bootstrap, system_scripts
from burnish.engines.mysql_family.build import CONFIGURED, check_clean
from burnish.engines.mysql_family.engine import ServerEngine
from burnish.engines.mysql_family.product import Initialise
from burnish.program.built import Built

_OWN = "storage/maria/ma_open.c"
"""A file that MariaDB's source has and MySQL's lacks."""

_MYSQL = "sql/mysqld.cc"
"""A file that both have."""


class MariaDB(ServerEngine):
    """Behaviour of MariaDB's server."""

    product = PRODUCT
    source_files = (_OWN, _MYSQL, CONFIGURED)

    def configure(self, job: BuildJob) -> list[str]:
        """See `ServerEngine.configure`."""
        return configure_command(job)

    def check_source(self, source: Path) -> None:
        """See `Engine.check_source`."""
        if not (source / _OWN).is_file():
            mysql = "; `burnish tune mysql` takes MySQL's" if (source / _MYSQL).is_file() else ""
            raise UserError(f"{source}: no source of MariaDB (no {_OWN}); name the top of an unpacked tree{mysql}")
        check_clean(source)

    def initialiser(self, built: Built, tools: Built) -> Initialise:
        """See `ServerEngine.initialiser`: the scripts are beside one of the builds."""
        return partial(bootstrap, built, system_scripts((built, tools)))

    def says_its_own(self, version: str) -> bool:
        """See `ServerEngine.says_its_own`."""
        return "MariaDB" in version
