"""The loads of a server that sysbench drives: its scripts, a user's own files, mixes of these, sql-bench's tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.engines.loads import Loads, OwnData
from burnish.engines.shared import mixes, own_script, sql_bench, sysbench_parameters
from burnish.model.workload import Design, Workload
from burnish.workload import loads
from burnish.workload.loads import Asked, Parameter
from burnish.workload.sql import statements

OWN_THREADS = 4
_NOTHING = ("nothing",)  # of a load's parameters, none says what a user's own data are


class SysbenchLoads(Loads):
    """Loads of a server that speaks MySQL's protocol; the engine names the shared files that it takes.

    An engine that works on users' data derives from it and implements `own_data`.
    """

    beside = (
        "a sysbench script of your own (./mine.lua); statements with weights over your data "
        "(./mine.sql --data dump.sql); mixes of any of them, as in together:oltp_read_only=3,./mine.lua=1 (client "
        "threads shared out) or in_turn:oltp_read_only=3,oltp_insert=1 (each thread does all)"
    )

    def resolve(self, wanted: Asked, data: OwnData | None = None) -> list[Workload]:
        """See `Loads.resolve`: also a user's file, a mix, each test of sql-bench."""
        entry = load.workloads().get((self.spec.name, wanted.name))
        if entry is not None and entry.program == sql_bench.PROGRAM:
            return sql_bench.each_test(entry, wanted)
        if wanted.name.endswith(loads.FILES):
            return [loads.applied(self.own(Path(wanted.name), data), wanted)]
        if wanted.name.replace("-", "_") in mixes.MIXINGS:
            return [mixes.mixed(self.spec, wanted, lambda path: self.own(path, data))]
        return super().resolve(wanted, data)

    def own(self, path: Path, data: OwnData | None = None) -> Workload:
        """A user's script or file of statements as a load; a `UserError` when it can't be read or parsed."""
        content, digest = own_script.read(path)
        scripted = path.suffix == ".lua"
        if not scripted:
            statements.parse(_decoded(content, path), str(path))
            if data is None:
                raise UserError(f"{path}: statements need data to work on; name a dump or a data folder in --data")
        base = Workload(
            name=path.name,
            engine=self.spec.name,
            reason=f"A load of the user's own: {path.name}.",
            program=str(path.resolve()) if scripted else "statements.lua",
            threads=OWN_THREADS,
            writes=True,  # what it does is not known, so its data are restored before each start
            dataset=f"own-{digest}",
            design=Design.INTERLEAVED,
            file=str(path.resolve()),
            content=digest,
        )
        if data is None:
            return base
        identity, database = self.own_data(data)
        return replace(
            base,
            dataset=f"data-{identity}",
            own_data=str(data.place.resolve()),
            database=database,
            shape=_NOTHING,
        )

    def own_data(self, data: OwnData) -> tuple[str, str]:
        """What a user's data are: a digest that names them, and the database that loads work in; here refused.

        Raises:
            UserError: they can't be used.
        """
        raise UserError(f"--data {data.place}: {self.spec.name} takes no data of your own; leave it out")

    def check(self, workload: Workload) -> None:
        """See `Loads.check`."""
        if workload.program == sql_bench.PROGRAM:
            sql_bench.check_clients(workload.threads)
        mixes.check_shares(workload)
        if workload.dataset == mixes.BULK and workload.threads > workload.prepare_threads:
            raise UserError(
                f"{workload.name}: each client thread has a table of its own, and there are {workload.prepare_threads} "
                "of them; take no more threads"
            )

    def parameters(self, workload: Workload, bench: Workbench) -> Mapping[str, Parameter]:
        """See `Loads.parameters`: what sysbench and the script take; a mix has its parts' own and no others."""
        if workload.program == sql_bench.PROGRAM:
            return sql_bench.PARAMETERS
        return sysbench_parameters.GENERAL if workload.parts else sysbench_parameters.known(workload, bench)

    def checked(self, workload: Workload, bench: Workbench) -> Workload:
        """See `Loads.checked`."""
        if workload.parts:
            return mixes.check(workload, lambda part: self.parameters(part, bench))
        return super().checked(workload, bench)

    def packages(self, names: Iterable[str]) -> list[str]:
        """See `Loads.packages`: Perl and its driver for sql-bench."""
        suites = {
            name
            for (engine, name), entry in load.workloads().items()
            if engine == self.spec.name and entry.program == sql_bench.PROGRAM
        }
        return [sql_bench.PACKAGES] if suites & set(names) else []

    def lacks_source(self, workload: Workload) -> bool:
        """See `Loads.lacks_source`: sql-bench is in the server's tree."""
        return sql_bench.is_nowhere(workload)

    def located(self, workload: Workload, source: Path) -> Workload:
        """See `Loads.located`."""
        return sql_bench.located(workload, source)


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start})") from None
