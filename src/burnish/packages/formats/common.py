"""What all formats share: names of files, and the statements beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import remove_tree, sha256_of, written_to
from burnish.packages import sbom, statements
from burnish.packages.chosen import Chosen
from burnish.packages.control import file_name, one_line
from burnish.packages.deb import write_beside
from burnish.packages.statements import Made, Subject
from burnish.program import program as programs


def name_of(chosen: Chosen, overruled: Sequence[str]) -> str:
    """Name for files: engine, variant, the first digits of the build's key, and whether objections were overruled."""
    marked = "-forced" if overruled else ""
    return f"{chosen.making.engine}-{file_name(chosen.variant)}-{chosen.making.key[:8]}{marked}"


def title_of(chosen: Chosen, made: Made) -> list[str]:
    """What it is, in lines of comment without the comment's sign."""
    lines = [
        f"{one_line(chosen.making.title)}: variant {one_line(chosen.variant)} of run {one_line(chosen.result.name)}",
        chosen.gain,
    ]
    return lines + ([f"FORCED, in spite of: {'; '.join(made.forced)}"] if made.forced else [])


def release_of(chosen: Chosen) -> str:
    """Code name of the Debian release that was measured on; '' where it is none."""
    found = re.search(r"Debian GNU/Linux \d+ \(([a-z]+)\)", chosen.result.host)
    return found[1] if found else ""


@contextmanager
def new_folder(output: Path, name: str) -> Iterator[Path]:
    """A new folder in `output`, removed if it can't be filled; a `UserError` if it is there already and not empty."""
    folder = output / name
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: is there already; move it away, or name another folder with --output")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with written_to(folder):
            yield folder
    except BaseException:
        remove_tree(folder)
        raise


def beside(file: Path, chosen: Chosen, made: Made) -> list[Path]:
    """Writes provenance, verdict and bill of materials beside a file that holds or makes the program."""
    program = Subject(chosen.engine.spec.server, chosen.making.sha256)
    subjects = [Subject(file.name, sha256_of(file)), program]
    return list(write_beside(file, contents(subjects, program, chosen, made)))


def contents(subjects: list[Subject], program: Subject, chosen: Chosen, made: Made) -> dict[str, str]:
    """The statements and the bill of materials by file name."""
    needed = (*programs.read(chosen.program).needed, *chosen.found.entry.about.get("linked_in", ()))
    return {
        statements.PROVENANCE_FILE: statements.text(statements.provenance(subjects, chosen, made)),
        statements.VERDICT_FILE: statements.text(statements.verdict(subjects, chosen, made)),
        statements.SBOM_FILE: sbom.sbom(program, chosen, needed),
    }
