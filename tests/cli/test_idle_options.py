"""Options that do nothing beside the others of a call are refused in one line, unless somebody else gave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.cli.common import app
from burnish.cli.config import settings
from burnish.study.kept.sharing import VARIABLE

PLAN = ("plan", "fake", "--variant", "gcc-o3")
NOTHING_SHARED = (
    f"--artefacts-gb 5: nothing is shared that could be bounded; add --artefacts URL or set {VARIABLE}, or leave "
    "--artefacts-gb out"
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


def called(*words: str) -> Any:
    return CliRunner().invoke(app, [*words])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--seconds", "5"), "--seconds 5: nothing is sampled without --why; add --why, or leave --seconds out"),
        (
            ("--starts", "2", "--max-starts", "5"),
            "--max-starts 5: --starts 2 fixes the number of starts; leave one of the two out",
        ),
        (
            ("--apart", "3h"),
            "--apart: there is one sitting, so that no two are apart; add --sittings N, or leave --apart out",
        ),
        (("--artefacts-gb", "5"), NOTHING_SHARED),
    ],
)
def test_an_option_that_does_nothing_is_refused(words: tuple[str, ...], says: str) -> None:
    done = called(*PLAN, *words)
    assert isinstance(done.exception, UserError)
    assert str(done.exception) == says
    with settings.repeating():  # a run of before is resumed by its words, in which a settings file's are too
        assert called(*PLAN, *words).exit_code == 0


def test_other_verbs_refuse_it_too() -> None:
    for words in (("study", "show", "pgo"), ("study", "run", "pgo"), ("compare", "a", "b", "--engine", "fake")):
        done = called(*words, "--seconds", "5")
        assert isinstance(done.exception, UserError)
        assert str(done.exception).startswith("--seconds 5: nothing is sampled without --why"), words
    done = called("hosts", "up", "--artefacts-gb", "5")
    assert str(done.exception) == NOTHING_SHARED


def test_what_has_a_use_is_taken() -> None:
    for words in (("--seconds", "5", "--why"), ("--max-starts", "5"), ("--apart", "3h", "--sittings", "2")):
        assert called(*PLAN, *words).exit_code == 0, words


def test_a_settings_file_is_for_other_calls_too(tmp_path: Path) -> None:
    file = tmp_path / "burnish.toml"
    file.write_text('seconds = 5\napart = "3h"\nmax-starts = 5\nartefacts-gb = 5\n')
    assert called("--config", str(file), *PLAN, "--starts", "4").exit_code == 0


def test_a_search_says_by_itself_what_it_has_no_use_for() -> None:
    done = called("plan", "fake", "--budget", "1h", "--seconds", "5")
    assert str(done.exception).startswith("--seconds: a search does not sample its builds; leave --seconds out")
