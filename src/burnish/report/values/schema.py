"""JSON Schema of values that are rendered: from the types of their declarations, described by their docstrings; pure.

A rendered number that is not finite is null, a path is text, a tuple an array. A field may be left out if its default
is None. Further fields are allowed everywhere: a reader ignores what it does not know.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


@dataclass
class Writer:
    """Makes one schema.

    Attributes:
        definitions: schemas of the dataclasses so far, by name.
    """

    definitions: dict[str, Schema] = field(default_factory=dict)
    _names: dict[Any, str] = field(default_factory=dict)

    def of(self, kind: Any) -> Schema:
        """The schema of a type.

        Raises:
            TypeError: there are no rendered values of it.
        """
        if isinstance(kind, Object):
            return self.of_object(kind)
        if isinstance(kind, Maybe):
            return {"anyOf": [self.of(kind.of), {"type": "null"}]}
        if isinstance(kind, Many):
            return {"type": "array", "items": self.of(kind.of)}
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        origin, inner = get_origin(kind), get_args(kind)
        if origin in (Union, types.UnionType):
            return self._one_of(inner)
        if origin is Literal:
            return {"enum": list(inner)}
        if origin is tuple and not (len(inner) == 2 and inner[1] is ...):
            items = [self.of(item) for item in inner]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if origin is not None and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if origin is not None and issubclass(origin, Sequence | Set):
            return {"type": "array", "items": self.of(inner[0])}
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [member.value for member in kind]}
        if isinstance(kind, type) and issubclass(kind, PurePath):
            return {"type": "string"}
        if dataclasses.is_dataclass(kind):
            return self._reference(kind)
        if getattr(kind, "_is_protocol", False):
            return self._of_protocol(kind)
        raise TypeError(f"no schema of {kind}")

    def of_object(self, declared: Object) -> Schema:
        """The schema of an object that no dataclass declares by itself."""
        properties, required = {}, []
        for name, (kind, what) in declared.fields().items():
            properties[name] = self.of(kind) | ({"description": what} if what else {})
            required += [name] if name not in declared.optional else []
        about = {"description": declared.what} if declared.what else {}
        return {"type": "object", **about, "properties": properties, "required": required}

    def _of_protocol(self, cls: Any) -> Schema:
        """What any class has that can be used as this one: its properties."""
        found = {name: member.fget for name, member in vars(cls).items() if isinstance(member, property)}
        fields = {name: (get_type_hints(read)["return"], inspect.getdoc(read) or "") for name, read in found.items()}
        return self.of_object(Object((inspect.getdoc(cls) or "").partition("\n")[0], fields))

    def _one_of(self, kinds: Sequence[Any]) -> Schema:
        options = [self.of(kind) for kind in kinds]
        simple = [option["type"] for option in options if list(option) == ["type"]]
        if len(simple) == len(options):
            names = [name for option in simple for name in ([option] if isinstance(option, str) else option)]
            return {"type": list(dict.fromkeys(names))}
        return {"anyOf": options}

    def _reference(self, cls: Any) -> Schema:
        name = self._names.get(cls)
        if name is None:
            same = sum(other.__name__ == cls.__name__ for other in self._names)
            name = self._names[cls] = f"{cls.__name__}{same + 1}" if same else cls.__name__
            self.definitions[name] = {}  # a class may hold values of its own kind
            self.definitions[name] = self.of_object(declared(cls))
        return {"$ref": f"#/$defs/{name}"}


@dataclass(frozen=True)
class Object:
    """An object of a document.

    Attributes:
        what: what it is.
        own: by field, its type and what it is.
        of: the dataclass of which it has the other fields too; None for none.
        without: fields of that class which it does not have.
        optional: fields that may be missing.
    """

    what: str
    own: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    of: Any = None
    without: Collection[str] = ()
    optional: Collection[str] = ()

    def fields(self) -> Mapping[str, tuple[Any, str]]:
        """All fields with their types and descriptions."""
        inherited = declared(self.of).own if self.of else {}
        return {name: value for name, value in inherited.items() if name not in self.without} | dict(self.own)


@dataclass(frozen=True)
class Maybe:
    """Something that may be null.

    Attributes:
        of: what it is else.
    """

    of: Any


@dataclass(frozen=True)
class Many:
    """An array.

    Attributes:
        of: what each of its values is.
    """

    of: Any


def declared(cls: Any) -> Object:
    """A dataclass as an object: its fields, described by the section ``Attributes`` of its docstring."""
    text = inspect.getdoc(cls) or ""
    about, hints = _attributes(text), get_type_hints(cls)
    own = {at.name: (hints[at.name], about.get(at.name, "")) for at in dataclasses.fields(cls)}
    optional = [at.name for at in dataclasses.fields(cls) if at.default is None]
    return Object(text.partition("\n")[0], own, optional=optional)


def _attributes(text: str) -> dict[str, str]:
    """What a docstring says of each attribute, in a line."""
    part = text.partition("Attributes:\n")[2].partition("\n\n")[0]
    entries = re.split(r"\n(?= {4}\S)", f"\n{part}")[1:]
    pairs = (entry.strip().partition(":") for entry in entries)
    return {name: " ".join(what.split()) for name, _, what in pairs}


def schema(name: str, version: int, content: Object) -> Schema:
    """The JSON Schema of a document, with its version as the field ``schema``."""
    writer = Writer()
    body = writer.of_object(content)
    first = {"schema": {"const": version, "description": "Version of this document's form."}}
    return {
        "$schema": DIALECT,
        "$id": f"urn:burnish:{name}:{version}",
        "title": name,
        **body,
        "properties": first | body["properties"],
        "required": ["schema", *body["required"]],
        "$defs": writer.definitions,
    }
