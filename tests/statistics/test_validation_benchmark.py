"""The validation benchmark runs, and the document holds what the code does today."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script
from burnish.study.trials.trials import CANARIES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return benchmark_script("statistics_validation")


def test_the_document_shows_the_constants_in_use(benchmark: ModuleType) -> None:
    assert benchmark.constants() in (ROOT / "docs" / "METHODOLOGY.md").read_text()


def test_as_many_canaries_are_simulated_as_a_study_takes(benchmark: ModuleType) -> None:
    assert benchmark.CANARIES == CANARIES


def test_tables_are_written_between_the_markers_only(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "M.md"
    document.write_text(f"before\n{benchmark.BEGIN}\nstale figures\n{benchmark.END}\nafter\n")
    recorded = tmp_path / "starts.json"
    recorded.write_text(str([[0.01 * ((3 * i) % 7 - 3), 0.005 * (i % 3)] for i in range(12)]))
    monkeypatch.setattr(benchmark, "DOCUMENT", document)
    assert benchmark.main(["--repetitions", "300", "--no-write"]) == 0
    assert "stale figures" in document.read_text()
    assert benchmark.main(["--repetitions", "300", "--recorded", str(recorded)]) == 0
    text = document.read_text()
    assert text.startswith(f"before\n{benchmark.BEGIN}\nEach figure is from 300 simulated studies")
    assert text.endswith(f"{benchmark.END}\nafter\n")
    assert "stale figures" not in text
    assert "recorded (12 A/A starts)" in text
    assert "recorded" in capsys.readouterr().out
