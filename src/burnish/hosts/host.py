"""A host that takes part, as it describes itself; and which hosts a study is measured on. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.base.errors import UserError

ALL = "all"
KIND = "kind="
RESERVED = (ALL, "merged")
"""Words that no host can be called: all of them, and their merged record."""


@dataclass(frozen=True)
class Host:
    """A host that takes part.

    Attributes:
        name: what people call it, its host name unless its worker was told another one; unique among the hosts.
        machine: identifies it from day to day, as in records.
        boot: identifies its running kernel; workers with the same one share a machine and must not disturb each other.
        kind: the kind of its processor (``zen5``), as `burnish.catalogue.kinds` names it.
        architecture: as the kernel names it.
        level: the instruction-set level that it offers (``x86-64-v3``); '' where there are none.
        cores: number of cores that it may use.
        memory: bytes of main memory; None if unknown.
        compilers: their names (``gcc-12``).
        version: of Burnish.
        home: path of its home. Hosts with equal paths share more builds, as paths are part of some flags.
        builds: whether it makes builds.
        benches: whether it measures.
        calibration: what it is calibrated for, in words; '' if nothing.
        sitting: when it measured last, as the record has it; '' if it never did.
        running: what it does now, in words; '' if nothing.
        doing: key of that task; '' if there is none.
        address: where its worker listens; '' where that is of no interest.
    """

    name: str
    machine: str = ""
    boot: str = ""
    kind: str = ""
    architecture: str = ""
    level: str = ""
    cores: int = 0
    memory: int | None = None
    compilers: tuple[str, ...] = ()
    version: str = ""
    home: str = ""
    builds: bool = True
    benches: bool = True
    calibration: str = ""
    sitting: str = ""
    running: str = ""
    doing: str = ""
    address: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they travel."""
        return {**asdict(self), "compilers": list(self.compilers)}

    @property
    def work(self) -> str:
        """What it is there for, in words."""
        return {(True, True): "builds, trials", (True, False): "builds", (False, True): "trials"}[
            self.builds, self.benches
        ]


def name_of(named: str | None, own: str) -> str:
    """What a host is called: files and tasks bear its name, and `--hosts` names it.

    Args:
        named: as `--host` says; None: it says nothing.
        own: the host's own name.

    Raises:
        UserError: it can't be called so.
    """
    name = own if named is None else named
    if re.fullmatch(r"\w[\w.-]*", name) is None or name in RESERVED:
        whose = "" if named is not None else " (this machine's host name)"
        raise UserError(
            f"--host {name!r}{whose}: a name is letters, digits and _.-, the first neither . nor -; "
            f"{' and '.join(RESERVED)} mean something else; name it otherwise with --host"
        )
    return name


def host_of(values: Mapping[str, Any]) -> Host:
    """The host with these plain values; those that this version does not know are left out."""
    known = {name: value for name, value in values.items() if name in Host.__dataclass_fields__}
    return Host(**{**known, "compilers": tuple(known.get("compilers", ()))})


@dataclass(frozen=True)
class Chosen:
    """Which hosts a study is measured on.

    Attributes:
        names: hosts by name; empty: all.
        kinds: kinds of hosts, or architectures; empty: all.
    """

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = field(default=())

    @property
    def words(self) -> str:
        """As on the command line."""
        return f"{KIND}{','.join(self.kinds)}" if self.kinds else ",".join(self.names) or ALL

    def has(self, host: Host) -> bool:
        """Whether the study is measured on this host."""
        if not host.benches:
            return False
        if self.names:
            return host.name in self.names
        return not self.kinds or bool({host.kind, *architectures(host)} & set(self.kinds))

    def missing(self, hosts: Sequence[Host]) -> list[str]:
        """The names and kinds that no host has."""
        have = {host.name for host in hosts if host.benches}
        kinds = {word for host in hosts if host.benches for word in (host.kind, *architectures(host))}
        return [*(name for name in self.names if name not in have), *(kind for kind in self.kinds if kind not in kinds)]


def architectures(host: Host) -> tuple[str, ...]:
    """The names of a host's architecture: the kernel's, and the other one that is in use."""
    return {
        "x86_64": ("x86_64", "x86-64", "amd64"),
        "aarch64": ("aarch64", "arm64"),
    }.get(host.architecture, (host.architecture,))


def chosen_of(words: Sequence[str], option: str = "--hosts") -> Chosen:
    """The hosts that an option names: ``all``, ``kind=zen5,arm64``, or names.

    Args:
        words: as given, each with items separated by commas.
        option: the option, for messages.

    Raises:
        UserError: nothing is named, or kinds and names together.
    """
    items = [item for word in words for item in word.split(",")]
    if not all(items) or not items:
        raise UserError(f"{option}: found an empty name; allowed are all, kind=KIND,... and names of hosts")
    if items == [ALL]:
        return Chosen()
    if items[0].startswith(KIND):
        kinds = tuple(item.removeprefix(KIND) for item in items)
        if not all(kinds):
            raise UserError(f"{option} {','.join(words)}: no kind is named; `burnish hosts` lists the kinds")
        return Chosen(kinds=tuple(dict.fromkeys(kinds)))
    if any(item == ALL or item.startswith(KIND) for item in items):
        raise UserError(
            f"{option} {','.join(words)}: all, kinds and names can't be mixed; give all, kind=KIND,... or NAME,..."
        )
    return Chosen(names=tuple(dict.fromkeys(items)))


def accepted(hosts: Sequence[Host], version: str) -> tuple[list[Host], list[str]]:
    """The hosts that can take part, and a line for each that cannot.

    Args:
        hosts: as they describe themselves.
        version: of the Burnish that asks.
    """
    good: list[Host] = []
    lines = []
    for host in sorted(hosts, key=lambda host: (host.name, host.address)):
        if host.version != version:
            lines.append(
                f"{host.name}: refused: it has Burnish {host.version}, here is {version}; install {version} there"
            )
        elif any(other.name == host.name for other in good):
            lines.append(f"{host.name}: refused: two workers have this name; start one of them with --host")
        elif any(host.machine and host.benches and other.benches and other.machine == host.machine for other in good):
            lines.append(f"{host.name}: refused: another worker has its machine's id, and would count as the same host")
        else:
            good.append(host)
    return good, lines
