"""The form of a settings file, made from the declarations of its keys: what it may hold, and its JSON Schema.

Values are validated by the readers of the options, so that a file and a command line take the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, create_model

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.catalogue.edge import Entry
from burnish.cli import help as pages
from burnish.cli import readers
from burnish.cli.config.keys import ENGINE, NAME
from burnish.cli.declaration import Option
from burnish.model.workload import Design, Placement

_TIME = {"type": "string", "pattern": r"^([0-9.]+h)?([0-9.]+m(in)?)?([0-9]+s)?$"}

_FORMS: Mapping[Any, Mapping[str, Any]] = {
    readers.design: {"enum": [design.value for design in Design]},
    readers.placement: {"enum": [placement.value for placement in Placement]},
    readers.budget: _TIME,
    readers.apart: _TIME,
    readers.precision: {"type": ["string", "number"]},
    readers.replicates: {"type": "integer", "minimum": 0, "maximum": 60},
    readers.threads: {"type": ["string", "integer"], "minimum": 1},
    readers.slower: {"type": "string", "pattern": "^slower"},
}
"""What an editor may say of a value beyond its type, by reader."""


def model(known: Mapping[str, Option]) -> type[Entry]:
    """The model of a settings file with these keys; what it validates has a tuple of words for each."""
    fields: dict[str, Any] = {
        key.replace("-", "_"): (_type(key, option), Field(default=(), alias=key, description=pages.described(option)))
        for key, option in known.items()
    }
    return create_model("Settings", __base__=Entry, __doc__=f"Settings of Burnish: {NAME}.", **fields)


def schema(known: Mapping[str, Option]) -> dict[str, Any]:
    """The JSON Schema of a settings file."""
    made = model(known).model_json_schema()
    for value in made["properties"].values():
        value.pop("default", None)  # an empty tuple here, which a file can't say
        value.pop("title", None)
    return made


def _type(key: str, option: Option) -> Any:
    return Annotated[Any, PlainValidator(_validator(key, option)), WithJsonSchema(_form(option))]


def _validator(key: str, option: Option) -> Callable[[Any], tuple[str, ...]]:
    def validate(value: Any) -> tuple[str, ...]:
        words = words_of(option, value)
        try:
            option.value_of(words)
            if key == ENGINE and words:
                load.engine(words[-1])
        except UserError as error:
            said = str(error).removeprefix(f"{option.name} ")
            raise ValueError(said.removeprefix(f"{words[-1]}: ")) from None
        return words

    return validate


def words_of(option: Option, value: Any) -> tuple[str, ...]:
    """A value of a file as the words that say it on the command line.

    Raises:
        ValueError: it is of the wrong type.
    """
    if option.reader is None:
        if not isinstance(value, bool):
            raise ValueError("give true or false")
        return ("yes",) if value else ()
    values = value if isinstance(value, list) and option.many else [value]
    if not all(isinstance(each, str | int | float) and not isinstance(each, bool) for each in values):
        raise ValueError(f"give a text or a number{', or a list of these' if option.many else ''}")
    return tuple(str(each) for each in values)


def _form(option: Option) -> dict[str, Any]:
    if option.reader is None:
        return {"type": "boolean"}
    one = dict(_FORMS.get(option.reader) or _number(option.reader) or {"type": "string"})
    return {"anyOf": [one, {"type": "array", "items": one}]} if option.many else one


def _number(reader: Any) -> dict[str, Any] | None:
    if not isinstance(reader, readers.Number):
        return None
    bounds = {"minimum": reader.low, "maximum": reader.high}
    form = {"type": "integer" if reader.whole else "number"}
    return form | {name: bound for name, bound in bounds.items() if bound is not None}


def literal(words: Sequence[str], option: Option) -> str:
    """Words as a value in TOML."""
    if option.reader is None:
        return "true" if words else "false"
    texts = [_literal(word, option) for word in words]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _literal(word: str, option: Option) -> str:
    numbers = isinstance(option.reader, readers.Number) or option.reader in (readers.replicates, readers.threads)
    if numbers and re.fullmatch(r"-?\d+(\.\d+)?", word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
