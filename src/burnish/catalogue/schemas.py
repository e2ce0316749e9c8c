"""JSON Schemas of the files of variants and of studies, made from the models that read them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from burnish.catalogue.bundled import entries
from burnish.catalogue.recipes import OwnVariantEntry, RecipeEntry
from burnish.model.recipe import Recipe

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_Schema = dict[str, Any]


def recipes() -> _Schema:
    """The schema of a file of variants (``--recipes``)."""
    adapter: TypeAdapter[Any] = TypeAdapter(dict[str, OwnVariantEntry])
    return finished("Variants of Burnish: a table for each, by its name", adapter.json_schema())


def studies() -> _Schema:
    """The schema of a bundled study's file.

    A row may leave out what `defaults` or its patch says, and has overrides by engine in `on`.
    """
    schema = entries.Study.model_json_schema()
    definitions = schema["$defs"]
    for model in (entries.Row, OwnVariantEntry, RecipeEntry):
        own = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions.update(own.pop("$defs", {}))
        definitions[model.__name__] = own
    row = definitions["Row"]
    row.pop("required", None)
    row["description"] = "One row; what it leaves out is in `defaults`, or is its patch's."
    over = {**row, "properties": dict(row["properties"]), "description": "What an engine has otherwise."}
    definitions["RowOnEngine"] = over
    row["properties"]["on"] = {"type": "object", "additionalProperties": {"$ref": "#/$defs/RowOnEngine"}}
    properties = schema["properties"]
    properties["row"] = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Row"}}
    properties["defaults"] = {"$ref": "#/$defs/RowOnEngine"}
    properties["builds"] = {"type": "object", "additionalProperties": {"$ref": "#/$defs/OwnVariantEntry"}}
    for name in ("Row", "RowOnEngine", "Series", "Reading", "Robust"):
        definitions[name]["properties"]["recipe"] = {"$ref": "#/$defs/Recipe"}
    return finished("A study of Burnish", schema)


def finished(title: str, schema: Mapping[str, Any]) -> _Schema:
    """A schema with its dialect and title, and what the fields of a recipe mean."""
    made = {"$schema": DIALECT, **schema, "title": title}
    about = documented(Recipe)
    for name, field in made.get("$defs", {}).get("Recipe", {}).get("properties", {}).items():
        field["description"] = about[name]
    return made


def documented(model: type) -> dict[str, str]:
    """What a dataclass's docstring says of its attributes, by name."""
    text = (inspect.getdoc(model) or "").partition("Attributes:\n")[2]
    parts = re.split(r"^    (\w+): ", text, flags=re.MULTILINE)[1:]
    words = (" ".join(part.split()).replace("``", "`") for part in parts[1::2])
    return dict(zip(parts[::2], words, strict=True))
