"""Loads requested by the user: a name in the catalogue or a file, with parameters after a colon; pure.

``oltp_read_only:tables=8,rand-type=pareto,./mine.lua:rows=5,oltp_insert`` is three loads. A word with ``=`` belongs to
the load before it unless it has a colon first; the parameters of a mix may be files (``./mine.lua=2``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.base.errors import UserError, unknown
from burnish.model.workload import Workload

THREADS = "threads"
"""The parameter that every load has: its client threads."""

RATE = "rate"
"""sysbench's parameter for a fixed rate in transactions per second; 0: no limit."""

MAX_THREADS = 1024

FILL = 4
"""Client threads per core of a side with which the server of a saturated load never waits for a client."""

FILES = (".lua", ".sql")
"""Suffixes of a user's own loads: a script, or statements with weights."""

_FOLLOWING = re.compile(rf"^([^:/.]+|[^:=]*({'|'.join(map(re.escape, FILES))}))=")


@dataclass(frozen=True)
class Asked:
    """A requested load.

    Attributes:
        name: a name in the catalogue, or a file's path.
        parameters: the parameters after the colon as (name, value), without duplicates; names with underscores, paths
            unchanged.
    """

    name: str
    parameters: tuple[tuple[str, str], ...] = ()


def split(text: str, option: str = "--workload") -> tuple[str, ...]:
    """The loads in an option's text, each with its parameters, still as text."""
    loads: list[str] = []
    for word in (part.strip() for part in text.split(",")):
        if not word:
            continue
        if _FOLLOWING.match(word):
            if not loads:
                raise UserError(f"{option} {text}: {word!r} has no load before it; write LOAD:{word}")
            loads[-1] += f",{word}" if ":" in loads[-1] else f":{word}"
        else:
            loads.append(word)
    return tuple(loads)


def weighted(text: str) -> tuple[tuple[str, str], ...]:
    """The loads in an option's text, each with the word after its last ``=``, its weight; '' for a load without one.

    ``oltp_insert:tables=8,rand-type=pareto=2,oltp_read_only=3`` is two: a load goes on until each of its parameters has
    a value beside the weight.
    """
    found: list[tuple[str, str]] = []
    begun = ""
    for word in (part.strip() for part in text.split(",")):
        if not word:
            continue
        begun = f"{begun},{word}" if begun else word
        name, _, weight = begun.rpartition("=")
        if name and all("=" in parameter for parameter in name.partition(":")[2].split(",") if ":" in name):
            found.append((name.strip(), weight.strip()))
            begun = ""
    return (*found, (begun, "")) if begun else tuple(found)


def asked(text: str) -> Asked:
    """A load's name and parameters; a `UserError` if a parameter is not NAME=VALUE or is given twice."""
    name, _, rest = text.partition(":")
    parameters: dict[str, str] = {}
    for word in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = word.partition("=")
        key = key.strip()
        key = key if key.endswith(FILES) else key.lstrip("-").replace("-", "_")
        if not key or not equals or not value.strip():
            raise UserError(
                f"{text}: {word!r} is not a parameter; write NAME=VALUE, as in {name}:tables=8,rand-type=pareto"
            )
        if key in parameters:
            raise UserError(f"{text}: {key!r} is given twice; give it once")
        parameters[key] = value.strip()
    return Asked(name.strip(), tuple(parameters.items()))


def applied(workload: Workload, wanted: Asked) -> Workload:
    """`workload` with the requested parameters; its name contains those that differ, so that equal loads have one name.

    With fewer threads than its default, or with a fixed rate, the server may be idle at times: the load then no longer
    counts as saturated.
    """
    defaults = dict(workload.parameters)
    given = {name: value for name, value in wanted.parameters if name != THREADS and defaults.get(name) != value}
    threads = _threads(dict(wanted.parameters).get(THREADS), workload)
    changed = {**given, **({THREADS: str(threads)} if threads != workload.threads else {})}
    words = ",".join(f"{name.replace('_', '-')}={value}" for name, value in sorted(changed.items()))
    return replace(
        workload,
        name=f"{workload.name}:{words}" if words else workload.name,
        parameters=tuple((defaults | given).items()),
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
    """The numbers of client threads in an option's text, as in ``1,4,16``; duplicates are errors."""
    numbers = []
    for word in filter(None, (part.strip() for part in (text or "").split(","))):
        if not word.isdecimal() or not 1 <= int(word) <= MAX_THREADS:
            raise UserError(f"--threads {text}: {word!r}: give whole numbers from 1 to {MAX_THREADS}, as in 1,4,16")
        if int(word) in numbers:
            raise UserError(f"--threads {text}: {word} is given twice; give each once")
        numbers.append(int(word))
    return tuple(numbers)


def at_each(workloads: Sequence[Workload], threads: Sequence[int]) -> tuple[Workload, ...]:
    """Every workload at each of these numbers of threads; unchanged if there are none."""
    if not threads:
        return tuple(workloads)
    return tuple(applied_threads(workload, number) for workload in workloads for number in threads)


def applied_threads(workload: Workload, threads: int) -> Workload:
    """The workload with that number of threads, which becomes part of its name."""
    if threads == workload.threads:
        return workload
    name = f"{workload.name}{',' if ':' in workload.name else ':'}{THREADS}={threads}"
    return replace(workload, name=name, threads=threads, saturated=workload.saturated and threads >= workload.threads)


def fills(workload: Workload, cores: int) -> bool:
    """Whether this load should keep a server on that number of cores busy all the time."""
    return workload.saturated and workload.threads >= FILL * cores


def idle(workload: Workload, cores: int) -> str | None:
    """A warning if a saturated load has too few client threads for a side's cores, otherwise None."""
    if not workload.saturated or fills(workload, cores):
        return None
    return (
        f"{workload.name} has {workload.threads} client threads for a side of {cores} cores, which may leave "
        f"some idle; --threads {min(MAX_THREADS, FILL * cores)} fills them"
    )


@dataclass(frozen=True)
class Parameter:
    """A parameter of a load program.

    Attributes:
        kind: ``number``, ``switch`` or ``text``.
        choices: the values that are allowed; empty: any of its kind.
    """

    kind: str
    choices: tuple[str, ...] = ()


def check(workload: Workload, known: Mapping[str, Parameter]) -> Workload:
    """The workload with its switches spelled on and off; a `UserError` for an unknown parameter or a wrong value.

    Args:
        workload: the workload with the requested parameters.
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
