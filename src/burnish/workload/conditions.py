"""Conditions as a user asks for them: settings by name and value, a few of them words of Burnish's own; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from burnish.base.errors import UserError, unknown
from burnish.model.condition import Condition, Transport
from burnish.model.engine import NO_SETTINGS, ServerSettings

TRANSPORTS: tuple[Transport, ...] = get_args(Transport)

NETWORK: Mapping[str, tuple[re.Pattern[str], str]] = {
    "rate": (re.compile(r"^\d+(\.\d+)?(kbit|mbit|gbit)$"), "a rate, as in 100mbit (kbit, mbit, gbit)"),
    "delay": (re.compile(r"^\d+(\.\d+)?(us|ms)$"), "a delay of each direction, as in 1ms (us, ms)"),
}
"""What the network between two hosts may be told, in tc's own spelling."""


def condition_of(
    words: Iterable[str],
    server: ServerSettings = NO_SETTINGS,
    *,
    over: Condition | None = None,
    option: str = "--set",
) -> Condition:
    """The condition that these words make, over another one.

    Args:
        words: ``NAME=VALUE`` each: ``transport`` (what belongs to it may follow behind commas), one of `NETWORK`, one
            of the server's words for several settings, or a setting.
        server: what is known of the engine's settings.
        over: what holds where no word speaks.
        option: where the words come from, for errors.

    Raises:
        UserError: no NAME=VALUE, an unknown value of one of our words, a setting that Burnish decides.
    """
    condition = over or Condition()
    for word in _single(words, option):
        name, equals, value = word.partition("=")
        name, value = plain(name), value.strip()
        variable = name not in ("transport", *NETWORK, *server.words)
        if not name or not equals or not (value or variable):
            raise UserError(f"{option} {word}: write NAME=VALUE, as in transport=tcp")
        if name == "transport":
            chosen = next((each for each in TRANSPORTS if each == value), None)
            if chosen is None:
                raise unknown(f"value in {option} transport=", value, TRANSPORTS)
            kept = condition if chosen == "remote" else replace(condition, rate="", delay="")
            condition = replace(kept, transport=chosen)
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
    """Each word by itself; a transport's may be joined by commas, a server variable's own commas are its value's."""
    mine = ("transport", *NETWORK)
    for word in words:
        if plain(word.partition("=")[0]) not in mine:
            yield word
            continue
        for part in (each.strip() for each in word.split(",")):
            if plain(part.partition("=")[0]) not in mine:
                raise UserError(f"{option} {part}: a transport has rate= and delay= beside it; say others apart")
            yield part


def _network(condition: Condition, name: str, value: str, where: str) -> Condition:
    form, told = NETWORK[name]
    value = value.lower()
    if value == "none":
        value = ""
    elif not form.match(value) or not float(value.rstrip("bgikmstu")):
        raise UserError(f"{where}: give {told}, or none")
    return replace(condition, rate=value) if name == "rate" else replace(condition, delay=value)


def plain(name: str) -> str:
    """A setting's name as the server's own list of variables has it, with underscores."""
    return name.strip().lstrip("-").replace("-", "_").lower().removeprefix("loose_")


def setting_name(name: str) -> str:
    """A setting's name with underscores; a ``loose_`` stays, by which a server passes over what it does not know."""
    return ("loose_" if re.match(r"\s*(--)?loose[-_]", name, re.IGNORECASE) else "") + plain(name)


def merged(
    settings: Sequence[tuple[str, str]], later: Sequence[tuple[str, str]], server: ServerSettings = NO_SETTINGS
) -> tuple[tuple[str, str], ...]:
    """Settings with later ones over them: one of each name, and of opposed ones the later alone."""
    gone = {name for name, _ in later}
    gone |= {other for group in server.opposed if gone & set(group) for other in group}
    return (*(item for item in settings if item[0] not in gone), *later)


def words_of(condition: Condition) -> str:
    """A condition in a few words, for names and reports; '' for the usual one."""
    transport = [f"transport={condition.transport}"] if condition.transport != "unix" else []
    network = [f"{name}={value}" for name, value in _of_network(condition).items() if value]
    return ",".join([*transport, *network, *(f"{name}={value}" for name, value in condition.settings)])


def difference(one: Condition, other: Condition) -> str:
    """What sets the second condition apart from the first, in a few words."""
    said = [f"transport={other.transport}"] if other.transport != one.transport else []
    if other.transport == "remote":
        before = _of_network(one)
        said += [f"{name}={value or 'none'}" for name, value in _of_network(other).items() if value != before[name]]
    mine = dict(one.settings)
    said += [f"{name}={value}" for name, value in other.settings if mine.get(name) != value]
    return ",".join(said)


def _of_network(condition: Condition) -> dict[str, str]:
    return {"rate": condition.rate, "delay": condition.delay}
