"""From a user's words to a package: chooses, refuses, compares, makes; one function for each kind of file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import make_folder, remove_tree
from burnish.base.paths import Home
from burnish.base.workbench import Workbench
from burnish.model.engine import Packaging
from burnish.packages import chosen as choosing
from burnish.packages import comparing, deb, differences, root
from burnish.packages.chosen import Chosen
from burnish.packages.control import one_line
from burnish.packages.differences import Difference
from burnish.packages.formats import cmake, container, debian_patch, rebuild, spec, tarball
from burnish.packages.formats.common import name_of, new_folder, release_of
from burnish.packages.statements import Made
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage


class Format(StrEnum):
    """What is made."""

    DEB = "deb"
    TAR = "tar"
    REBUILD = "rebuild"
    CMAKE = "cmake"
    OCI = "oci"
    RPM = "rpm"
    DEBIAN_PATCH = "debian-patch"


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes:
        format: kind of package.
        output: folder for what is made.
        base: the distribution's package as a file; None: fetched by apt-get.
        accepted: names of differences that are accepted.
        force: whether objections and losses are overruled.
        strip: whether symbols are removed from the program.
        verb: the verb that needs the package, where its user named no format.
    """

    format: Format
    output: Path
    base: Path | None = None
    accepted: tuple[str, ...] = ()
    force: bool = False
    strip: bool = False
    verb: str = ""

    @property
    def installs(self) -> bool:
        """Whether the package is installed on this host at once."""
        return self.verb == "install"

    @property
    def words(self) -> str:
        """What its user asked for, as errors begin."""
        return self.verb or f"--as {self.format}"


@dataclass(frozen=True)
class Package:
    """What was made.

    Attributes:
        files: every file, the package first.
        chosen: the build in it.
        made: how it became what is packaged.
        says: what a user must know, a line each.
        deb: the Debian package, for that format.
        kinds: by kind of ability that was compared, how many names the distribution's server has.
        plugins: number of loadable plugins that were tried.
    """

    files: tuple[Path, ...]
    chosen: Chosen
    made: Made
    says: tuple[str, ...]
    deb: deb.Deb | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)
    plugins: int = 0


def make(home: Home, chosen: Chosen, request: Request, bench: Workbench) -> Package:
    """Makes the package, or says in one line why not.

    Raises:
        UserError: an objection or a loss was not overruled or accepted, or the engine has no such package.
    """
    choosing.check(chosen.objections, chosen.variant, force=request.force)
    if request.format is Format.DEB:
        return _deb(home, chosen, request, bench, lambda _: make_folder(request.output))
    if request.format is Format.OCI:
        return _oci(home, chosen, request, bench)
    if request.accepted or request.strip or (request.base and request.format is not Format.DEBIAN_PATCH):
        raise UserError(
            "--accept, --base and --strip are for --as deb and oci, --base for debian-patch too; leave them out"
        )
    made = Made(forced=chosen.objections)
    makers: Mapping[Format, Callable[[Home, Chosen, Made, Path], tuple[list[Path], list[str]]]] = {
        Format.TAR: tarball.make,
        Format.REBUILD: rebuild.make,
        Format.CMAKE: cmake.make,
        Format.RPM: spec.make,
    }
    make_folder(request.output)
    if request.format is Format.DEBIAN_PATCH:
        debian_patch.check(chosen)
        settings = _settings(home, chosen, request, bench)
        files, says = debian_patch.make(home, chosen, made, request.output, settings)
    else:
        files, says = makers[request.format](home, chosen, made, request.output)
    return Package(tuple(files), chosen, made, tuple(says))


def _settings(home: Home, chosen: Chosen, request: Request, bench: Workbench) -> str:
    """The configuration file that the program needs in the distribution's place."""
    packaging = _packaging(chosen, request.words)
    cache, scratch = home.downloads / "debs", home.scratch / "package"
    remove_tree(scratch)
    make_folder(scratch)
    try:
        base = _base(packaging.package, chosen, request, cache, bench)
        staged = deb.stage(base, chosen, packaging, scratch / "deb", bench, strip=False)
        return comparing.settings_for(base, staged, chosen, packaging, scratch, bench)
    finally:
        remove_tree(scratch)


def _oci(home: Home, chosen: Chosen, request: Request, bench: Workbench) -> Package:
    """The .deb in a folder with the Containerfile that installs it; built and run where podman is."""
    packaging = _packaging(chosen, request.words)
    with ExitStack() as filled:

        def place(made: Made) -> Path:  # only the comparison says what is forced, and so the folder's name
            return filled.enter_context(new_folder(request.output, f"oci-{name_of(chosen, made.forced)}"))

        package = _deb(home, chosen, request, bench, place)
        folder = package.files[0].parent
        assert package.deb is not None  # noqa: S101 - `_deb` made it
        file = folder / container.FILE
        file.write_text(container.text(chosen, package.made, packaging, package.files[0].name, package.deb.base.source))
    forced = bool(package.made.forced)
    says = (*package.says, *container.tried(folder, chosen, packaging, bench, forced=forced))
    return replace(package, files=(*package.files, file), says=says)


def _packaging(chosen: Chosen, words: str) -> Packaging:
    """How the distribution packages the engine; a `UserError`, which begins with `words`, where it does not."""
    spec_ = chosen.engine.spec
    if spec_.packaging is None:
        raise UserError(
            f"{words}: {spec_.title} has no package with the program that was measured, so none can be made "
            "from it; `burnish package` with --as tar or rebuild works for every engine"
        )
    return spec_.packaging


def _deb(home: Home, chosen: Chosen, request: Request, bench: Workbench, place: Callable[[Made], Path]) -> Package:
    """The .deb, in the folder that `place` makes for it."""
    packaging = _packaging(chosen, request.words)
    deb.ready(request.words)
    cache = home.downloads / "debs"
    base = _base(packaging.package, chosen, request, cache, bench)
    if base.architecture != binary.architecture():
        raise UserError(
            f"{base.file}: for {base.architecture}, this host and what was measured are {binary.architecture()}; a "
            "package is made for the architecture that was measured"
        )
    scratch = home.scratch / "package"
    remove_tree(scratch)
    make_folder(scratch)
    try:
        staged = deb.stage(base, chosen, packaging, scratch / "deb", bench, strip=request.strip)
        compared = comparing.compare(base, staged, chosen, packaging, cache, scratch, bench)
        if request.installs and compared.overrides:
            raise UserError(f"{request.words}: {'; '.join(compared.overrides)}")
        found, unknown_names = differences.accepting(compared.differences, request.accepted)
        if unknown_names:
            raise UserError(f"--accept {', '.join(unknown_names)}: no difference is called that; {_named(found)}")
        refuse(found, force=request.force)
        forced = (*chosen.objections, *(one.what for one in found if one.refused))
        made = Made(request.strip, (base.name, base.version, base.sha256), forced, tuple(found))
        result = deb.make(base, staged, chosen, made, packaging, compared.settings, place(made), bench)
    finally:
        remove_tree(scratch)
    files = (result.file, *result.beside)
    install = request.format is Format.DEB
    overrides = tuple(f"on this host {one}" for one in compared.overrides if install)
    says = (*overrides, *says_of(result, packaging.server_package, install=install))
    return Package(files, chosen, made, says, result, compared.kinds, compared.plugins)


def tried_in_root(home: Home, chosen: Chosen, made: deb.Deb, bench: Workbench) -> tuple[str, ...]:
    """Tries a .deb in a clean root of the release that was measured on; returns what was seen."""
    packaging = _packaging(chosen, "--try-in-root")
    release = release_of(chosen)
    if not release:
        raise UserError(f"--try-in-root: no release of Debian is known by the run's host ({chosen.result.host})")
    log = bench.log_path("root.log")
    seen = root.attempt(made, packaging, release, home.downloads / "roots", home.scratch / "root", log, bench.say)
    return tuple(f"in a clean root: {what}" for what in seen)


def _base(name: str, chosen: Chosen, request: Request, cache: Path, bench: Workbench) -> BinaryPackage:
    """The distribution's package: the user's file, or of exactly the version that was built."""
    file = request.base
    if file is None:
        _, version, kind = chosen.making.source
        if kind != "debian":
            raise UserError(
                f"{request.words}: {chosen.variant} was built from {'a folder' if kind == 'folder' else 'an archive'}, "
                "of which the distribution has no package; name the package to put it into with --base"
            )
        return binary.obtain(name, version, cache=cache, say=bench.say)
    base = binary.read(file)
    if base.name != name:
        raise UserError(f"--base {file}: a package {base.name}, the server is in {name}")
    return base


def refuse(found: Sequence[Difference], *, force: bool) -> None:
    """Raises a `UserError` with what would be lost, unless it was accepted or forced."""
    lost = [one for one in found if one.refused]
    if lost and not force:
        whats = "; ".join(one_line(one.what, 300) for one in lost[:8])
        more = f"; and {len(lost) - 8} more" if len(lost) > 8 else ""
        names = ",".join(dict.fromkeys(one.name for one in lost))
        raise UserError(
            f"the distribution's server can do more: {whats}{more}; say --accept {one_line(names, 400)} if you do "
            "without, or --force"
        )


def _named(found: Sequence[Difference]) -> str:
    names = ", ".join(dict.fromkeys(one.name for one in found if one.weight is differences.Weight.LOSS))
    return f"there are: {names or 'none to accept'}"


def goes_with(made: deb.Deb) -> tuple[str, ...]:
    """What must be installed with a package on this host: what is newer here and of the same source, at its version.

    A newer service depends on a program as new and would be removed; newer clients of MariaDB break an older program.
    """
    base = made.base
    there = binary.installed_of(base.source[0])
    newer = sorted(name for name, version in there.items() if binary.older(base.version, version))
    return tuple(f"{name}={base.version}" for name in newer if name != base.name)


def says_of(made: deb.Deb, service: str, *, install: bool = True) -> tuple[str, ...]:
    """What the version means for updates, how it is installed, and the way back.

    Args:
        made: the package.
        service: the distribution's package that makes the program a service.
        install: whether it is to be installed here; an image's is not.
    """
    base = made.base
    listed = binary.versions(base.name)
    newer = [version for version in listed if binary.older(made.version, version)]
    lines = [
        f"version {made.version}: above {base.version}, below the distribution's next upload, which replaces it",
    ]
    if newer:
        lines.append(
            f"{newer[0]} is out already: this package lacks what that update fixes, and the next `apt upgrade` takes it"
        )
    if not install:
        return tuple(lines)
    also = goes_with(made)
    if newer and not also and service != base.name:
        also = (f"{service}={base.version}",)
        lines.append(
            f"elsewhere, other packages of {base.source[0]} that are newer go back with it: name them as the service, "
            "or let `burnish install` find them"
        )
    words = ["apt-get install", *["--allow-downgrades"] * bool(newer or also), f"./{made.file.name}", *also]
    lines.append(f"install: {' '.join(words)}")
    # apt can't go back to a version that it no longer lists, which is why its user gave the file.
    old = f"{base.name}={base.version}" if base.version in listed else shlex.quote(str(base.file.absolute()))
    lines.append(f"back: apt-get install --allow-downgrades {old}")
    return tuple(lines)
