"""The script that builds the program again, bit for bit, with the profile and the patches that it needs."""

from __future__ import annotations

from pathlib import Path

from burnish.base.paths import Home
from burnish.packages.chosen import Chosen
from burnish.packages.formats.common import beside, name_of, new_folder
from burnish.packages.statements import Made
from burnish.study.kept import reproducing


def make(home: Home, chosen: Chosen, made: Made, output: Path) -> tuple[list[Path], list[str]]:
    """Writes the folder; returns (files, lines for the user)."""
    with new_folder(output, f"rebuild-{name_of(chosen, made.forced)}") as folder:
        written = reproducing.collect(home, chosen.found, folder)
        files = [folder / name for name in written.files]
        says = [f"rebuild: {files[0]} makes the program with SHA-256 {written.sha256}"]
        return [*files, *beside(files[0], chosen, made)], says
