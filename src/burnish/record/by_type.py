"""A record's events by type: what reports and other readers of a whole record go by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar, cast

from burnish.record.events import Event, Recorded

_E = TypeVar("_E", bound=Event)


class ByType:
    """Events sorted by their type, each type's in the order in which they happened.

    Args:
        events: of a record, in order.
    """

    def __init__(self, events: Iterable[Recorded[Event]]) -> None:
        self._found: dict[type[Event], list[Recorded[Event]]] = {}
        for each in events:
            self._found.setdefault(type(each.event), []).append(each)

    def recorded(self, kind: type[_E]) -> list[Recorded[_E]]:
        """All of a type, with their places and times."""
        return cast("list[Recorded[_E]]", self._found.get(kind, []))

    def of(self, kind: type[_E]) -> list[_E]:
        """All of a type."""
        return [each.event for each in self.recorded(kind)]

    def last(self, kind: type[_E]) -> _E | None:
        """The latest of a type; None where there is none."""
        found = self.recorded(kind)
        return found[-1].event if found else None

    def __contains__(self, kind: type[Event]) -> bool:
        return kind in self._found

    def __iter__(self) -> Iterator[type[Event]]:
        return iter(self._found)
