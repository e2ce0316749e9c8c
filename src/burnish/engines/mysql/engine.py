"""MySQL: from its cmake tree to a mysqld that can be tested, loaded and measured."""

from __future__ import annotations

import re
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.engines.contract import BuildJob
from burnish.engines.mysql import cmake, tree
from burnish.engines.mysql.product import PRODUCT
from burnish.engines.mysql_family.engine import ServerEngine
from burnish.engines.mysql_family.product import Initialise, Settings
from burnish.engines.mysql_family.server import private_options
from burnish.engines.steps import Step, perform
from burnish.program.built import Built

_VERSION_LINE = re.compile(r"\d+\.\d+\.\d+\S* for \S+ on ")


class MySQL(ServerEngine):
    """Behaviour of MySQL's server, and of Percona's."""

    product = PRODUCT
    source_files = tree.FILES

    def configure(self, job: BuildJob) -> list[str]:
        """See `ServerEngine.configure`."""
        return cmake.configure_command(job, tree.read(job.source))

    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """See `Engine.steps`."""
        return (*cmake.laying(job), *super().steps(job))

    def check_source(self, source: Path) -> None:
        """See `Engine.check_source`."""
        tree.check(source)

    def source_note(self, source: Path) -> str | None:
        """See `Engine.source_note`: by which version's data an unknown one is built."""
        return tree.read(source).note

    def prepare(self, job: BuildJob) -> None:
        """See `ServerEngine.prepare`."""
        perform(cmake.laying(job), job, doing="building MySQL", timeout=600)

    def initialiser(self, built: Built, tools: Built) -> Initialise:  # noqa: ARG002 - it makes its tables by itself
        """See `ServerEngine.initialiser`: what makes the system tables is in the program itself."""

        def initialise(folder: Path, scratch: Path, settings: Settings, bench: Workbench) -> None:
            shaping = [f"--{name}={value}" for name, value in settings]
            words = [str(built.server), *private_options(folder), *built.options, *shaping]
            done = bench.run(
                "initialise",
                [*words, *PRODUCT.feeding.options, f"--tmpdir={scratch}"],
                cwd=scratch,
                env=dict(built.environment),
                timeout=300,
            )
            done.check(f"making the system tables with {built.server}")

        return initialise

    def says_its_own(self, version: str) -> bool:
        """See `ServerEngine.says_its_own`."""
        return "MariaDB" not in version and _VERSION_LINE.match(version) is not None
