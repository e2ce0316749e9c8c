"""The studies that are disturbed: one for each way to ask, small, on the fake engine."""

from __future__ import annotations

from pathlib import Path

from burnish.catalogue import load

_QUICK = ("--starts", "2", "--pairs", "1", "--layouts", "0", "--yes")
_OWN = """
[speed130]
reason = "Known truth: thirty per cent more capacity than the baseline."
recipe = { c = ["-DFAKE_SPEED=130"] }
"""
_ROUNDS = "#define ROUNDS 4000UL"
_WORK = "uint64_t fake_work("

NAMES = ("tune", "patch", "study")


def words_of(name: str, folder: Path) -> list[str]:
    """The command line of a study; the files that it names are written into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "tune":
        recipes = folder / "own.toml"
        recipes.write_text(_OWN)
        return ["tune", "fake", "--variant", "gcc-pgo,speed130", "--recipes", str(recipes), "--design", "duet", *_QUICK]
    if name == "patch":
        fast = _patch(folder / "fast.patch", _ROUNDS, "#define ROUNDS 3000UL")
        comment = _patch(folder / "comment.patch", _WORK, f"/* Nothing that a compiler sees. */\n{_WORK}")
        return ["patch", "fake", fast, comment, *_QUICK]
    return ["study", "run", "arm-2020", "--engine", "fake", "--row", "crc32c-hardware,rw-lock-word", *_QUICK]


def _patch(path: Path, old: str, new: str) -> str:
    """Writes a patch to the fake engine's source; returns its path."""
    lines = (load.engine("fake").folder / "source" / "fake_work.c").read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(old))
    added = (lines[at].replace(old, new)).splitlines()
    before, after = lines[at - 3 : at], lines[at + 1 : at + 4]
    head = f"--- a/fake_work.c\n+++ b/fake_work.c\n@@ -{at - 2},7 +{at - 2},{6 + len(added)} @@\n"
    body = [*(f" {line}" for line in before), f"-{lines[at]}", *(f"+{line}" for line in added)]
    path.write_text(head + "\n".join([*body, *(f" {line}" for line in after)]) + "\n")
    return str(path)
