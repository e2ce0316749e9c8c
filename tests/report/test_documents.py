"""JSON Schemas of what --json prints: real documents match them, and hold nothing that they do not describe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from burnish.cli.common import app
from burnish.cli.pipeline.schemas import SCHEMAS
from burnish.report.committed import result_of_file
from burnish.report.render.json import text
from burnish.report.values import runs as values
from burnish.report.values.documents import DOCUMENTS, form
from described import wrong

RESULTS = Path(__file__).parents[2] / "docs/results"
KINDS = ("mariadb-calibrate", "mariadb-tune-cold", "mariadb-waves", "sqlite-tune")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_has_a_valid_schema_that_describes_its_fields(name: str) -> None:
    made = SCHEMAS[name].schema()
    Draft202012Validator.check_schema(made)
    assert made["properties"]["schema"]["const"] == DOCUMENTS[name].version
    described = [*made["$defs"].values(), made]
    assert [(field, part) for part in described for field, part in part["properties"].items() if part == {}] == []


@pytest.mark.parametrize("name", KINDS)
def test_committed_records_match(name: str) -> None:
    document = json.loads(text(form("run", values.run(result_of_file(RESULTS / f"{name}.jsonl.xz")))))
    assert wrong("run", document) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("variants", ["variants"]),
        ("flags", ["flags"]),
        ("targets", ["flags", "--targets"]),
        ("options", ["options", "sqlite"]),
        ("workloads", ["workload", "list"]),
        ("studies", ["study", "list"]),
        ("micros", ["micro", "--list"]),
        ("runs", ["runs"]),
        ("history", ["history", str(RESULTS / "sqlite-tune.jsonl.xz")]),
        ("profiles", ["profile", "list"]),
        ("builds", ["builds"]),
        ("clean", ["clean"]),
        ("export", ["record", "export", str(RESULTS / "sqlite-tune.jsonl.xz"), "--output", "again.jsonl"]),
        ("import", ["record", "import", str(RESULTS / "sqlite-tune.jsonl.xz")]),
        ("report", ["report", str(RESULTS / "sqlite-tune.jsonl.xz"), "-o", "a.csv"]),
    ],
)
def test_what_verbs_print_matches(name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert wrong(name, json.loads(done.stdout)) == []


def test_a_schema_is_printed_and_a_wrong_name_refused() -> None:
    done = CliRunner().invoke(app, ["schema", "check"], catch_exceptions=False)
    assert json.loads(done.stdout) == json.loads(json.dumps(SCHEMAS["check"].schema()))
    assert "study-plan" in CliRunner().invoke(app, ["schema"], catch_exceptions=False).stdout


def test_a_field_that_goes_does_not_match() -> None:
    document = {"schema": 1, "runs": [{"run": "a"}]}
    assert any("'engine' is a required property" in line for line in wrong("runs", document))
    assert wrong("export", {"schema": 2, "file": "a", "events": 1, "bytes": 2}) != []


def test_what_is_not_finite_is_null() -> None:
    assert json.loads(text({"a": [float("nan"), (float("inf"), 1.5)]})) == {"a": [None, [None, 1.5]]}
