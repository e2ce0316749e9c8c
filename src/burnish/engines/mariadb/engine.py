"""MariaDB: from its cmake tree to a mariadbd that can be tested, loaded and measured."""

from __future__ import annotations

import hashlib
import mmap
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base import netns
from burnish.base.errors import InfrastructureError, UnavailableError, UserError
from burnish.base.workbench import Workbench
from burnish.engines.contract import BuildJob, Engine, GateReport, Side, SideSpec
from burnish.engines.mariadb import answers, build, certificates, examine, mtr
from burnish.engines.mariadb import data as mariadb_data
from burnish.engines.mariadb.loads import MariaDBLoads
from burnish.engines.mariadb.server import private_options
from burnish.engines.mariadb.side import MariaDBSide
from burnish.engines.steps import Step
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built, CompiledObject, Identity
from burnish.program.elf import build_id

_ABOUT = """\
select plugin_name, 'built in' from information_schema.plugins where plugin_library is null
  into outfile '{plugins}';
select lower(variable_name), variable_value from information_schema.global_variables
  where variable_name like 'have\\_%' or variable_name like 'version\\_%' into outfile '{variables}';
"""


class MariaDB(Engine):
    """Behaviour of MariaDB's server: cmake and ninja, mtr, sysbench."""

    makers = ("cmake", "ninja", "bison", "perl")
    loads_class = MariaDBLoads

    def steps(self, job: BuildJob) -> tuple[Step, ...]:
        """See `Engine.steps`."""
        return build.steps(job)

    def build(self, job: BuildJob) -> None:
        """See `Engine.build`."""
        build.build(job, self.spec.gate_tests)

    def build_objects(self, job: BuildJob, words: Sequence[str]) -> list[CompiledObject]:
        """See `Engine.build_objects`; with what is generated for them, and nothing else."""
        return build.build_objects(job, words)

    def keep(self, job: BuildJob) -> list[tuple[Path, str]]:
        """See `Engine.keep`; the kept folder has the build tree's layout, so mtr and the server find their way."""
        return build.keep(job)

    def objects(self, job: BuildJob) -> list[CompiledObject]:
        """See `Engine.objects`."""
        return build.objects(job)

    def built(self, name: str, folder: Path, key: str) -> Built:
        """See `Engine.built`."""
        options = mariadb_data.location_options(folder / build.MESSAGES)
        return Built(name=name, folder=folder, server=folder / self.spec.server, key=key, options=options)

    def existing(self, program: Path) -> Built:
        """See `Engine.existing`: messages and system scripts are looked for beside the program, then in /usr."""
        program = program.expanduser().resolve()
        if not program.is_file():
            raise UserError(f"{program}: there is no such program; name a mariadbd")
        installation = mariadb_data.installation(program)
        if installation is None:
            raise UserError(
                f"{program}: no english/errmsg.sys in share/mysql, share/mariadb or sql/share beside it or in /usr, "
                "and a MariaDB server does not start without; unpack the whole server package in one folder"
            )
        with program.open("rb") as file:
            key = hashlib.file_digest(file, "sha256").hexdigest()[:16]
            file.seek(0)
            if file.read(4) != b"\x7fELF":
                raise UserError(f"{program}: not a program (no ELF header); name the mariadbd itself")
            folder, messages = installation
            # The system's messages are there for any program; the server's own name is not.
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                if folder not in program.parents and content.find(b"MariaDB") < 0:
                    raise UserError(
                        f"{program}: no MariaDB server, and none of its messages beside it; name a mariadbd"
                    )
        return Built(
            name=str(program),
            folder=folder,
            server=program,
            key=key,
            options=mariadb_data.location_options(messages),
        )

    def identity(self, built: Built, bench: Workbench) -> Identity:
        """See `Engine.identity`: version line, built-in plugins, ``have_*`` and ``version_*``, linked libraries.

        Raises:
            UserError: the program is not a MariaDB server.
            InfrastructureError: it does not run here.
        """
        lines: list[str] = []
        done = bench.run(
            "version",
            [built.server, "--no-defaults", "--version"],
            env=dict(built.environment),
            timeout=60,
            on_line=lines.append,
        )
        version = next((match[1] for line in lines if (match := re.search(r"\bVer (.+)", line))), "")
        if not done.ok:
            raise InfrastructureError(f"{built.server}: does not run here: {' '.join(lines[-3:])}", log=done.log)
        if "MariaDB" not in version:
            raise UserError(f"{built.server}: says {version!r}, which is no MariaDB server; name a mariadbd")
        features = {**_libraries(built.server, bench), **_told_by(built, bench)}
        return Identity(
            version=version.strip(),
            features=tuple(sorted(features.items())),
            build_id=build_id(built.server),
        )

    def gate(
        self, subject: Built, tools: Built, place: Path, bench: Workbench, tests: Sequence[str] | None = None
    ) -> GateReport:
        """See `Engine.gate`."""
        wanted = self.spec.gate_tests if tests is None else tests
        return mtr.gate(wanted, subject, tools, place, bench, build_id(subject.server))

    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:
        """See `Engine.answers`: statements fed to the server's own bootstrap mode, InnoDB and all."""
        return answers.ask(built, place, bench, launcher)

    def create_dataset(self, built: Built, tools: Built, workload: Workload, folder: Path, bench: Workbench) -> None:
        """See `Engine.create_dataset`."""
        shaping = self.spec.settings.shaping
        mariadb_data.create_dataset(built, tools, workload, folder, bench, shaping=shaping)

    def side(self, spec: SideSpec) -> Side:
        """See `Engine.side`."""
        return MariaDBSide(spec)

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
        return examine.examine(built, workload, condition, data, place, bench)


def _libraries(program: Path, bench: Workbench) -> dict[str, str]:
    lines: list[str] = []
    bench.run("libraries", ["readelf", "-d", program], timeout=60, on_line=lines.append)
    matches = (re.search(r"\(NEEDED\).*\[(\S+)\]", line) for line in lines)
    # The loader itself is named or not as the linker likes; it is no feature.
    return {f"library {match[1]}": "linked" for match in matches if match and not match[1].startswith("ld-linux")}


def _told_by(built: Built, bench: Workbench) -> dict[str, str]:
    """Plugins and variables that the server tells in bootstrap mode, without InnoDB: a quarter of a second."""
    with tempfile.TemporaryDirectory(prefix="burnish-") as name:
        folder = Path(name)
        data = folder / "data"
        data.mkdir(mode=0o700)
        plugins, variables = folder / "plugins", folder / "variables"
        script = folder / "about.sql"
        script.write_text(_ABOUT.format(plugins=plugins, variables=variables))
        done = bench.run(
            "features",
            [
                built.server,
                *private_options(data),
                *built.options,
                "--bootstrap",
                "--skip-grant-tables",
                "--skip-innodb",
                "--default-storage-engine=Aria",
                f"--tmpdir={folder}",
            ],
            cwd=folder,
            env=dict(built.environment),
            stdin_file=script,
            timeout=60,
        )
        done.check(f"asking {built.server} for its features")
        plugin_values = {f"plugin {name}": value for name, value in _rows(plugins)}
        return {**plugin_values, **dict(_rows(variables))}


def _rows(path: Path) -> list[tuple[str, str]]:
    """(name, value) of each line that the server wrote: two columns, a tab between them."""
    return [(name, value) for line in path.read_text().splitlines() for name, _, value in [line.partition("\t")]]
