"""Behaviour of a server of the family: from its cmake tree to a program that can be tested, loaded and measured."""

from __future__ import annotations

import re
import tempfile
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from burnish.base import netns, temporary
from burnish.base.errors import InfrastructureError, UnavailableError, UserError
from burnish.base.files import sha256_of
from burnish.base.workbench import Workbench, output_of
from burnish.engines.contract import BuildJob, Engine, GateReport, Side, SideSpec
from burnish.engines.mysql_family import answers, build, certificates, examine, mtr
from burnish.engines.mysql_family import data as family_data
from burnish.engines.mysql_family.data import SHARES
from burnish.engines.mysql_family.loads import ServerLoads
from burnish.engines.mysql_family.product import Initialise, Product
from burnish.engines.mysql_family.server import private_options
from burnish.engines.mysql_family.side import FamilySide
from burnish.engines.steps import Command, Step
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program import libraries
from burnish.program.built import Built, CompiledObject, Identity
from burnish.program.elf import build_id, holds, is_program

_FEATURES_SECONDS = 300.0
"""MySQL makes all of its system tables first; on a busy disk that takes half a minute."""


class ServerEngine(Engine):
    """A server with cmake and ninja, mtr and sysbench; an engine of the family derives from it.

    Attributes:
        product: what tells this server from the others.
    """

    makers = ("cmake", "ninja", "bison", "perl")
    loads_class = ServerLoads
    transports = ("unix", "tcp", "tls", "remote")
    product: ClassVar[Product]

    # What one server has of its own.

    @abstractmethod
    def configure(self, job: BuildJob) -> list[str]:
        """cmake's command line (see `build.configure_command`)."""

    @abstractmethod
    def initialiser(self, built: Built, tools: Built) -> Initialise:
        """What makes the system tables with these builds.

        Raises:
            UserError: the installation lacks what that takes.
        """

    def prepare(self, job: BuildJob) -> None:
        """Called before cmake runs; by default does nothing."""

    # The contract.

    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """See `Engine.steps`."""
        return self._steps(job)

    def _steps(self, job: BuildJob) -> tuple[Command, Command]:
        known = build.with_known_allocators(job, self.spec.linking.allocators)
        return build.steps(known, self.product, self.configure(known))

    def _begin(self, job: BuildJob) -> None:
        self.check_source(job.source)
        if (note := self.source_note(job.source)) is not None:
            job.bench.say(note)
        self.prepare(job)

    def build(self, job: BuildJob) -> None:
        """See `Engine.build`."""
        self._begin(job)
        build.build(job, self.product, self._steps(job), self.spec.gate_tests)

    def build_objects(self, job: BuildJob, words: Sequence[str]) -> list[CompiledObject]:
        """See `Engine.build_objects`; with what is generated for them, and nothing else."""
        self._begin(job)
        return build.build_objects(job, self.product, self._steps(job), words)

    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """See `Engine.keep`; the kept folder has the build tree's layout, so mtr and the server find their way."""
        return build.keep(job, self.product)

    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """See `Engine.objects`."""
        return build.objects(job, self.product)

    def built(self, name: str, folder: Path, key: str) -> Built:
        """See `Engine.built`."""
        options = family_data.location_options(folder / self.product.messages)
        return Built(name=name, folder=folder, server=folder / self.spec.server, key=key, options=options)

    def existing(self, program: Path) -> Built:
        """See `Engine.existing`: messages and system scripts are looked for beside the program, then in /usr."""
        program, title, own = program.expanduser().resolve(), self.product.title, self.product.program
        if not program.is_file():
            raise UserError(f"{program}: there is no such program; name a {own}")
        if not is_program(program):
            raise UserError(f"{program}: not a program (no ELF header); name the {own} itself")
        if holds(program, self.product.strangers):
            raise UserError(f"{program}: another server than {title}'s; name a {own}")
        # What is linked from parts has its name in one of them; messages are there for any program of the family, and
        # the system's for any at all.
        named, installation = holds(program, self.product.marks), family_data.installation(program)
        if not named and (installation is None or installation[0] not in program.parents):
            raise UserError(f"{program}: no {title} server, and none of its messages beside it; name a {own}")
        if installation is None:
            raise UserError(
                f"{program}: no english/errmsg.sys in {', '.join(SHARES[1:])} or {SHARES[0]} beside it or in /usr, "
                f"and a {title} server does not start without; unpack the whole server package in one folder"
            )
        folder, messages = installation
        return Built(
            name=str(program),
            folder=folder,
            server=program,
            key=sha256_of(program)[:16],
            options=family_data.location_options(messages),
        )

    def identity(self, built: Built, bench: Workbench) -> Identity:
        """See `Engine.identity`: version line, built-in plugins, ``have_*`` and ``version_*``, linked libraries, fork.

        Raises:
            UserError: the program is none of this server's.
            InfrastructureError: it does not run here.
        """
        words: list[str | Path] = [built.server, "--no-defaults", "--version"]
        done, lines = output_of(bench, "version", words, env=dict(built.environment), timeout=60)
        version = next((match[1] for line in lines if (match := re.search(r"\bVer (.+)", line))), "")
        if not done.ok:
            raise InfrastructureError(f"{built.server}: does not run here: {' '.join(lines[-3:])}", log=done.log)
        if not self.says_its_own(version):
            raise UserError(
                f"{built.server}: says {version!r}, which is no {self.product.title} server; name a "
                f"{self.product.program}"
            )
        features = {**libraries.features(built.server), **_told_by(built, self.product, bench)}
        return Identity(
            version=version.strip(),
            features=tuple(sorted(features.items())),
            build_id=build_id(built.server),
            product=self.product.of_version(version),
        )

    @abstractmethod
    def says_its_own(self, version: str) -> bool:
        """Whether a program with this version line is one of this server's."""

    def gate(
        self, subject: Built, tools: Built, place: Path, bench: Workbench, tests: Sequence[str] | None = None
    ) -> GateReport:
        """See `Engine.gate`."""
        wanted = self.spec.gate_tests if tests is None else tests
        return mtr.gate(self.product, wanted, subject, tools, place, bench, build_id(subject.server))

    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:
        """See `Engine.answers`: statements that the server runs by itself, InnoDB and all."""
        return answers.ask(built, self.product, self.spec.folder / "answers.sql", place, bench, launcher)

    def create_dataset(self, built: Built, tools: Built, workload: Workload, folder: Path, bench: Workbench) -> None:
        """See `Engine.create_dataset`."""
        copied = bool(workload.own_data) and Path(workload.own_data).is_dir()
        family_data.create_dataset(
            built,
            tools,
            workload,
            folder,
            bench,
            product=self.product,
            initialise=None if copied else self.initialiser(built, tools),
            shaping=self.spec.settings.shaping,
        )

    def side(self, spec: SideSpec) -> Side:
        """See `Engine.side`."""
        return FamilySide(spec, self.product.habits)

    def ready(self, asked: Condition, folder: Path, bench: Workbench) -> Condition:
        """See `Engine.ready`: the study's certificates, for TLS; for another host, whether there can be one."""
        if asked.transport == "remote":
            reason = netns.lacking(asked.rate, asked.delay)
            if reason is not None:
                raise UnavailableError(f"transport=remote: {reason}")
        if asked.transport in ("tcp", "tls"):
            bench.say(
                f"transport={asked.transport}: no password is asked on 127.0.0.1, so every user of this host can read "
                "a server's data while it is up; with transport=remote only root can"
            )
        if asked.transport != "tls":
            return asked
        return replace(asked, certificates=str(certificates.obtain(folder / "certificates", bench)))

    def examine(
        self,
        built: Built,
        workload: Workload,
        condition: Condition,
        data: Path | None,
        place: Path,
        bench: Workbench,
    ) -> list[str]:
        """See `Engine.examine`: variables, routine tuning; what a user wrote is run for a moment."""
        return examine.examine(built, self.product.habits, workload, condition, data, place, bench)


def _told_by(built: Built, product: Product, bench: Workbench) -> dict[str, str]:
    """Plugins and variables that the server tells when it runs statements by itself: a moment."""
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as name:
        folder = Path(name)
        data = folder / "data"
        data.mkdir(mode=0o700)
        plugins, variables = folder / "plugins", folder / "variables"
        script = folder / "about.sql"
        script.write_text(product.about.format(plugins=plugins, variables=variables))
        done = bench.run(
            "features",
            [
                built.server,
                *private_options(data),
                *built.options,
                *product.feeding.words(script),
                *product.about_options,
                f"--tmpdir={folder}",
            ],
            cwd=folder,
            env=dict(built.environment),
            stdin_file=product.feeding.stdin(script),
            timeout=_FEATURES_SECONDS,
        )
        done.check(f"asking {built.server} for its features")
        plugin_values = {f"plugin {name}": value for name, value in _rows(plugins)}
        return {**plugin_values, **dict(_rows(variables))}


def _rows(path: Path) -> list[tuple[str, str]]:
    """(name, value) of each line that the server wrote: two columns, a tab between them."""
    return [(name, value) for line in path.read_text().splitlines() for name, _, value in [line.partition("\t")]]
