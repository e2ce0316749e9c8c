"""The seed of slots and keys: drawn when a run begins, recorded and kept; a requested one holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from burnish.record.events.study import SessionBegun
from burnish.record.record import Record
from burnish.study.request.options import Options
from burnish.study.session import seed_of


@pytest.fixture
def new(tmp_path: Path) -> Record:
    return Record(tmp_path / "new", create=True)


def test_each_run_draws_its_own_seed(new: Record) -> None:
    """With one seed for all, slots and keys would repeat from run to run."""
    with closing(new):
        drawn = {seed_of(new, Options()) for _ in range(8)}
        assert len(drawn) == 8
        assert seed_of(new, Options(seed=7)) == 7


def test_a_run_keeps_the_seed_that_it_began_with(new: Record) -> None:
    with closing(new):
        new.append(SessionBegun({}, seed=99))
        assert seed_of(new, Options()) == 99


def test_a_run_of_a_burnish_that_drew_none_goes_on_with_its_own(new: Record) -> None:
    with closing(new):
        new.append(SessionBegun({}))
        assert seed_of(new, Options()) == 1
