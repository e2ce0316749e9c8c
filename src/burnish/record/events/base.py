"""What all kinds of event have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar


class Event:
    """Base class of events; each kind is a frozen dataclass derived from it."""

    @classmethod
    def kind(cls) -> str:
        """The kind's name in a record: the class name in snake case (``StartDone``: ``start_done``)."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@dataclass(frozen=True)
class Unknown(Event):
    """An event of a kind unknown to this version of Burnish: kept unchanged, never interpreted.

    Attributes:
        named: name of its kind.
        body: its values.
    """

    named: str
    body: Mapping[str, Any]


E_co = TypeVar("E_co", bound=Event, covariant=True)


@dataclass(frozen=True)
class Recorded(Generic[E_co]):
    """An event with its place in a record.

    Attributes:
        number: its position in the record, from 1.
        at: when it was written, ISO 8601 in UTC.
        event: what happened.
    """

    number: int
    at: str
    event: E_co
