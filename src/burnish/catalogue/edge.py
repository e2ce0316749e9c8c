"""Reads and validates the catalogue's TOML files and reports their errors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from dataclasses import Field as DataclassField
from importlib import resources
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema, create_model

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

from burnish.base.errors import UserError, unknown

ROOT = Path(str(resources.files("burnish.catalogue"))) / "data"
"""Where the catalogue's files lie."""


def _pairs(value: Any) -> Any:
    """A table, or a list of [name, value], as (name, value) pairs of text; true and false as ON and OFF."""
    return tuple((str(name), _text(entry)) for name, entry in _items(value, "give a table of names and values"))


def _items(value: Any, message: str) -> list[tuple[Any, Any]]:
    """A table, or a list of pairs, as pairs; otherwise a `ValueError` with this message."""
    items = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(items, list | tuple) or not all(
        isinstance(item, list | tuple) and len(item) == 2 for item in items
    ):
        raise ValueError(message)
    return [(first, second) for first, second in items]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    return str(value)


def _weights(value: Any) -> Any:
    """A table, or a list of [name, weight], as pairs."""
    return tuple(_items(value, 'give names and weights, as in [["oltp_read_only", 3], ["oltp_insert", 1]]'))


def _either(value: Mapping[str, Any]) -> WithJsonSchema:
    """The schema of a table of names and values, or a list of pairs of them."""
    pair = {"type": "array", "minItems": 2, "maxItems": 2}
    return WithJsonSchema(
        {"anyOf": [{"type": "object", "additionalProperties": value}, {"type": "array", "items": pair}]}
    )


Weights = Annotated[tuple[tuple[str, float], ...], BeforeValidator(_weights), _either({"type": "number"})]
Pairs = Annotated[
    tuple[tuple[str, str], ...],
    BeforeValidator(_pairs),
    _either({"type": ["string", "number", "boolean"]}),
]
Reason = Annotated[str, Field(min_length=20, description="why the entry is here, in prose")]


_Model = TypeVar("_Model", bound=BaseModel)


class Entry(BaseModel):
    """An entry of a catalogue file: unknown keys are errors, values are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def entry_of(
    value: type[DataclassInstance], checked: Mapping[str, Any] | None = None, read_as: Mapping[Any, Any] | None = None
) -> Any:
    """The entry of a file whose keys are a frozen value's fields, with their types and defaults.

    Args:
        value: the value's class.
        checked: by field, what its words are checked for beyond the field's type.
        read_as: by type of a field, how a file writes it where that is not how it is kept.
    """
    types, checked, read_as = get_type_hints(value), checked or {}, read_as or {}
    keys: dict[str, Any] = {
        field.name: (checked.get(field.name) or read_as.get(types[field.name], types[field.name]), _default(field))
        for field in fields(value)
    }
    return create_model(value.__name__, __base__=Entry, __doc__=value.__doc__, **keys)


def _default(field: DataclassField[Any]) -> Any:
    if field.default_factory is not MISSING:
        return Field(default_factory=field.default_factory)
    return ... if field.default is MISSING else field.default


_Value = TypeVar("_Value", bound="DataclassInstance")


def value_of(value: type[_Value], entry: Any) -> _Value:
    """The value of an entry that has all of its fields."""
    return value(**{field.name: getattr(entry, field.name) for field in fields(value)})


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's content; a `UserError` with file and line when it can't be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None


def validated(model: type[_Model], value: Mapping[str, Any], where: str) -> _Model:
    """`value` as `model`; otherwise a `UserError` that names file, key, the invalid value and what is allowed."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # An unknown key is reported first: it may be a misspelling of a missing one.
        first = min(error.errors(), key=lambda error: error["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise unknown(f"key in {where}", key, _keys_beside(model, first["loc"])) from None
        given = "" if first["type"] == "missing" else f", found {first['input']!r}"
        message = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{': '.join(filter(None, (where, key)))}: {message[:1].lower()}{message[1:]}{given}") from None


def _keys_beside(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """The keys that are allowed at `place`, each with its full path."""
    here: Any = model
    for part in place[:-1]:
        if isinstance(here, type) and issubclass(here, BaseModel):
            field = next(field for name, field in here.model_fields.items() if str(part) in (field.alias, name))
            here = _table(field.annotation)
        else:  # a list of tables, or tables by name
            here = get_args(here)[0 if isinstance(part, int) else 1]
    names = [field.alias or name for name, field in here.model_fields.items()]
    return [".".join(str(part) for part in (*place[:-1], name)) for name in names]


def _table(annotation: Any) -> Any:
    """What a table that may be left out is when it is there."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    return next(part for part in get_args(annotation) if part is not type(None))
