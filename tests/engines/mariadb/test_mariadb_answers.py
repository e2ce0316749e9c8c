"""What a server is asked on another processor, and what is made of its answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.catalogue.instructions import processors
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mysql_family import answers
from burnish.program import emulation
from mariadb_support import PlainBench, engine, real_server

QUESTIONS = engine().spec.folder / "answers.sql"


def test_each_statement_is_one_line_and_each_answer_is_asked_for(tmp_path: Path) -> None:
    lines = answers.statements(QUESTIONS, tmp_path).splitlines()
    assert all(line.endswith(";") for line in lines), "bootstrap mode reads statement by statement"
    written = {line.rsplit("/", 1)[1].rstrip("';") for line in lines if "outfile" in line}
    assert written == set(PRODUCT.answers)


def test_the_first_wrong_answer_is_told(tmp_path: Path) -> None:
    for name, right in PRODUCT.answers.items():
        (tmp_path / name).write_text(f"{name}\t{right}\n")
    assert answers.wrong(tmp_path, PRODUCT.answers) is None
    (tmp_path / "groups").write_text("groups\t3899\n")
    assert answers.wrong(tmp_path, PRODUCT.answers) == "groups: expected '3900', got '3899'"
    (tmp_path / "rows").unlink()
    missing = "rows: expected '3900\\t952168.7500\\t2026-06-12 12:00:00', got 'nothing'"
    assert answers.wrong(tmp_path, PRODUCT.answers) == missing


@pytest.mark.real
@pytest.mark.parametrize("processor", [None, "Conroe", "Nehalem", "EPYC"])
def test_a_real_server_answers_here_and_on_other_processors(tmp_path: Path, processor: str | None) -> None:
    launcher: tuple[str, ...] = ()
    if processor is not None:
        found = emulation.find()
        if found is None:
            pytest.skip("qemu's user-mode emulation is not here")
        launcher = found.launcher(processors()[processor])
    assert answers.ask(real_server(), PRODUCT, QUESTIONS, tmp_path, PlainBench(tmp_path / "logs"), launcher) is None
