"""Which loads an engine can be given: those of its files, with parameters; one that takes more derives from this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, get_args

from burnish.base.errors import UserError
from burnish.base.workbench import Workbench
from burnish.catalogue import load
from burnish.model.engine import EngineSpec
from burnish.model.workload import Mixing, Workload
from burnish.workload import loads
from burnish.workload.loads import Asked, Parameter


@dataclass(frozen=True)
class OwnData:
    """A user's data for the user's loads.

    Attributes:
        place: a dump or a data folder.
        database: the one to work in; None: the only one there is.
    """

    place: Path
    database: str | None = None


class Loads:
    """The loads of an engine: here those of its files (``workloads*.toml`` and shared ones), and no others.

    Stateless, as an `Engine` is. Nothing here starts a server, and but for `parameters` and `checked`, which are given
    a workbench, no program at all: these methods are called while a request is read, before anything is made.

    Attributes:
        spec: the engine's description.
        beside: what can be asked for beside the loads of the files, for the list of loads; '' for nothing.
    """

    beside: ClassVar[str] = ""

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec

    def resolve(self, wanted: Asked, data: OwnData | None = None) -> list[Workload]:
        """The loads that one word of ``--workload`` names: one, or each test of a suite as a separate load.

        Args:
            wanted: a name, or the path of a file of the user's (it ends in one of `burnish.workload.loads.FILES`), and
                parameters. What their values may be is for `checked`.
            data: the user's data, for the user's own loads; loads of the catalogue make theirs.

        Returns:
            Loads with different names; equal requests have equal names (see `loads.applied`).

        Raises:
            UserError: there is no such load, with the nearest name; a user's file that can't be read or is no load.
        """
        del data
        kind = "a file of this kind" if wanted.name.endswith(loads.FILES) else ""
        kind = "a mix" if wanted.name.replace("-", "_") in get_args(Mixing) else kind
        if kind:
            names = sorted(name for engine, name in load.workloads() if engine == self.spec.name)
            names += [self.beside] if self.beside else []
            raise UserError(f"{wanted.name}: {self.spec.name} can't run {kind}; it has {', '.join(names)}")
        return [loads.applied(load.workload(self.spec, wanted.name), wanted)]

    def check(self, workload: Workload) -> None:
        """Refuses what can't be run with its number of client threads; here nothing is refused.

        Called for each load at each step of a ladder of threads.

        Raises:
            UserError: the load cannot be run like this; says what is possible.
        """

    def parameters(self, workload: Workload, bench: Workbench) -> Mapping[str, Parameter]:  # noqa: ARG002
        """The parameters that the load's program takes, by name with underscores; here those that its entry has.

        Raises:
            UserError: the program does not take the load at all: a script that does not parse.
        """
        entry = load.workload(self.spec, workload.entry)
        return {name: Parameter("text") for name, _ in entry.parameters}

    def checked(self, workload: Workload, bench: Workbench) -> Workload:
        """The load with its parameters checked against `parameters`, each value spelled as the program takes it.

        Called while a request is read as well, with a workbench on which nothing can be run: what only the program
        can tell is then left to the run.

        Raises:
            UserError: a parameter that is none of the program's, with the nearest name; a value of another kind.
        """
        return loads.check(workload, self.parameters(workload, bench))

    def packages(self, names: Iterable[str]) -> list[str]:  # noqa: ARG002
        """Groups of Debian packages that loads of these names need beside the engine's `system_packages`."""
        return []

    def lacks_source(self, workload: Workload) -> bool:  # noqa: ARG002
        """Whether the load uses files of the engine's source tree and lacks their path; see `located`."""
        return False

    def located(self, workload: Workload, source: Path) -> Workload:  # noqa: ARG002
        """The load, with the path of its files in the engine's source tree `source` if it needs one."""
        return workload
