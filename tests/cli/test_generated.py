"""What is made from the declarations: schemas that take every shipped file, a manual page that man can show."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner

from burnish.base.engine_folders import engine_folders
from burnish.catalogue.bundled import files as studies
from burnish.catalogue.edge import ROOT
from burnish.cli.common import app
from burnish.cli.config import asking, schemas
from burnish.cli.config.keys import keys, verbs_of
from generated import MAN, generated

VERBS = verbs_of(typer.main.get_command(app))
MADE = {name: make() for name, make in schemas.every(VERBS).items()}


def wrong(name: str, text: str) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(MADE[name]).iter_errors(tomllib.loads(text))]


def test_what_lies_in_the_repository_is_what_is_made() -> None:
    stale = [str(path) for path, text in generated().items() if not path.exists() or path.read_text() != text]
    assert stale == [], "write it anew: python tests/support/generated.py"


def test_schemas_take_every_shipped_file() -> None:
    for schema in MADE.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    own = [folder.path / "variants.toml" for folder in engine_folders()]
    shipped = [
        ROOT / "variants.toml",
        Path(__file__).parents[1] / "frozen" / "own.toml",
        *(path for path in own if path.is_file()),
    ]
    assert {path: wrong("recipes", path.read_text()) for path in shipped} == {path: [] for path in shipped}
    for name in studies.names():
        assert wrong("study-file", (ROOT / "studies" / f"{name}.toml").read_text()) == [], name
    assert wrong("config", asking.text(keys(VERBS), {"engine": ("sqlite",), "threads": ("1", "4")})) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config", "max-startz = 3"),
        ("config", "max-starts = 99"),
        ("config", 'design = "duett"'),
        ("config", 'budget = "soon"'),
        ("recipes", '[a]\nrecipe = { levle = "-O3" }'),
        ("recipes", '[a]\nrecipe = { level = "O3" }'),
        ("study-file", 'title = "T"'),
    ],
)
def test_schemas_refuse_what_burnish_refuses(name: str, text: str) -> None:
    assert wrong(name, text)


def test_every_key_of_a_recipe_is_explained() -> None:
    entry: dict[str, Any] = MADE["recipes"]["$defs"]["Recipe"]["properties"]
    assert all(field["description"] for field in entry.values())


def test_schemas_are_printed_and_listed() -> None:
    assert json.loads(CliRunner().invoke(app, ["schema", "recipes"]).stdout) == MADE["recipes"]
    listed = CliRunner().invoke(app, ["schema"]).stdout
    assert all(re.search(rf"^{name} ", listed, re.MULTILINE) for name in schemas.FILES)


def test_the_manual_page_has_every_verb_and_option() -> None:
    text = MAN.read_text().replace("\\", "")
    for words, verb in VERBS.items():
        assert verb.hidden or f"fBburnish {' '.join(words)}fR".replace("-", "-") in text, words
        assert verb.hidden or all(f"fB{option.name}fR" in text for option in verb.options)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_the_manual_page_is_shown_without_warnings() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-rLL=80n", str(MAN)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "BURNISH(1)" in plain
    assert "--max-starts N" in plain
