"""What stands in docs/results is what its committed record says, rendered by the command that it names."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from burnish.record.record import import_events
from burnish.report.summary import summarise
from burnish.report.terminal import markdown

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_rendered_from_its_record(path: Path, tmp_path: Path) -> None:
    with closing(import_events(path, tmp_path)) as record:
        rendered = markdown(summarise(record.events()))
    committed = path.with_suffix(".md").read_text()
    assert committed == rendered, f"run: ./burnish show {path.relative_to(RESULTS.parents[1])} --markdown"
