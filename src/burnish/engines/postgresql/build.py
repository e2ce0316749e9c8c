"""Builds PostgreSQL with its configure and make, outside of its source, and lists what is kept of a build.

What is kept is an installation that may lie anywhere (`bin`, `lib`, `share`: a server finds its files from its own
place), and of the build with tools also pgbench, psql and the regression tests.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.contract import BuildJob, Command, CompiledObject, Engine, Step
from burnish.engines.shared import autoconf

PREFIX = "usr/lib/postgresql"
"""Where the installation would lie; only where its parts lie to one another matters."""

INSTALLED, REGRESS = "installed", "regress"

_OWN = ("configure", "src/backend/postmaster/postmaster.c")
"""Files by which its source is known."""

_LIBRARIES_FIRST = ("src/port", "src/common")
_SERVER = (
    "src/backend", "src/backend/utils/mb/conversion_procs", "src/backend/snowball", "src/pl/plpgsql/src",
    "src/timezone", "src/interfaces/libpq", "src/backend/replication/libpqwalreceiver", "src/bin/initdb",
)  # fmt: skip
_TOOLS = ("src/bin/psql", "src/bin/pgbench", "src/test/regress", "contrib/spi")
_INSTALLED_TOOLS = ("src/bin/psql", "src/bin/pgbench")
_LIBRARIES = ("src/test/regress/regress.so", "contrib/spi/refint.so", "contrib/spi/autoinc.so")
_VARIABLES = ("AUTOCONF=:", "enable_coverage=yes")
"""For make: nothing is configured anew, and libpq may call exit, as it does with a compiler's counters in."""

_FOR_SERVER = re.compile(r"src/(common|port)/\w+_srv\.o")


class PostgreSQLBuild(Engine):
    """The part of PostgreSQL's behaviour that makes a server."""

    makers = ("make", "bison", "flex", "perl")
    source_files = (*_OWN, autoconf.CONFIGURED)

    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """configure, then make in the folder of each part, then its own way of installing below the build folder."""
        # The server holds its compiler's name (the view pg_config), by src/common.
        make, alone = autoconf.make(job, *_VARIABLES, plain="src/common"), autoconf.environment(job)
        install = (*_VARIABLES, f"DESTDIR={job.place / INSTALLED}", "install")
        parts = (*_LIBRARIES_FIRST, *_SERVER, *(_TOOLS if job.with_tools else ()))
        installed = (*_SERVER, *(_INSTALLED_TOOLS if job.with_tools else ()))
        return (
            # It puts PostgreSQL's own before the flags: -fno-strict-aliasing -fwrapv -fexcess-precision=standard.
            Command("configure", autoconf.configure(job, f"--prefix=/{PREFIX}", programs="LDFLAGS_EX"), alone),
            Command("make headers", make("src/backend", "generated-headers"), alone),
            *(Command(f"make {part}", make(part, "all"), alone) for part in parts),
            *(Command(f"install {part}", ("make", "-s", "-C", part, *install), alone) for part in installed),
        )

    def check_source(self, source: Path) -> None:
        """See `Engine.check_source`."""
        if not all((source / name).is_file() for name in _OWN):
            raise UserError(f"{source}: not PostgreSQL's source (no {' or no '.join(_OWN)}); name its top")
        autoconf.check_clean(source)

    def build(self, job: BuildJob) -> None:
        """See `Engine.build`; with tools, collects what the regression tests need."""
        self.check_source(job.source)
        autoconf.build(self.steps(job), job, doing="building PostgreSQL")
        if job.with_tools:
            tests = job.source / "src/test/regress"
            for name in ("sql", "expected", "data", "input", "output", "parallel_schedule", "resultmap"):
                if (tests / name).is_dir():
                    shutil.copytree(tests / name, job.place / REGRESS / name)
                elif (tests / name).is_file():
                    shutil.copyfile(tests / name, job.place / REGRESS / name)
            for name in (*_LIBRARIES, "src/test/regress/pg_regress"):
                shutil.copy(job.place / name, job.place / REGRESS)

    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """The installation, and of a build with tools the regression tests."""
        installation = job.place / INSTALLED / PREFIX
        kept = [(installation / name, name) for name in ("bin", "lib", "share")]
        return [*kept, (job.place / REGRESS, REGRESS)] if job.with_tools else kept

    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """Every object of the server with its command, as make printed it; which they are is in objfiles.txt."""
        lists = [*(job.place / "src/backend").rglob("objfiles.txt"), job.place / "src/timezone/objfiles.txt"]
        wanted = {word for path in lists for word in path.read_text(encoding="utf-8").split() if word.endswith(".o")}
        made = autoconf.compiled(job)
        if missing := sorted(wanted - made.keys()):
            raise InfrastructureError(f"{job.place}: no command for {len(missing)} objects, as {missing[0]}")
        # Of the two libraries only what is compiled for the server; the linker takes what it needs.
        return [one for path, one in made.items() if path in wanted or _FOR_SERVER.fullmatch(path)]
