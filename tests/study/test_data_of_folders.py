"""Data sets of builds of a folder: another version that is checked out there gets data of its own."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from burnish.base.errors import UserError
from burnish.base.paths import home
from burnish.catalogue import load
from burnish.record.store import Store
from burnish.study import runner
from burnish.study.constructors.tune import tune_study
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked
from planned import plan


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The fake engine's source in a folder that is named like no version of it."""
    shipped = load.shipped_source(load.engine("fake"))
    assert shipped is not None
    return Path(shutil.copytree(shipped, tmp_path / "fake-1"))


def release(tree: Path, number: int) -> None:
    """Checks another version out."""
    header = tree / "fake.h"
    before, define, after = header.read_text().partition("#define FAKE_RELEASE ")
    header.write_text(before + define + f"{number}\n" + after.partition("\n")[2])


def test_each_version_that_is_checked_out_in_a_folder_has_data_of_its_own(
    tree: Path, burnish_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(*_: Any) -> None:
        raise UserError("the baseline and its data are made")

    monkeypatch.setattr(runner, "measure", measure)
    options = Options(source=tree, variants=("gcc-o3",), workloads=("fake_low",), force=True, fresh=True)

    def cached() -> set[bool]:
        steps = plan(home(), "fake", options).steps
        return {step.cached for step in steps if step.kind == "dataset"}

    def versions() -> set[str]:
        return {entry.about["version"] for entry in Store(burnish_home / "store").entries("datasets")}

    def build() -> None:
        with pytest.raises(UserError, match="the baseline and its data are made"):
            runner.run(home(), tune_study("fake", options), options, Console(file=io.StringIO()), None, Asked())

    release(tree, 15)
    assert cached() == {False}
    build()
    assert versions() == {"1 1.15"}
    assert cached() == {True}
    release(tree, 16)
    assert cached() == {False}, "those of 1.15 are none of this one's"
    build()
    assert versions() == {"1 1.15", "1 1.16"}
    release(tree, 15)
    assert cached() == {True}
