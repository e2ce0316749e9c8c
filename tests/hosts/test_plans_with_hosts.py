"""A plan with `--hosts`: refused where the run would be, and said to be this machine's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.cli.common import app
from burnish.hosts import carried
from burnish.hosts import run as on_hosts
from burnish.hosts.host import Host
from burnish.hosts.place import Joined, write_joined

Call = Callable[..., Result]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls Burnish as typed, with a scheduler that knows of one host."""
    write_joined(paths.home(), Joined("tls://here:1"))
    monkeypatch.setattr(on_hosts, "present", lambda _home: [Host("zen", machine="1", kind="zen5")])

    def called(*words: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["burnish", *words])
        return CliRunner().invoke(app, words, env={"COLUMNS": "120", "TERM": "dumb"})

    return called


PLAN = ("plan", "fake", "--variant", "gcc-o3", "--workload", "fake_mix")


def test_it_is_said_to_be_this_machines(call: Call) -> None:
    done = call(*PLAN, "--hosts", "all")
    assert done.exit_code == 0, done.exception
    assert "--hosts: this is the plan for this machine; each host plans by itself" in done.stderr
    assert "--hosts" not in call(*PLAN).stderr


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        ((*PLAN, "--hosts", "arm,zen"), r"^--hosts arm,zen: no host for arm is there; there are: zen \(zen5\)"),
        (("tune", "fake", "--budget=1h", "--hosts=all", "--dry-run"), r"^--hosts: a search chooses what to build"),
        ((*PLAN, "--hosts", "all", "--recipes", "own.toml"), r"^--hosts: the files that the command names have"),
        (
            ("study", "run", "sun-2008", "--hosts", "kind=arm64", "--dry-run"),
            r"^--hosts kind=arm64: no host for arm64 is there",
        ),
    ],
)
def test_what_the_run_would_refuse_its_plan_refuses(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], refused: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(carried, "MOST_BYTES", 10)
    Path("own.toml").write_text('[mine]\nreason = "a reason that is long enough"\nrecipe = { level = "-O1" }\n')
    error = call(*words).exception
    assert isinstance(error, UserError), error
    with pytest.raises(UserError, match=refused):
        raise error
