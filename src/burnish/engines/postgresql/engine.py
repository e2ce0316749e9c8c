"""PostgreSQL: from its source to a server that can be tested, loaded and measured."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError, unknown
from burnish.base.workbench import Workbench
from burnish.engines import contract
from burnish.engines.contract import MARKER, Built, Condition, GateReport, Identity, Side, SideSpec, Workload, output_of
from burnish.engines.postgresql import gate
from burnish.engines.postgresql.build import PostgreSQLBuild
from burnish.engines.postgresql.loads import PostgreSQLLoads
from burnish.engines.postgresql.server import CLIENT, CLUSTER, DATABASE, Server, settings_of
from burnish.engines.postgresql.side import PostgreSQLSide
from burnish.engines.shared import rehearsal, unprivileged
from burnish.engines.shared.server_process import Launch
from burnish.program import libraries
from burnish.program.elf import build_id

ANSWERS = Path(__file__).with_name("answers.sql")
_ASKED = re.compile(r"^-- (.*)$", re.MULTILINE)
_TOLD = re.compile(r"""^\s*1: \w+ = "(.*)"\t""")


class PostgreSQL(PostgreSQLBuild):
    """Behaviour of PostgreSQL: its configure and make, pg_regress, pgbench."""

    marks = (b"%s is the PostgreSQL server.",)
    loads_class = PostgreSQLLoads
    transports = ("unix",)

    def existing(self, program: Path) -> Built:
        """See `Engine.existing`: initdb and pgbench must lie beside it, as in Debian's package."""
        found = super().existing(program)
        if missing := [name for name in ("initdb", "pgbench") if not (found.folder / name).is_file()]:
            raise UserError(f"{program}: no {' and no '.join(missing)} beside it; name the server in its whole package")
        return found

    def identity(self, built: Built, bench: Workbench) -> Identity:
        """See `Engine.identity`: its settings with their defaults, and the libraries that it is linked with."""
        (version,) = self._said(built, bench, "--version")[:1]
        fields = [line.split("\t") for line in self._said(built, bench, "--describe-config")]
        settings = {f"setting {words[0]}": words[4] for words in fields if len(words) > 4}
        features = tuple(sorted({**settings, **libraries.features(built.server)}.items()))
        return Identity(version.removeprefix("postgres (PostgreSQL) "), features, build_id(built.server))

    def _said(self, built: Built, bench: Workbench, question: str) -> list[str]:
        words: list[str | Path] = [*unprivileged.words(), built.server.resolve(), question]
        done, lines = output_of(bench, question, words, env=dict(built.environment), timeout=60)
        if not done.ok or not lines:
            raise InfrastructureError(
                f"{built.server}: does not run here: {' '.join(lines[-3:]) or 'no answer'}", log=done.log
            )
        return lines

    def gate(
        self, subject: Built, tools: Built, place: Path, bench: Workbench, tests: Sequence[str] | None = None
    ) -> GateReport:
        """See `Engine.gate`."""
        return gate.gate(self.spec.gate_tests if tests is None else tests, subject, tools, place, bench)

    def answers(self, built: Built, place: Path, bench: Workbench, launcher: Sequence[str] = ()) -> str | None:
        """See `Engine.answers`: a cluster is made and asked by the server alone (single-user mode), twice."""
        # A copy of initdb runs the postgres beside itself: a script that puts the launcher before the server.
        scripts, server = place / "bin", built.server.resolve()
        scripts.mkdir()
        shutil.copy(server.parent / "initdb", scripts)
        starter = scripts / "postgres"
        starter.write_text(f'#!/bin/sh\nexec {shlex.join([*launcher, str(server)])} "$@"\n')
        starter.chmod(0o755)
        try:
            gate.initdb(scripts, place / CLUSTER, bench, "--no-sync", "-L", str(_share(server)), launcher=launcher)
        except InfrastructureError as error:
            return str(error).splitlines()[0]
        for number, script in enumerate(ANSWERS.read_text().split("-- again\n")):
            path = place / f"answers-{number}.sql"
            path.write_text(script)
            words: list[str | Path] = [*unprivileged.words(), starter, "--single", "-D", place / CLUSTER, "postgres"]
            env = dict(built.environment)
            done, lines = output_of(bench, "answers", words, cwd=place, env=env, stdin_file=path, timeout=300)
            if not done.ok:
                return f"ended with exit code {done.exit_code}: {' '.join(lines[-1:])}"
            told = [match[1] for line in lines if (match := _TOLD.match(line))]
            if told != (right := _ASKED.findall(script)):
                wrong = next((pair for pair in zip(told, right, strict=False) if pair[0] != pair[1]), (told, right))
                return f"answers {wrong[0]!r}, not {wrong[1]!r}"
        return None

    def create_dataset(self, built: Built, tools: Built, workload: Workload, folder: Path, bench: Workbench) -> None:
        """See `Engine.create_dataset`: pgbench's tables, and pgbench itself for every side."""
        client, place = folder / CLIENT, folder / "making"
        for path in (client, place):
            path.mkdir(mode=0o700)
        shutil.copy(tools.server.resolve().parent / "pgbench", client)
        for library in (tools.folder / "lib").glob("libpq.so*"):
            shutil.copy(library, client)
        new = int(re.findall(r"\d+", self._said(tools, bench, "--version")[0])[0]) >= 18  # has checksums by default
        sums = ["--data-checksums"] if workload.parameter("checksums", "off") == "on" else ["--no-data-checksums"] * new
        gate.initdb(tools.server.resolve().parent, folder / CLUSTER, bench, *sums)
        (folder / MARKER).touch()
        small = (("autovacuum", "off"), ("max_wal_size", "64MB"), ("min_wal_size", "32MB"))
        server = Server(Launch(built.server.resolve(), folder, place, small, environment=built.environment))
        try:
            server.boot()
            server.query(f"CREATE DATABASE {DATABASE}", "postgres")
            sizes = [f"--{name}={workload.parameter(name, '100')}" for name in ("scale", "fillfactor")]
            words = [str(client / "pgbench"), "-iq", *sizes, "-h", str(server.socket.parent), "-U", DATABASE, DATABASE]
            own = {"LD_LIBRARY_PATH": str(client)}
            bench.run("make data", words, env=own, timeout=3600).check("making pgbench's tables")
            server.query("CHECKPOINT")
            if server.stop(contract.CLEAN_END_S) != 0:
                raise InfrastructureError(f"preparing the data of {workload.name}: {server.ending()}", log=server.log)
        finally:
            server.stop()
        shutil.rmtree(place)
        os.sync()

    def side(self, spec: SideSpec) -> Side:
        """See `Engine.side`."""
        return PostgreSQLSide(spec)

    def ready(self, asked: Condition, folder: Path, bench: Workbench) -> Condition:
        """See `Engine.ready`: any setting, on the Unix socket."""
        unprivileged.check(self.spec.title)
        return super().ready(asked, folder, bench)

    def examine(
        self, built: Built, workload: Workload, condition: Condition, data: Path | None, place: Path, bench: Workbench
    ) -> list[str]:
        """See `Engine.examine`: names against the server's own; what was not run like this before is run."""
        known = {line.split("\t")[0].lower() for line in self._said(built, bench, "--describe-config")}
        for name, _ in settings_of(workload, condition):
            if name.lower() not in known and "." not in name:
                raise unknown("PostgreSQL setting", name, sorted(known))
        if data is not None and rehearsal.unusual(workload, condition):
            rehearsal.rehearse(PostgreSQLSide, built, workload, condition, data, place, bench)
        return []


def _share(server: Path) -> Path:
    """The server's files: beside its folder, or as Debian has them (lib/postgresql/15 and share/postgresql/15)."""
    installation = server.parents[1]
    beside = installation / "share"
    return beside if beside.is_dir() else installation.parents[2] / "share/postgresql" / installation.name
