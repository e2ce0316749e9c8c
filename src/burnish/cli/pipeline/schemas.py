"""The verb that prints JSON Schemas: of what ``--json`` prints, and of the files that people write."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer

from burnish.base.errors import unknown
from burnish.cli import completion, readers
from burnish.cli.common import app, print_document, verb
from burnish.cli.config import schemas as files
from burnish.cli.config.keys import verbs_of
from burnish.cli.declaration import Argument
from burnish.report.sections.catalogue import schemas as listing
from burnish.report.values.documents import DOCUMENTS


@dataclass(frozen=True)
class Described:
    """Something that has a JSON Schema.

    Attributes:
        what: what it describes, in a few words.
        schema: makes the schema.
    """

    what: str
    schema: Callable[[], Mapping[str, Any]]


def _file(name: str) -> Mapping[str, Any]:
    """The schema of a file that people write; a settings file has the options of every verb."""
    return files.every(verbs_of(typer.main.get_command(app)))[name]()


SCHEMAS: Mapping[str, Described] = {
    name: Described(f"--json of {document.verbs}", partial(document.schema, name))
    for name, document in DOCUMENTS.items()
} | {name: Described(f"{about}; in {files.shipped(name)}", partial(_file, name)) for name, about in files.FILES.items()}
"""All of them by name."""


@verb(
    "schema",
    Argument("name", "NAME", "What to describe.", readers.text, required=False, unset="a list of all names",
             complete=completion.one(lambda _: SCHEMAS)),
    example="burnish schema run > run.schema.json",
)  # fmt: skip
def schema(name: str | None) -> None:
    """Print the JSON Schema of --json's documents, or of your own files.

    Each document has the version of its form in its field `schema`. It is raised when a field goes, changes its type or
    its meaning; not for new fields, which a reader should ignore.
    """
    if name is None:
        print_document(listing({known: described.what for known, described in SCHEMAS.items()}))
        return
    if name not in SCHEMAS:
        raise unknown("schema", name, list(SCHEMAS))
    sys.stdout.write(json.dumps(SCHEMAS[name].schema(), indent=1) + "\n")
