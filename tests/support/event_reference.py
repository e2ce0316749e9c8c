"""The reference of events in docs/FORMAT.md, made from their declarations.

Write it anew with ``python tests/support/event_reference.py`` (`tests/record/test_format_document.py` says when).
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from burnish.record import upgrade
from burnish.record.codec import plain
from burnish.record.events import EVENTS, Event, builds, bundled, patches, searches, study, trials, verdicts, why

DOCUMENT = Path(__file__).parents[2] / "docs" / "FORMAT.md"
BEGIN, END = "<!-- events: begin -->", "<!-- events: end -->"

SUBJECTS = (study, builds, trials, verdicts, bundled, searches, patches, why)

PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "any value"}


def reference() -> str:
    """All kinds of event by subject, then the values that they are made of."""
    parts = []
    for subject in SUBJECTS:
        kinds = [each for each in EVENTS if each.__module__ == subject.__name__]
        parts.append(f"## {_sentence(inspect.getdoc(subject) or '')}")
        parts += [f"### `{each.kind()}`\n{_described(each)}" for each in kinds]
    parts.append("## Values within events")
    parts += [f"### {each.__name__}\n{_described(each)}" for each in values()]
    parts.append(f"## What format 1 called otherwise\n{_called_otherwise()}")
    return "\n\n".join(parts)


def _called_otherwise() -> str:
    rows = [f"| `{old}` | `{new}` |" for old, new in upgrade.KINDS.items() if old != new]
    return "\n".join(["| format 1 | now |", "| --- | --- |", *rows])


def values() -> list[type]:
    """What events are made of beside plain values, each after the first that has it."""
    found: dict[type, None] = {}

    def look(hint: Any) -> None:
        for inner in get_args(hint):
            look(inner)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type) and hint not in found:
            found[hint] = None
            for each in get_type_hints(hint).values():
                look(each)

    for event in EVENTS:
        for hint in get_type_hints(event).values():
            look(hint)
    return [each for each in found if not issubclass(each, Event)]


def meanings(cls: type) -> dict[str, str]:
    """What a class's docstring says of its fields, by name."""
    text = inspect.getdoc(cls) or ""
    _, _, listed = text.partition("Attributes:\n")
    entries = re.findall(r"^    (\w+): (.*?)(?=^    \w|\Z|^\S)", listed, re.MULTILINE | re.DOTALL)
    return {name: " ".join(said.split()) for name, said in entries}


def _described(cls: Any) -> str:
    text = (inspect.getdoc(cls) or "").partition("\n\nAttributes:")[0]
    lines = [_in_markdown(" ".join(text.split()))]
    hints, said = get_type_hints(cls), meanings(cls)
    fields = dataclasses.fields(cls)
    if fields:
        lines += ["", "| field | type | if missing | meaning |", "| --- | --- | --- | --- |"]
    for field in fields:
        cells = (f"`{field.name}`", words(hints[field.name]), _default(field), _in_markdown(said[field.name]))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def words(hint: Any) -> str:
    """A type as a reader of JSON calls it."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join("null" if each is type(None) else words(each) for each in inner)
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin is tuple:
        if inner[-1] is ...:
            return f"list of {words(inner[0])}"
        return f"list ({', '.join(map(words, inner))})"
    if origin is not None and issubclass(origin, Mapping):
        by = "number" if inner[0] is int else "name"
        return f"by {by}: {words(inner[1])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ", ".join(f"`{each.value}`" for each in hint)
    return PLAIN[hint] if hint in PLAIN else f"[{hint.__name__}](#{hint.__name__.lower()})"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{json.dumps(plain(field.default))}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{json.dumps(plain(field.default_factory()))}`"
    return "required"


def _in_markdown(text: str) -> str:
    return re.sub(r"\bNone\b", "null", text).replace("``", "`").replace("<", "&lt;")


def _sentence(text: str) -> str:
    return text.partition("\n")[0].rstrip(".")


def sections(text: str) -> Iterator[str]:
    """The document's text before, between and after its markers."""
    before, _, rest = text.partition(BEGIN)
    between, _, after = rest.partition(END)
    yield from (before, between, after)


def rendered(text: str) -> str:
    """The document with the reference as it is to be."""
    before, _, after = sections(text)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(rendered(DOCUMENT.read_text()))
