"""A call imports what its verb needs: what others need takes most of a second, for which completion waits too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "scipy", "matplotlib", "burnish.catalogue.load", "burnish.record.events", "burnish.study.runner")

CALLED = """
import sys
from burnish.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def imported(*words: str, **variables: str) -> tuple[str, set[str]]:
    """What a call printed, and the modules that it imported."""
    done = subprocess.run(
        [sys.executable, "-c", CALLED, *words], capture_output=True, text=True, check=True, timeout=60, env=variables
    )
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize(
    ("shell", "code", "says"),
    [
        ('exec "$@" --help >&-', 1, "burnish: standard output is closed; give it a file or /dev/null\n"),
        ('exec "$@" --help >/dev/null 2>&-', 0, ""),
        ('rmdir "$PWD" && exec "$@" runs', 2, "burnish: the current folder is gone; change to one that is there\n"),
    ],
)
def test_where_it_is_called_from_ends_in_no_traceback(tmp_path: Path, shell: str, code: int, says: str) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    words = ["sh", "-c", shell, "sh", sys.executable, "-m", "burnish"]
    done = subprocess.run(words, cwd=place, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, says)


@pytest.mark.parametrize(
    ("words", "variables", "says"),
    [
        (["--version"], {}, "burnish "),
        (["--help"], {}, "Use the result"),
        ([], {"_BURNISH_COMPLETE": "complete_bash", "COMP_WORDS": "burnish pl", "COMP_CWORD": "1"}, "plan"),
    ],
)
def test_what_is_about_no_verb_imports_none(words: list[str], variables: dict[str, str], says: str) -> None:
    said, modules = imported(*words, **variables)
    assert says in said
    assert not modules.intersection(HEAVY)


def test_looking_does_not_import_what_measures() -> None:
    said, modules = imported("show", "--help")
    assert "From its record alone" in said
    assert not {name for name in modules if name.startswith(("burnish.builds", "burnish.study.workshop", "elftools"))}
