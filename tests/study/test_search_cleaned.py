"""A search whose store was emptied between two sittings: what its finalist needs is made again."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from burnish.model.cell import Role
from burnish.record.events.builds import ProgramExamined
from burnish.record.events.searches import SearchEnded
from burnish.record.events.study import StudyFinished
from burnish.record.events.trials import StartDone
from spaces import speed, written
from studying import QUICK, aged, burnish, events, study, summary, text

SPACE = speed(step="train", recipe={"pgo": True}, fast=400)
"""With a profile, which has to be made again too."""

NAME = "search-01"
"""A build that the search itself thought of: the next session has it from the record alone."""


@pytest.mark.measures
def test_what_was_cleaned_between_sittings_is_made_again(burnish_home: Path, tmp_path: Path) -> None:
    space = written(tmp_path / "space.toml", SPACE)
    words = ["tune", "fake", "--space", str(space), "--strategy", "eliminate", "--max-starts", "3", *QUICK]
    words += ["--sittings", "2", "--apart", "30m"]
    child = burnish(*words)
    assert child.returncode == 0, text(child)
    (first,) = events(burnish_home, SearchEnded)
    aged(study(burnish_home), 3600)
    child = burnish("clean", "--older-than", "0", "--yes")
    assert child.returncode == 0, text(child)
    kinds = ("builds", "profiles", "datasets", "gates", "evidence")
    assert not [path for kind in kinds for path in burnish_home.glob(f"store/{kind}/*")]
    child = burnish("resume", "--due")
    _, err = text(child)
    assert child.returncode == 0, err
    assert taken(burnish_home) == (6, 6), err
    _, ended = events(burnish_home, SearchEnded)
    assert (ended.winner, ended.settings) == (NAME, first.settings)
    examined = [one.program for one in events(burnish_home, ProgramExamined) if one.build.name == NAME]
    made = {(program.code, program.data) for program in examined}
    if len(made) == 1:  # now and then gcc makes the same of both profiles: this was the second sitting of one program
        assert events(burnish_home, StudyFinished)
        return
    assert "sitting 2 of 2 is due at" in err, "trained anew it is another program, of which this was the first sitting"
    assert not events(burnish_home, StudyFinished)
    (build,) = [build for build in summary(burnish_home).builds if build.variant == NAME]
    told = "another program: (code|data) .*; starts of the earlier ones, which are left out: 6$"
    assert [note for note in build.notes if re.search(told, note)], build.notes
    aged(study(burnish_home), 3600)
    child = burnish("resume", "--due")
    assert child.returncode == 0, text(child)
    assert taken(burnish_home) == (9, 9), text(child)
    assert len(events(burnish_home, StudyFinished)) == 1
    found = summary(burnish_home)
    assert {row.starts for row in (*found.rows, *found.confirmations) if row.candidate == NAME} == {6}


def taken(home: Path) -> tuple[int, int]:
    """Valid starts of the claim and of the confirmation, of all programs."""
    starts = Counter((one.cell.candidate, one.cell.role) for one in events(home, StartDone) if not one.invalid)
    return starts[NAME, Role.CLAIM], starts[NAME, Role.CONFIRMATION]
