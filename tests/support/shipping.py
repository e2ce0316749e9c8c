"""Sittings of shipped studies on the fake engine, within this process and with starts of less than a second."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from burnish.base import paths
from burnish.catalogue import load
from burnish.catalogue.bundled import files as studies
from burnish.cli.results import result_of
from burnish.model.engine import EngineSpec
from burnish.model.workload import Timing
from burnish.report.bundled.table import StudyTable
from burnish.study import runner
from burnish.study.bundled.expansion import expand
from burnish.study.constructors.bundled import bundled_study, of_expanded
from burnish.study.request.options import Options
from burnish.study.request.selection import Asked
from burnish.study.study import Study
from drawn import printed

SHORT = Timing(settle=0.02, window=0.1, warmup=0.1, pairs=1, turns=2)


def expanded(name: str, engine: str, **more: Any) -> Study:
    """A bundled study as its file has it, whatever compilers this machine has."""
    own = studies.study(name)
    return of_expanded(own, expand(own, load.engine(engine), **more), Asked(), Options())


Run = Callable[..., tuple[StudyTable, Path]]


def quick(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a sitting; returns the table and the study's folder."""
    usual = load.engine

    def engine(name: str) -> EngineSpec:
        found = usual(name)
        return replace(found, times=dict.fromkeys(found.times, SHORT)) if name == "fake" else found

    monkeypatch.setattr(load, "engine", engine)

    def run(
        name: str, *rows: str, threads: tuple[int, ...] = (), starts: int = 2, **more: Any
    ) -> tuple[StudyTable, Path]:
        console = Console(file=io.StringIO(), width=80)
        # Of rows of the same speed one in twenty is proved to differ, and would be measured in other link orders.
        asked, options = Asked(rows=rows, threads=threads), Options(starts=starts, layouts=0, **more)
        study = bundled_study(name, "fake", asked, options)
        folder = runner.run(paths.home(), study, options, console, None, asked)
        table = result_of(folder).shipped
        assert table is not None
        return table, folder

    return run


def shown(folder: Path) -> str:
    """The report as a person reads it."""
    return printed(result_of(folder))
