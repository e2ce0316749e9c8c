"""kill -9 at every kind of moment of a study on the fake engine, and the same command once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from studying import OWN, burnish, killed_at, kinds, summary, text


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    return path


@pytest.mark.measures
@pytest.mark.parametrize(
    "moments",
    [("command", "build", "gate", "start", "pair"), ("dataset", "profile", "start_done", "verdict")],
    ids="-".join,
)
def test_kill_and_resume(burnish_home: Path, own: Path, moments: tuple[str, ...]) -> None:
    """Killed at any moment, and again when it goes on, the same command goes on from what was finished.

    Nothing finished is made again or lost, and nothing is left behind. Two rows of moments, as what comes once in a
    study (data set, profile) can't be waited for behind what comes at the same time.
    """
    words = ["tune", "fake", "--variant", "gcc-pgo,speed130", "--recipes", str(own)]
    words += ["--precision", "none", "--max-starts", "3"]
    done: list[dict[str, object]] = []
    finished = ("build", "profile", "dataset", "gate", "start_done", "verdict")
    for moment in moments:
        killed_at(moment, words, burnish_home)
        now = kinds(burnish_home, *finished) if moment != "command" else []
        assert now[: len(done)] == done, f"what was finished before {moment} is as it was"
        done = now
    again = burnish(*words)
    out, err = text(again)
    assert again.returncode == 0, err
    assert "resuming" in err
    assert "speed130 faster" in " ".join(out.split())
    result = summary(burnish_home)
    verdicts = {row.verdict for row in result.rows}
    assert verdicts <= {"faster", "slower", "equivalent", "undecided"}, [row.reason for row in result.rows]
    assert kinds(burnish_home, *finished)[: len(done)] == done
    compiled = [body for body in kinds(burnish_home, "command") if body["what"] == "compile server.c"]
    # baseline, instrumented, with profile, speed130: a finished build is never compiled again. The kill at the first
    # command may fall into the baseline's own compile, which is then made again.
    assert len(compiled) - 4 <= ("command" in moments)
    starts = [(body.get("cell"), body.get("start")) for body in kinds(burnish_home, "start_done")]
    assert len(starts) == len(set(starts)), "no start is measured twice"
