"""What the program of a package is measured against: the distribution's program, or the study's own baseline."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import remove_tree
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.model.engine import Packaging
from burnish.packages import here
from burnish.packages.control import one_line
from burnish.packages.verify import Checked
from burnish.record.events.builds import BuildMade, ProgramFound
from burnish.record.record import Record
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage
from burnish.study.kept import runs as studies
from burnish.study.kept.programs import program_of

DISTRIBUTION = "distribution"
BASELINE = "baseline"
GIVEN = "given"


@dataclass(frozen=True)
class Opposite:
    """The other side of a package's measurement.

    Attributes:
        program: its server program.
        name: what it is called in the report.
        about: what it is, in words.
    """

    program: Path
    name: str
    about: str


def find(home: Home, checked: Checked, base: Path | None, place: Path, say: Callable[[str], None]) -> Opposite:
    """What to measure against: the file that the user names, the distribution's program, the baseline of the run.

    Args:
        home: where downloads and runs are.
        checked: the package.
        base: the user's file: a .deb, or a program; None for the others.
        place: folder for what is unpacked.
        say: called with lines of progress.

    Raises:
        UserError: there is nothing to measure against, or one of the two programs is not for this processor.
    """
    found = _given(checked, base, place) if base is not None else _distribution(home, checked, place, say)
    if found is None:
        found = _baseline(home, checked)
    if found is None:
        raise UserError(
            f"{checked.file}: it is of no version that the distribution packages, and the baseline of its run is not "
            "on this machine; name the program or package to measure against with --base"
        )
    here.check(found.program, found.program)
    here.check(checked.file, checked.program)
    return found


def _given(checked: Checked, base: Path, place: Path) -> Opposite:
    if not base.is_file():
        raise UserError(f"--base {base}: there is no such file; name a program or a .deb")
    if base.suffix == ".deb":
        packaging = load.engine(checked.engine).packaging
        if packaging is None:
            raise UserError(f"--base {base}: the distribution has no package of {checked.engine}; name a program")
        package = binary.read(base)
        return Opposite(_unpacked(package, packaging, place), GIVEN, f"{package.name} {package.version}")
    return Opposite(base.resolve(), GIVEN, str(base))


def _distribution(home: Home, checked: Checked, place: Path, say: Callable[[str], None]) -> Opposite | None:
    """The distribution's program, of the package that this one replaces or of the version that was built."""
    packaging = load.engine(checked.engine).packaging
    version = checked.base[1] if checked.base else checked.source[1] if checked.source[2] == "debian" else ""
    if packaging is None or not version:
        return None
    name = checked.base[0] if checked.base else packaging.package
    package = binary.obtain(name, version, cache=home.downloads / "debs", say=say)
    program = _unpacked(package, packaging, place)
    return Opposite(program, DISTRIBUTION, f"the distribution's {package.name} {package.version}")


def _unpacked(package: BinaryPackage, packaging: Packaging, place: Path) -> Path:
    remove_tree(place)
    program = binary.unpack(package, place) / packaging.program
    if not program.is_file():
        raise UserError(f"{package.file}: it has no /{packaging.program}, so there is nothing to measure against")
    return program


def _baseline(home: Home, checked: Checked) -> Opposite | None:
    """The baseline of the package's run, where both are on this machine."""
    predicate = checked.verdict.get("predicate")
    told = predicate if isinstance(predicate, dict) else {}
    run, name = (str(told.get(word) or "") for word in ("run", "baseline"))
    folder = next((one for one in studies.folders(home) if one.name == run), None)
    if folder is None:
        return None
    with closing(Record(folder)) as record:
        events = list(record.events(BuildMade, ProgramFound))
    program = program_of(home, checked.engine, name, events)
    return Opposite(program, BASELINE, f"{one_line(name)}, the baseline of {run}") if program else None
