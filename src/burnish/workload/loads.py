"""Loads as a user asks for them: a name of the catalogue or a file, with parameters after a colon; pure.

``oltp_read_only:tables=8,rand-type=pareto,./mine.lua:rows=5,oltp_insert`` asks for three loads. A word with ``=`` in
it belongs to the load before it unless a colon comes first; a mix has files among its parameters (``./mine.lua=2``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.base.errors import UserError, unknown
from burnish.model.workload import Workload

THREADS = "threads"
"""The one parameter that every load has: its client threads."""

RATE = "rate"
"""sysbench's parameter for transactions a second, which it keeps to; 0: as many as there can be."""

MAX_THREADS = 1024

FILL = 4
"""Client threads for each core that a side has which keep a saturated load's server from waiting for a client."""

FILES = (".lua", ".sql")
"""How the name of a load of one's own ends: a script, or statements with weights."""

_FOLLOWING = re.compile(rf"^([^:/.]+|[^:=]*({'|'.join(map(re.escape, FILES))}))=")


@dataclass(frozen=True)
class Asked:
    """One load as it was asked for.

    Attributes:
        name: a name of the catalogue, or a file's path.
        parameters: what was said after the colon, as (name with underscores, value), each name once; a file's path
            as it is.
    """

    name: str
    parameters: tuple[tuple[str, str], ...] = ()


def split(text: str) -> tuple[str, ...]:
    """The loads in an option's text, each with its parameters, still as text."""
    found: list[str] = []
    for word in (part.strip() for part in text.split(",")):
        if not word:
            continue
        if _FOLLOWING.match(word):
            if not found:
                raise UserError(f"--workload {text}: {word!r} has no load before it; write LOAD:{word}")
            found[-1] += f",{word}" if ":" in found[-1] else f":{word}"
        else:
            found.append(word)
    return tuple(found)


def asked(text: str) -> Asked:
    """One load's name and parameters; a `UserError` when a parameter is no NAME=VALUE or is given twice."""
    name, _, rest = text.partition(":")
    given: dict[str, str] = {}
    for word in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = word.partition("=")
        key = key.strip()
        key = key if key.endswith(FILES) else key.lstrip("-").replace("-", "_")
        if not key or not equals or not value.strip():
            raise UserError(
                f"{text}: {word!r} is no parameter; write NAME=VALUE, as in {name}:tables=8,rand-type=pareto"
            )
        if key in given:
            raise UserError(f"{text}: {key!r} is given twice; give it once")
        given[key] = value.strip()
    return Asked(name.strip(), tuple(given.items()))


def applied(workload: Workload, wanted: Asked) -> Workload:
    """`workload` with what was asked for; its name tells what differs, so that equal loads have equal names.

    Fewer threads than its own, or a rate to keep to, leave a server idle now and then, so that it is no longer held to
    be saturated.
    """
    usual = dict(workload.parameters)
    given = {name: value for name, value in wanted.parameters if name != THREADS and usual.get(name) != value}
    threads = _threads(dict(wanted.parameters).get(THREADS), workload)
    told = {**given, **({THREADS: str(threads)} if threads != workload.threads else {})}
    words = ",".join(f"{name.replace('_', '-')}={value}" for name, value in sorted(told.items()))
    return replace(
        workload,
        name=f"{workload.name}:{words}" if words else workload.name,
        parameters=tuple((usual | given).items()),
        threads=threads,
        saturated=workload.saturated and threads >= workload.threads and given.get(RATE, "0") == "0",
    )


def _threads(text: str | None, workload: Workload) -> int:
    if text is None:
        return workload.threads
    if not text.isdecimal() or not 1 <= int(text) <= MAX_THREADS:
        raise UserError(f"{workload.name}: threads={text}: give a whole number from 1 to {MAX_THREADS}")
    return int(text)


def ladder(text: str | None) -> tuple[int, ...]:
    """The numbers of client threads in an option's text, as in ``1,4,16``; none twice."""
    found = []
    for word in filter(None, (part.strip() for part in (text or "").split(","))):
        if not word.isdecimal() or not 1 <= int(word) <= MAX_THREADS:
            raise UserError(f"--threads {text}: {word!r}: give whole numbers from 1 to {MAX_THREADS}, as in 1,4,16")
        if int(word) in found:
            raise UserError(f"--threads {text}: {word} is there twice; give each once")
        found.append(int(word))
    return tuple(found)


def at_each(workloads: Sequence[Workload], threads: Sequence[int]) -> tuple[Workload, ...]:
    """Every workload at every step of a ladder of threads; as they are where there is no step."""
    if not threads:
        return tuple(workloads)
    return tuple(applied_threads(workload, number) for workload in workloads for number in threads)


def applied_threads(workload: Workload, threads: int) -> Workload:
    """The workload at that many threads, which its name tells."""
    if threads == workload.threads:
        return workload
    name = f"{workload.name}{',' if ':' in workload.name else ':'}{THREADS}={threads}"
    return replace(workload, name=name, threads=threads, saturated=workload.saturated and threads >= workload.threads)


def fills(workload: Workload, cores: int) -> bool:
    """Whether a server on that many cores is held to be busy without a rest under this load."""
    return workload.saturated and workload.threads >= FILL * cores


def idle(workload: Workload, cores: int) -> str | None:
    """A line where a load that would saturate its server has too few client threads for a side's cores."""
    if not workload.saturated or fills(workload, cores):
        return None
    return (
        f"{workload.name} has {workload.threads} client threads for a side of {cores} cores, which may leave "
        f"some idle; --threads {min(MAX_THREADS, FILL * cores)} fills them"
    )


@dataclass(frozen=True)
class Parameter:
    """What a load program says of one of its parameters.

    Attributes:
        kind: ``number``, ``switch`` or ``text``.
        choices: the values that are allowed; empty: any of its kind.
    """

    kind: str
    choices: tuple[str, ...] = ()


def check(workload: Workload, known: Mapping[str, Parameter]) -> Workload:
    """The workload with its switches spelled on and off; a `UserError` for a parameter that is none, or is wrong.

    Args:
        workload: with whatever parameters were asked for.
        known: the program's parameters by name, with underscores.
    """
    allowed = {name: item for name, item in known.items() if name not in workload.without}
    values = []
    for name, value in workload.parameters:
        if name not in allowed:
            raise unknown(f"parameter of {workload.entry}", name, (*allowed, THREADS))
        values.append((name, _checked(f"{workload.entry}: {name}={value}", allowed[name], value)))
    return replace(workload, parameters=tuple(values))


_SWITCHES = {"on": "on", "off": "off", "true": "on", "false": "off", "1": "on", "0": "off"}


def _checked(where: str, item: Parameter, value: str) -> str:
    if item.choices and value not in item.choices:
        raise unknown(f"value in {where}:", value, item.choices)
    if item.kind == "switch":
        if value.lower() not in _SWITCHES:
            raise UserError(f"{where}: give on or off")
        return _SWITCHES[value.lower()]
    if item.kind == "number" and not re.fullmatch(r"-?\d+(\.\d+)?", value):
        raise UserError(f"{where}: give a number")
    return value
