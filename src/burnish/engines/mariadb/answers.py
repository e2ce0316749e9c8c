"""Whether a MariaDB server works on a processor: it starts, makes tables, writes and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.engines.contract import MARKER
from burnish.engines.mariadb.server import private_options
from burnish.program.built import Built

KNOWN = {
    "rows": "3900\t952168.7500\t2026-06-12 12:00:00",
    "index": "7\tword 2185",
    "join": "780\t133040",
    "groups": "3900",
    "functions": "2184978095\tb15ef88da4c1c46c6c9e7483f8af075f8869f68d7a190ac38add53aa049f057f"
    "\tB5F82DCD1EF7718C4E639477DBA25762\t4.954721364",
}
"""What the statements of mariadb_answers.sql answer, by the name of the file that they write."""

_SECONDS = 300.0
_SMALL = (
    "--innodb-buffer-pool-size=16M",
    # Newer servers set 8 TB of addresses aside for a pool that may grow, of which an emulator notes every page.
    "--loose-innodb-buffer-pool-size-max=16M",
    "--innodb-log-file-size=4M",
    "--aria-log-file-size=8M",
    "--key-buffer-size=1M",
    # An emulator of one process has neither.
    "--innodb-use-native-aio=0",
    "--innodb-flush-method=fsync",
)


def statements(out: Path) -> str:
    """The statements, one a line, with `out` as the folder that answers are written to."""
    text = (resources.files("burnish.engines.mariadb") / "answers.sql").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("--")]
    return "\n".join(lines).replace("{out}", str(out)) + "\n"


def ask(built: Built, place: Path, bench: Workbench, launcher: Sequence[str]) -> str | None:
    """Runs the statements in the server's bootstrap mode; why an answer is not the known one, or None.

    Args:
        built: the build.
        place: private empty folder.
        bench: recorded processes.
        launcher: words before the server's program.
    """
    data, out = place / "data", place / "out"
    for folder in (data, out):
        folder.mkdir(mode=0o700)
    (data / MARKER).write_text("Data of a Burnish portability test.\n")
    script = place / "answers.sql"
    script.write_text(statements(out))
    lines: list[str] = []
    words: list[str | Path] = [
        *launcher,
        built.server,
        *private_options(data),
        *built.options,
        "--bootstrap",
        "--skip-grant-tables",
    ]
    done = bench.run(
        "answers",
        [*words, *_SMALL, f"--tmpdir={place}"],
        cwd=place,
        env=dict(built.environment),
        stdin_file=script,
        timeout=_SECONDS,
        on_line=lines.append,
    )
    if done.timed_out:
        return f"no end after {_SECONDS:g} s"
    if not done.ok:
        how = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
        message = next((line for line in lines if re.search(r"ERROR|signal|Illegal|qemu", line)), "")
        return f"the server ended with {how}{': ' if message else ''}{message[:200]}"
    return wrong(out)


def wrong(out: Path) -> str | None:
    """The first answer in `out` that is not the known one."""
    for name, right in KNOWN.items():
        file = out / name
        answer = file.read_text().strip("\n").partition("\t")[2] if file.is_file() else "nothing"
        if answer != right:
            return f"{name}: expected {right!r}, got {answer[:200]!r}"
    return None
