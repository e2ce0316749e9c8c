"""Conditions requested by the user: settings as NAME=VALUE, some of them defined by Burnish; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from burnish.base.errors import UserError, unknown
from burnish.model.condition import DISK, HUGE, MEMORY, Condition, Transport
from burnish.model.engine import NO_SETTINGS, ServerSettings
from burnish.model.recipe import Allocator

TRANSPORTS: tuple[Transport, ...] = get_args(Transport)

LAUNCH: Mapping[str, tuple[str, ...]] = {"allocator": get_args(Allocator), "heap_pages": ("usual", HUGE)}
"""How the server is launched: words and their values, of which the first is the usual one."""

NETWORK: Mapping[str, tuple[re.Pattern[str], str]] = {
    "rate": (re.compile(r"^\d+(\.\d+)?(kbit|mbit|gbit)$"), "a rate, as in 100mbit (kbit, mbit, gbit)"),
    "delay": (re.compile(r"^\d+(\.\d+)?(us|ms)$"), "a delay of each direction, as in 1ms (us, ms)"),
}
"""Options of the network between two hosts, in tc's syntax: pattern and description of each value."""

_AFFIX = re.compile(r"^(skip|disable|enable|maximum)_")


def condition_of(
    words: Iterable[str],
    server: ServerSettings = NO_SETTINGS,
    *,
    over: Condition | None = None,
    option: str = "--set",
) -> Condition:
    """The condition with these settings, on top of another one.

    Args:
        words: ``NAME=VALUE`` each: ``transport`` (its options may follow after commas), one of `NETWORK`, ``storage``,
            one of `LAUNCH`, one of the server's shorthands for several settings, or a setting.
        server: facts about the engine's settings.
        over: the condition to start from; None: the default one.
        option: name of the option, for errors.

    Raises:
        UserError: a word is not NAME=VALUE, has an unknown value, or is a setting that Burnish controls.
    """
    condition = over or Condition()
    for word in _single(words, option):
        name, equals, value = word.partition("=")
        name, value = plain(name), value.strip()
        variable = name not in ("transport", "storage", *NETWORK, *LAUNCH, *server.words)
        if not name or not equals or not (value or variable):
            raise UserError(f"{option} {word}: write NAME=VALUE, as in transport=tcp")
        if name == "transport":
            chosen = next((transport for transport in TRANSPORTS if transport == value), None)
            if chosen is None:
                raise unknown(f"value in {option} transport=", value, TRANSPORTS)
            kept = condition if chosen == "remote" else replace(condition, rate="", delay="")
            condition = replace(kept, transport=chosen)
        elif name == "storage":
            condition = replace(condition, storage=_storage(value, option))
        elif name in LAUNCH:
            condition = _launched(condition, name, value, option)
        elif name in NETWORK:
            condition = _network(condition, name, value, f"{option} {word}")
        elif name in server.words:
            values = server.words[name]
            if value not in values:
                raise unknown(f"value in {option} {name}=", value, values)
            condition = replace(condition, settings=merged(condition.settings, values[value], server))
        elif name in server.reserved:
            raise UserError(f"{option} {word}: Burnish decides {name}, since several servers run at once; leave it out")
        elif value.startswith(("/", "~", "./", "../")):
            raise UserError(
                f"{option} {word}: {name} names a place outside of Burnish's folders; a server on trial keeps all of "
                "its files in folders of its own, so give a plain name or leave it out"
            )
        else:
            setting = (setting_name(word.partition("=")[0]), value)
            condition = replace(condition, settings=merged(condition.settings, (setting,), server))
    if condition.limited and condition.transport != "remote":
        raise UserError(
            f"{option}: rate and delay are those of a network between two hosts; say transport=remote,rate=100mbit"
        )
    return condition


def _single(words: Iterable[str], option: str) -> Iterator[str]:
    """The single words: a transport's are joined by commas; commas in a server setting belong to its value."""
    network_names = ("transport", *NETWORK)
    for word in words:
        if plain(word.partition("=")[0]) not in network_names:
            yield word
            continue
        for part in (piece.strip() for piece in word.split(",")):
            if plain(part.partition("=")[0]) not in network_names:
                raise UserError(f"{option} {part}: a transport has rate= and delay= beside it; say others apart")
            yield part


def _network(condition: Condition, name: str, value: str, where: str) -> Condition:
    form, expected = NETWORK[name]
    value = value.lower()
    if value == "none":
        value = ""
    elif not form.match(value) or not float(value.rstrip("bgikmstu")):
        raise UserError(f"{where}: give {expected}, or none")
    return replace(condition, rate=value) if name == "rate" else replace(condition, delay=value)


def _launched(condition: Condition, name: str, value: str, option: str) -> Condition:
    usual, *_ = values = LAUNCH[name]
    if value not in values:
        raise unknown(f"value in {option} {name}=", value, values)
    value = "" if value == usual else value
    return replace(condition, allocator=value) if name == "allocator" else replace(condition, heap_pages=value)


def _storage(value: str, option: str) -> str:
    if value in (DISK, MEMORY) or value.startswith("/"):
        return value
    raise UserError(
        f"{option} storage={value}: give {DISK} (Burnish's home), {MEMORY} (a file system in memory), or the full path "
        "of a folder on another device"
    )


def durability_of(settings: Sequence[tuple[str, str]], server: ServerSettings) -> str:
    """The value of the word ``durability`` that settings amount to; '' if the server has none, or none of its values.

    A server flushes at each commit unless a setting says otherwise: the first of the word's values.
    """
    values = server.words.get("durability", {})
    given = dict(settings)
    usual = dict(next(iter(values.values()), ()))
    for value, meant in values.items():
        if all(given.get(name, usual.get(name)) == setting for name, setting in meant):
            return value
    return ""


def plain(name: str) -> str:
    """A setting's name as in the server's list of variables, with underscores."""
    return name.strip().lstrip("-").replace("-", "_").lower().removeprefix("loose_")


def without_affix(name: str) -> str:
    """A plain name without the word by which a server's option switches or bounds a variable (``disable_log_bin``)."""
    return _AFFIX.sub("", name)


def setting_name(name: str) -> str:
    """A setting's name with underscores; keeps the prefix ``loose_``, with which a server ignores unknown settings."""
    return ("loose_" if re.match(r"\s*(--)?loose[-_]", name, re.IGNORECASE) else "") + plain(name)


def merged(
    settings: Sequence[tuple[str, str]], later: Sequence[tuple[str, str]], server: ServerSettings = NO_SETTINGS
) -> tuple[tuple[str, str], ...]:
    """Settings overridden by later ones, without duplicates; of opposed settings only the later is kept."""
    replaced = {name for name, _ in later}
    replaced |= {other for group in server.opposed if replaced & set(group) for other in group}
    return (*(item for item in settings if item[0] not in replaced), *later)


def words_of(condition: Condition) -> str:
    """A condition in a few words, for names and reports; '' for the default one."""
    transport = [f"transport={condition.transport}"] if condition.transport != "unix" else []
    storage = [f"storage={condition.storage}"] if condition.storage else []
    network = [f"{name}={value}" for name, value in _of_network(condition).items() if value]
    launch = [f"{name}={value}" for name, value in _of_launch(condition).items() if value]
    return ",".join(
        [*transport, *network, *storage, *launch, *(f"{name}={value}" for name, value in condition.settings)]
    )


def difference(first: Condition, second: Condition) -> str:
    """The settings in which the second condition differs from the first, in a few words."""
    words = [f"transport={second.transport}"] if second.transport != first.transport else []
    if second.transport == "remote":
        before = _of_network(first)
        words += [f"{name}={value or 'none'}" for name, value in _of_network(second).items() if value != before[name]]
    words += [f"storage={second.storage}"] if second.storage != first.storage else []
    usual_launch = _of_launch(first)
    words += [
        f"{name}={value or LAUNCH[name][0]}"
        for name, value in _of_launch(second).items()
        if value != usual_launch[name]
    ]
    first_settings = dict(first.settings)
    words += [f"{name}={value}" for name, value in second.settings if first_settings.get(name) != value]
    return ",".join(words)


def _of_launch(condition: Condition) -> dict[str, str]:
    return {"allocator": condition.allocator, "heap_pages": condition.heap_pages}


def _of_network(condition: Condition) -> dict[str, str]:
    return {"rate": condition.rate, "delay": condition.delay}
