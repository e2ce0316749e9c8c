"""`burnish report`: files to send, and what reads them back."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from test_record_verbs import MONDAY, TUESDAY, call, file, run, wrong

from burnish.base import paths


def test_a_page_is_read_back_as_its_record(tmp_path: Path) -> None:
    source = file(tmp_path, MONDAY, "monday.jsonl.xz")
    page = tmp_path / "monday.html"
    told = json.loads(run("report", source, "-o", page, "--json"))
    assert told == {
        "schema": 1,
        "file": str(page),
        "format": "html",
        "runs": ["fake-tune-1"],
        "bytes": page.stat().st_size,
    }
    for words in (("--full",), ("--json",), ("--markdown",)):
        assert run("show", page, *words) == run("show", source, *words)
    for name, place in (("one", source), ("two", page)):
        run("record", "export", place, "-o", tmp_path / f"{name}.jsonl.xz")
    assert (tmp_path / "one.jsonl.xz").read_bytes() == (tmp_path / "two.jsonl.xz").read_bytes()
    again = tmp_path / "again.html"
    run("report", page, "-o", again)
    assert again.read_bytes() == page.read_bytes(), "a page of a page is the same page"


def test_a_run_is_named_as_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("record", "import", file(tmp_path, MONDAY, "monday.jsonl"))
    monkeypatch.chdir(tmp_path)
    run("report", "fake-tune-1")
    assert "fake-tune-1" in run("show", "fake-tune-1.html")


def test_a_run_whose_folder_was_renamed_is_known_by_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = file(tmp_path, MONDAY, "monday.jsonl")
    run("record", "import", source)
    studies = paths.home().studies
    (studies / "fake-tune-1").rename(studies / "of-monday")
    run("record", "import", source)
    assert "burnish report of-monday" in run("show", "of-monday")
    assert {line["run"] for line in json.loads(run("runs", "--json"))["runs"]} == {"of-monday", "fake-tune-1"}
    run("report", "of-monday", "fake-tune-1")
    assert "holds 2 runs" in wrong("show", "of-monday-and-fake-tune-1.html")


def test_a_record_does_not_choose_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    source = file(tmp_path, MONDAY, "monday.jsonl")
    source.write_text(source.read_text().replace("fake-tune-1", "../index"))
    assert "not a valid study name" in wrong("report", source)
    assert not (tmp_path / "index.html").exists()
    run("report", source, "-o", "mine.html")


def test_several_runs_in_a_page(tmp_path: Path) -> None:
    sources = file(tmp_path, MONDAY, "monday.jsonl"), file(tmp_path, TUESDAY, "tuesday.jsonl")
    page = tmp_path / "both.html"
    run("report", *sources, "-o", page)
    assert run("show", f"{page}#fake-tune-2", "--json") == run("show", sources[1], "--json")
    assert "holds 2 runs" in wrong("show", page)
    assert "given twice" in wrong("report", sources[0], sources[0], "-o", page)


def test_other_formats_by_suffix_or_by_name(tmp_path: Path) -> None:
    source = file(tmp_path, MONDAY, "monday.jsonl")
    run("report", source, "-o", tmp_path / "a.md")
    assert (tmp_path / "a.md").read_text() == run("show", source, "--markdown")
    run("report", source, "-o", tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text() == run("show", source, "--json")
    run("report", source, "-o", tmp_path / "a.txt", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO((tmp_path / "a.txt").read_text()))
    shown = json.loads(run("show", source, "--json"))["rows"][0]
    assert row["run"] == "fake-tune-1"
    assert row["candidate"] == shown["candidate"]
    assert row["verdict"] == shown["verdict"]
    assert float(row["low"]) == shown[shown["headline"]]["low"]
    assert int(row["starts"]) == shown["starts"]


def test_a_table_in_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    run("report", file(tmp_path, MONDAY, "monday.jsonl"), "-o", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.num_rows == 1
    assert table.column("starts").to_pylist() == [4]
    assert str(table.schema.field("ratio").type) == "double"


def test_parquet_without_its_library_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    words = wrong("report", file(tmp_path, MONDAY, "monday.jsonl"), "-o", tmp_path / "a.parquet")
    assert "pip install 'burnish[parquet]'" in words
    assert not (tmp_path / "a.parquet").exists()


def test_a_folder_is_not_said_to_have_a_wrong_suffix(tmp_path: Path) -> None:
    said = wrong("report", file(tmp_path, MONDAY, "monday.jsonl"), "-o", tmp_path)
    assert f"--output {tmp_path}: is a folder; name a file in it" in said


def test_bad_input_is_refused_in_one_line(tmp_path: Path) -> None:
    source = file(tmp_path, MONDAY, "monday.jsonl")
    assert "its suffix is none of" in wrong("report", source, "-o", tmp_path / "a.txt")
    assert "unknown format 'xls'" in wrong("report", source, "--format", "xls")
    both = wrong("report", source, "-o", tmp_path / "a.csv", "--format", "parquet")
    assert f"--format parquet: {tmp_path}/a.csv has the suffix of csv; leave one of them out" in both
    assert "no such folder" in wrong("report", source, "-o", tmp_path / "no" / "a.html")
    page = tmp_path / "a.html"
    run("report", source, "-o", page)
    assert "is the record itself" in wrong("report", page, "-o", page)
    page.write_text(page.read_text()[:-200])
    assert "cut off" in wrong("show", page)
    assert call("report").exit_code == 2
