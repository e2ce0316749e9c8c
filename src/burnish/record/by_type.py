"""A record's events by type, for reports and other readers of a complete record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar, cast

from burnish.record.events import Event, Recorded

_E = TypeVar("_E", bound=Event)


class ByType:
    """Events by type, those of each type in the order in which they happened.

    Args:
        events: the events of a record, in order.
    """

    def __init__(self, events: Iterable[Recorded[Event]]) -> None:
        self._by_type: dict[type[Event], list[Recorded[Event]]] = {}
        for recorded in events:
            self._by_type.setdefault(type(recorded.event), []).append(recorded)

    def recorded(self, kind: type[_E]) -> list[Recorded[_E]]:
        """All events of a type, with their numbers and times."""
        return cast("list[Recorded[_E]]", self._by_type.get(kind, []))

    def of(self, kind: type[_E]) -> list[_E]:
        """All events of a type."""
        return [recorded.event for recorded in self.recorded(kind)]

    def last(self, kind: type[_E]) -> _E | None:
        """The latest event of a type; None if there is none."""
        recorded = self.recorded(kind)
        return recorded[-1].event if recorded else None

    def replaced(self, kind: type[_E], events: Iterable[Recorded[_E]]) -> ByType:
        """The same record with other events of one type."""
        changed = ByType(())
        changed._by_type = {**self._by_type, kind: cast("list[Recorded[Event]]", list(events))}
        return changed

    def __contains__(self, kind: type[Event]) -> bool:
        return kind in self._by_type

    def __iter__(self) -> Iterator[type[Event]]:
        return iter(self._by_type)
