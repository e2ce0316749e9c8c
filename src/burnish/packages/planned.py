"""From a user's words to a package: chooses, refuses, compares, makes; one function for each kind of file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
from burnish.packages.formats.common import name_of, new_folder
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
        return _deb(home, chosen, request, bench)
    if request.format is Format.OCI:
        return _oci(home, chosen, request, bench)
    if request.accepted or request.base or request.strip:
        raise UserError("--accept, --base and --strip are for --as deb and oci; leave them out")
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
    packaging = _packaging(chosen, request)
    cache, scratch = home.downloads / "debs", home.scratch / "package"
    remove_tree(scratch)
    make_folder(scratch)
    try:
        base = _base(packaging.package, chosen, request, cache, bench)
        staged = deb.stage(base, chosen, packaging, scratch / "deb", bench, strip=False)
        return comparing.settings_for(base, staged, chosen, scratch, bench)
    finally:
        remove_tree(scratch)


def _oci(home: Home, chosen: Chosen, request: Request, bench: Workbench) -> Package:
    """The .deb in a folder with the Containerfile that installs it; built and run where podman is."""
    packaging = _packaging(chosen, request)
    with new_folder(request.output, f"oci-{name_of(chosen, chosen.objections)}") as folder:
        package = _deb(home, chosen, replace(request, output=folder), bench)
        file = folder / container.FILE
        file.write_text(container.text(chosen, package.made, packaging, package.files[0].name))
    says = (*package.says, *container.tried(folder, chosen, packaging, bench))
    return replace(package, files=(*package.files, file), says=says)


def _packaging(chosen: Chosen, request: Request) -> Packaging:
    """How the distribution packages the engine; a `UserError` where it does not."""
    spec_ = chosen.engine.spec
    if spec_.packaging is None:
        raise UserError(
            f"{request.words}: {spec_.title} has no package with the program that was measured, so none can be made "
            "from it; `burnish package` with --as tar, rebuild or cmake works for every engine"
        )
    return spec_.packaging


def _deb(home: Home, chosen: Chosen, request: Request, bench: Workbench) -> Package:
    packaging = _packaging(chosen, request)
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
        compared = comparing.compare(base, staged, chosen, cache, scratch, bench)
        found, unknown_names = differences.accepting(compared.differences, request.accepted)
        if unknown_names:
            raise UserError(f"--accept {', '.join(unknown_names)}: no difference is called that; {_named(found)}")
        refuse(found, force=request.force)
        forced = (*chosen.objections, *(one.what for one in found if one.refused))
        made = Made(request.strip, (base.name, base.version, base.sha256), forced, tuple(found))
        result = deb.make(base, staged, chosen, made, packaging, compared.settings, make_folder(request.output), bench)
    finally:
        remove_tree(scratch)
    files = (result.file, *result.beside)
    says = says_of(result, packaging.server_package, install=request.format is Format.DEB)
    return Package(files, chosen, made, says, result, compared.kinds, compared.plugins)


def tried_in_root(home: Home, made: Package, bench: Workbench) -> tuple[str, ...]:
    """Tries the .deb in a clean root of the release that was measured on; returns what was seen."""
    packaging = made.chosen.engine.spec.packaging
    if made.deb is None or packaging is None:
        raise UserError("--try-in-root: for --as deb; leave it out")
    release = re.search(r"Debian GNU/Linux \d+ \(([a-z]+)\)", made.chosen.result.host)
    if release is None:
        raise UserError(f"--try-in-root: no release of Debian is known by the run's host ({made.chosen.result.host})")
    log = bench.log_path("root.log")
    seen = root.attempt(
        made.deb, packaging, release[1], home.downloads / "roots", home.scratch / "root", log, bench.say
    )
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
    newer = [version for version in binary.versions(base.name) if binary.older(made.version, version)]
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
    lines.append(f"back: apt-get install --allow-downgrades {base.name}={base.version}")
    return tuple(lines)
