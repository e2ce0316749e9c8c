"""A patch of a source package's debian/ with which dpkg-buildpackage makes the very program that was measured.

The package is built as the distribution builds it. Before that, the server program is made by the script of `burnish
reproduce`, which checks its own result against the measured program's digest: another compiler, or a folder that it may
not write to, ends the build in its first minute. When the package's programs were stripped, it is put in place of the
other. So the program is the measured one bit for bit, or the build fails and says why.
"""

from __future__ import annotations

import difflib
import re
import shlex
import tarfile
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.packages.chosen import Chosen
from burnish.packages.formats.common import beside, name_of, new_folder, title_of
from burnish.packages.statements import Made
from burnish.source.debian import package as sources
from burnish.study.kept import reproducing

FOLDER = "debian/burnish"
PATCH = "burnish.patch"
_RULES = "debian/rules"
_SETTINGS = "settings"
_HOW = "in the unpacked source package: cp -a {debian} . && patch -p1 <{patch} && dpkg-buildpackage -b"
_NOTE = (
    "the server is built twice: as measured, in {root}, whose path is in the program and which the builder must be "
    "able to make, and by Debian's rules; archives are taken from the folder above"
)
_BEFORE, _AFTER, _LISTED = "execute_before_dh_auto_configure", "execute_after_dh_strip", "execute_after_dh_installdeb"
"""Targets of debhelper's that packages seldom have."""


def check(chosen: Chosen) -> None:
    """Raises a `UserError` for what was not built from a Debian source package."""
    if chosen.making.source[2] != "debian":
        raise UserError(
            f"--as debian-patch: {chosen.variant} was not built from a Debian source package; --as rebuild "
            "works for every source"
        )


def make(home: Home, chosen: Chosen, made: Made, output: Path, settings: str) -> tuple[list[Path], list[str]]:
    """Writes the patch and the files for debian/burnish; returns (files, lines for the user).

    Args:
        home: where source packages and profiles are.
        chosen: the measured program.
        made: how it became what is packaged.
        output: folder for the folder that is made.
        settings: text of the configuration file that it needs; '' for none.
    """
    rules = _rules(home, chosen)
    with new_folder(output, f"debian-patch-{name_of(chosen, made.forced)}") as folder:
        written = reproducing.collect(home, chosen.found, folder / FOLDER)
        extra = []
        if settings:
            extra = [folder / FOLDER / _SETTINGS]
            extra[0].write_text(settings)
        patch = folder / PATCH
        patch.write_text(text(chosen, made, rules, settings=bool(settings)))
        files = [patch, *extra, *(folder / FOLDER / name for name in written.files)]
        says = [
            how(folder),
            _NOTE.format(root=chosen.making.root),
        ]
        return [*files, *beside(patch, chosen, made)], says


def how(folder: Path) -> str:
    """How the folder that was made is used: elsewhere, so by whole paths."""
    whole = folder.resolve()
    return _HOW.format(debian=shlex.quote(str(whole / "debian")), patch=shlex.quote(str(whole / PATCH)))


def _rules(home: Home, chosen: Chosen) -> str:
    """The source package's debian/rules."""
    name, version, _ = chosen.making.source
    package = sources.load(home.downloads, name, version)
    if package is None:
        raise UserError(f"{home.downloads}: {name} {version} is no longer there; {chosen.found.makes_again}")
    for file, _ in chosen.making.archives:
        if ".debian.tar." in file:
            with tarfile.open(package.folder / file) as archive:
                member = archive.extractfile(_RULES)
                if member is not None:
                    return member.read().decode()
    raise UserError(f"{package.folder}: no {_RULES} in the source package of {name} {version}")


def text(chosen: Chosen, made: Made, rules: str, *, settings: bool) -> str:
    """The patch of debian/rules, as ``patch -p1`` takes it; a `UserError` where rules have its targets already."""
    taken = re.search(rf"^({_BEFORE}|{_AFTER}|{_LISTED})\b", rules, re.MULTILINE)
    if taken:
        raise UserError(
            f"--as debian-patch: {_RULES} of {chosen.making.source[0]} has a target {taken[1]} of its own; use --as "
            "rebuild, and put its program into the package there"
        )
    added = [*(f"# {_comment(line)}" for line in title_of(chosen, made)), *_target(chosen, settings=settings)]
    before = rules.splitlines(keepends=True)
    end = "" if not before or before[-1].endswith("\n") else "\n"
    after = [*before[:-1], before[-1] + end] if before else []
    after += ["\n", *(f"{line}\n" for line in added)]
    lines = difflib.unified_diff(before, after, f"a/{_RULES}", f"b/{_RULES}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _comment(line: str) -> str:
    """Without a backslash, which at its end would make the next line a part of the comment."""
    return line.replace("\\", "/")


def _target(chosen: Chosen, *, settings: bool) -> list[str]:
    """The targets for make: one makes the program, one puts it into the package after the others were stripped.

    Where it needs a configuration file, a third one takes that off debhelper's list of those that stay when their
    package no longer has them: it goes with the program.
    """
    packaging = chosen.engine.spec.packaging
    assert packaging is not None  # noqa: S101 - `planned.make` refuses an engine without
    script = f"$(CURDIR)/{FOLDER}/build.sh"
    program = f"$(CURDIR)/{FOLDER}/program"
    place = f"debian/{packaging.package}"
    plain = packaging.settings_file.replace(".", r"\.")
    return [
        f"{_BEFORE}:",
        f"\trm -f {program}",
        f"\tOUT={program} sh {script} $(CURDIR)/..",
        "",
        f"{_AFTER}:",
        f"\tinstall -m 755 {program} {place}/{packaging.program}",
        *(
            [
                f"\tinstall -D -m 644 {FOLDER}/{_SETTINGS} {place}/{packaging.settings_file}",
                "",
                f"{_LISTED}:",
                f"\tsed -i '\\,^/{plain}$$,d' {place}/DEBIAN/conffiles",
            ]
            if settings
            else []
        ),
    ]
