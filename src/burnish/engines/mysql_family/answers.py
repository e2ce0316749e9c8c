"""Whether a server works on a processor: it starts, makes tables, writes and answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base.workbench import Workbench
from burnish.engines.contract import MARKER
from burnish.engines.mysql_family.product import Product
from burnish.engines.mysql_family.server import private_options
from burnish.program.built import Built

_SECONDS = 300.0


def statements(script: Path, out: Path) -> str:
    """The statements of `script`, one a line, with `out` as the folder that answers are written to."""
    text = script.read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("--")]
    return "\n".join(lines).replace("{out}", str(out)) + "\n"


def ask(
    built: Built, product: Product, questions: Path, place: Path, bench: Workbench, launcher: Sequence[str]
) -> str | None:
    """Has the server run the statements by itself; why an answer is not the known one, or None.

    Args:
        built: the build.
        product: which server it is, with the known answers.
        questions: the statements.
        place: private empty folder.
        bench: recorded processes.
        launcher: words before the server's program.
    """
    data, out = place / "data", place / "out"
    for folder in (data, out):
        folder.mkdir(mode=0o700)
    (data / MARKER).write_text("Data of a Burnish portability test.\n")
    script = place / "answers.sql"
    script.write_text(statements(questions, out))
    lines: list[str] = []
    words: list[str | Path] = [
        *launcher,
        built.server,
        *private_options(data),
        *built.options,
        *product.feeding.words(script),
    ]
    done = bench.run(
        "answers",
        [*words, *product.feeding.small, f"--tmpdir={place}"],
        cwd=place,
        env=dict(built.environment),
        stdin_file=product.feeding.stdin(script),
        timeout=_SECONDS,
        on_line=lines.append,
    )
    if done.timed_out:
        return f"no end after {_SECONDS:g} s"
    if not done.ok:
        how = f"signal {-done.exit_code}" if done.exit_code < 0 else f"exit code {done.exit_code}"
        message = next((line for line in lines if re.search(r"ERROR|signal|Illegal|qemu", line)), "")
        return f"the server ended with {how}{': ' if message else ''}{message[:200]}"
    return wrong(out, product.answers)


def wrong(out: Path, known: Mapping[str, str]) -> str | None:
    """The first answer in `out` that is not the known one."""
    for name, right in known.items():
        file = out / name
        answer = file.read_text().strip("\n").partition("\t")[2] if file.is_file() else "nothing"
        if answer != right:
            return f"{name}: expected {right!r}, got {answer[:200]!r}"
    return None
