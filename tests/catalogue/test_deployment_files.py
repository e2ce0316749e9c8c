"""Files of ways to deploy: what they take from those of any server."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import deployment, load
from burnish.catalogue.deployment import Deployment, deployments
from burnish.catalogue.edge import ROOT, read_toml


def read(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """What a file with this text is, as that of an engine of its own."""
    (folder / deployment.FILE).write_text(text + "[choices]\n")
    monkeypatch.setattr(deployment, "engine_folders", lambda: [SimpleNamespace(name="mine", path=folder)])
    return deployments.__wrapped__()["mine"]


def test_a_promise_of_any_server_has_its_reason_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[promises.isolation]\nsettings = ["levels"]\n[promises.answers]\nreason = "What I say it is, at length."\n'
    found = read(text, tmp_path, monkeypatch).promises
    assert found["isolation"].reason.startswith("What transactions see of each other")
    assert found["isolation"].settings == ("levels",)
    assert found["answers"].reason == "What I say it is, at length."


def test_a_promise_of_ones_own_needs_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError) as caught:
        read('[promises.speed]\nsettings = ["pace"]\n', tmp_path, monkeypatch)
    assert "promises.speed: give a reason; without one go durability, isolation, answers, protection" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


def test_ways_of_any_server_are_taken_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read('common = ["jemalloc"]\n[promises]\n', tmp_path, monkeypatch)
    assert found.choices["jemalloc"].words == ("allocator=jemalloc",)
    with pytest.raises(UserError, match=r"'jemaloc'.*did you mean 'jemalloc'"):
        read('common = ["jemaloc"]\n[promises]\n', tmp_path, monkeypatch)


def test_what_any_server_takes_speaks_of_none() -> None:
    """Each engine's user reads it; where it is from may name one."""
    shared = read_toml(ROOT / deployment.FILE)
    said = [*shared["promises"].values()]
    said += [one.get(field, "") for one in shared["choices"].values() for field in ("does", "reason", "costs")]
    names = [*(spec.title for spec in load.engines().values()), "Percona", "InnoDB", "buffer pool"]
    assert not [(name, text) for text in said for name in names if name.lower() in text.lower()]
