"""`benchmarks/sittings.py --fewest --hours`: what a claim about sittings rests on is printed, and can be asked for."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchmark_scripts import benchmark_script

RECORDS = [
    str(Path(__file__).parents[2] / "docs" / "results" / f"{name}.jsonl.xz")
    for name in ("mariadb-tune-apart", "mariadb-tune-apart-again", "mariadb-tune-apart-third")
]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return benchmark_script("sittings")


def test_it_says_how_many_sittings_over_how_long(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(RECORDS) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "4 comparisons in 12 sittings on 1 kind of processor; of one comparison 3 sittings at most, "
        "6.7 h from its first start to its last at most"
    )


@pytest.mark.parametrize(("asked", "title"), [(["--fewest", "4"], "4 sittings over 0 h"), (["--hours", "12"], "2 sit")])
def test_too_few_or_too_close_sittings_are_no_proof(
    script: ModuleType, asked: list[str], title: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main([*RECORDS, *asked]) == 1
    assert f"no comparison has {title}" in capsys.readouterr().out
