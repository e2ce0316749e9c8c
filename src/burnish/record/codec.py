"""Encodes events as plain values and decodes them: one codec for all kinds, driven by their declarations.

A recorded value is JSON: fields by name, enumerations by value, paths as text, tuples as lists. A number that is not
finite becomes null: JSON cannot represent it, and finished work must not be lost because of it. A field whose default
is None is omitted while it is None.

An event of an unknown kind is kept as `Unknown`: a record of a newer Burnish can be exported, imported and merged
without losing anything. An unknown field is an error: without it the event would mean something else, and a report
would be wrong without any sign of it.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import chain
from pathlib import PurePath
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from burnish.base.errors import UserError
from burnish.model.cell import CellId
from burnish.record.events import KINDS, Event, Unknown
from burnish.record.upgrade import completed, upgraded

FORMAT = 2
"""Incremented when readers of the previous format would misread an event; not for a new kind or field."""

_V = TypeVar("_V")
_Decoder = Callable[[Any], Any]


class _Wrong(Exception):
    """A value that does not match its declaration.

    Attributes:
        what: what is wrong with it.
        path: names of the fields that lead to it, the innermost last.
    """

    def __init__(self, what: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.path = path

    def within(self, name: str) -> _Wrong:
        """The same error, relative to the value that contains it under this name."""
        return _Wrong(self.what, (name, *self.path))


def encode(event: Event) -> tuple[str, dict[str, Any]]:
    """An event's kind and its values as JSON values."""
    kind, value = (event.named, event.body) if isinstance(event, Unknown) else (event.kind(), event)
    values: dict[str, Any] = plain(value)
    return kind, values


def decode(kind: str, body: Mapping[str, Any], form: int = FORMAT, *, where: str = "") -> Event:
    """The event of a kind and its values.

    Args:
        kind: as recorded.
        body: as recorded.
        form: format in which it was recorded.
        where: place named in error messages (a file, a number).

    Raises:
        UserError: a field is missing, not known, or of another type than declared; the format is newer.
    """
    place = f"{where}: " if where else ""
    if not 1 <= form <= FORMAT:
        raise UserError(f"{place}an event in format {form}; this Burnish reads formats 1 to {FORMAT}: use a newer one")
    try:
        if form < FORMAT:
            kind, body = upgraded(kind, body)
        body = completed(kind, body)
        if kind not in KINDS:
            return Unknown(kind, body)
        declared: Any = KINDS[kind]
        event: Event = _decoder(declared)(body)
    except _Wrong as wrong:
        field = ".".join(wrong.path)
        raise UserError(
            f"{place}{kind}{f', {field}' if field else ''}: {wrong.what}; the record was written by a newer Burnish, "
            "or changed: use the Burnish that wrote it"
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise UserError(
            f"{place}{kind}: not as Burnish wrote it in format {form} ({type(error).__name__}: {error}); export the "
            "record again"
        ) from None
    return event


def value_of(cls: type[_V], values: Mapping[str, Any]) -> _V:
    """The inverse of `plain` and of `dataclasses.asdict`: an instance of `cls` from plain values.

    Raises:
        ValueError: the values do not match the declaration.
    """
    try:
        declared: Any = cls
        value: _V = _decoder(declared)(values)
    except _Wrong as wrong:
        raise ValueError(f"{cls.__name__}.{'.'.join(wrong.path)}: {wrong.what}") from None
    return value


def plain(value: Any) -> Any:
    """A value as a JSON value."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            name: plain(item)
            for name, default in _fields(type(value))
            if (item := getattr(value, name)) is not None or default is not None
        }
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, PurePath):
        return str(value)
    raise TypeError(f"{type(value).__name__} can't be recorded: {value!r}")


@cache
def _fields(cls: type) -> tuple[tuple[str, Any], ...]:
    """Names of a class's fields, with their defaults."""
    return tuple((field.name, field.default) for field in dataclasses.fields(cls))


@cache
def _decoder(kind: Any) -> _Decoder:
    """The function that makes a value of this type from a plain value."""
    if kind is Any:
        return _as_is
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _optional(inner)
    if origin is Literal:
        return _one_of(inner, inner)
    if origin is tuple:
        return _tuple(inner)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(*inner)
    if origin is not None and issubclass(origin, Sequence):
        return _tuple((*inner, ...))
    if dataclasses.is_dataclass(kind):
        return _once(_dataclass(kind)) if kind is CellId else _dataclass(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _one_of([member.value for member in kind], list(kind))
    if kind in _PLAIN:
        return _PLAIN[kind]
    raise TypeError(f"no values of {kind} in a record")  # an error in a declaration; the tests find it


def _as_is(value: Any) -> Any:
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _Wrong(f"is {_shown(value)}, not text")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise _Wrong(f"is {_shown(value)}, not a whole number")
    return value


def _number(value: Any) -> float:
    if type(value) is float or type(value) is int:
        return value
    if value is None:
        return math.nan  # it was not finite when it was written
    raise _Wrong(f"is {_shown(value)}, not a number")


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise _Wrong(f"is {_shown(value)}, not true or false")
    return value


_PLAIN: dict[Any, _Decoder] = {str: _text, int: _whole, float: _number, bool: _truth}


def _optional(inner: Sequence[Any]) -> _Decoder:
    kinds = [kind for kind in inner if kind is not type(None)]
    if len(kinds) != 1 or len(kinds) == len(inner):
        raise TypeError(f"a record has no values that are one of {inner}")
    decoder = _decoder(kinds[0])
    return lambda value: None if value is None else decoder(value)


def _one_of(values: Sequence[Any], members: Sequence[Any]) -> _Decoder:
    known = dict(zip(values, members, strict=True))

    def decode_member(value: Any) -> Any:
        try:
            return known[value]
        except (KeyError, TypeError):
            raise _Wrong(f"is {_shown(value)}, not one of {', '.join(map(str, known))}") from None

    return decode_member


def _tuple(inner: Sequence[Any]) -> _Decoder:
    if len(inner) == 2 and inner[1] is ...:
        if inner[0] == tuple[float, ...]:
            return _rows_of_numbers
        return _numbers if inner[0] is float else _items(_decoder(inner[0]))
    decoders = [_decoder(kind) for kind in inner]

    def decode_each(value: Any) -> Any:
        if len(_list(value)) != len(decoders):
            raise _Wrong(f"is {_shown(value)}, not {len(decoders)} values")
        return tuple(decoder(item) for decoder, item in zip(decoders, value, strict=True))

    return decode_each


def _items(decoder: _Decoder) -> _Decoder:
    return lambda value: tuple([decoder(item) for item in _list(value)])  # faster than from a generator


_NUMBERS = frozenset((int, float))


def _numbers(value: Any) -> tuple[float, ...]:
    """Numbers, of which a large record has millions: looked at all at once."""
    items = _list(value)
    return tuple(items) if _NUMBERS.issuperset(map(type, items)) else tuple(map(_number, items))


_LISTS = frozenset((list, tuple))


def _rows_of_numbers(value: Any) -> tuple[tuple[float, ...], ...]:
    """The turns of a pair, the most of a large record: looked at all at once too."""
    rows = _list(value)
    usual = _LISTS.issuperset(map(type, rows)) and _NUMBERS.issuperset(map(type, chain.from_iterable(rows)))
    return tuple(map(tuple if usual else _numbers, rows))


def _list(value: Any) -> Sequence[Any]:
    if type(value) is not list and not isinstance(value, list | tuple):
        raise _Wrong(f"is {_shown(value)}, not a list")
    return value


def _mapping(key: Any, inner: Any) -> _Decoder:
    named = _as_is if key is str else _key_of(key)
    decoder = _decoder(inner)

    def decode_mapping(value: Any) -> dict[Any, Any]:
        if type(value) is not dict and not isinstance(value, Mapping):  # most are, and to ask for more takes longer
            raise _Wrong(f"is {_shown(value)}, not values by name")
        result = {}
        for name, item in value.items():
            try:
                result[named(name)] = decoder(item)
            except _Wrong as wrong:
                raise wrong.within(str(name)) from None
        return result

    return decode_mapping


def _key_of(kind: Any) -> _Decoder:
    def decode_key(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            raise _Wrong(f"is named {_shown(value)}, not by {kind.__name__}") from None

    return decode_key


def _once(decoder: _Decoder) -> _Decoder:
    """Decodes equal values once: cells, which every event of a start and of its pairs names."""
    known: dict[str, Any] = {}

    def decode_once(value: Any) -> Any:
        text = repr(value)  # tells 1 from true, as the decoder does
        if text not in known:
            known[text] = decoder(value)
        return known[text]

    return decode_once


def _dataclass(cls: Any) -> _Decoder:
    names: frozenset[str] = frozenset(field.name for field in dataclasses.fields(cls))
    required = frozenset(
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )
    decoders: dict[str, _Decoder] = {}

    def decode_fields(value: Any) -> Any:
        if not decoders:  # at the first value: a class may hold values of its own kind
            hints = get_type_hints(cls)
            decoders.update({name: _decoder(hints[name]) for name in names})
        if type(value) is not dict and not isinstance(value, Mapping):
            raise _Wrong(f"is {_shown(value)}, not values by name")
        if not value.keys() <= names:
            unknown = min(value.keys() - names, key=str)
            raise _Wrong("is not known to this Burnish", (str(unknown),))
        if not required <= value.keys():
            raise _Wrong("is missing", (min(required - value.keys()),))
        arguments = {}
        for name, item in value.items():
            try:
                arguments[name] = decoders[name](item)
            except _Wrong as wrong:
                raise wrong.within(name) from None
        return cls(**arguments)

    return decode_fields


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
