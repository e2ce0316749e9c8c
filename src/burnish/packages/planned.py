"""From a user's words to a package: chooses, refuses, compares, makes; one function for each kind of file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from burnish.base import system
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
class Along:
    """Other packages of the distribution that are installed with a package.

    Attributes:
        words: as apt-get takes them: ``NAME=VERSION``, or a file's absolute path.
        lacking: name and version of those that apt does not list, and that are not beside the user's own file.
    """

    words: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


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
        along: what is installed with the Debian package on this host.
    """

    files: tuple[Path, ...]
    chosen: Chosen
    made: Made
    says: tuple[str, ...]
    deb: deb.Deb | None = None
    kinds: Mapping[str, int] = field(default_factory=dict)
    plugins: int = 0
    along: Along = Along()


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
    along = goes_with(base) if request.format is Format.DEB else None
    known = _objections(base, packaging, request, along)
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
    overrides = () if along is None else tuple(f"on this host {one}" for one in compared.overrides)
    says = (*known, *overrides, *says_of(result, packaging, along))
    return Package(files, chosen, made, says, result, compared.kinds, compared.plugins, along or Along())


def _objections(base: BinaryPackage, packaging: Packaging, request: Request, along: Along | None) -> tuple[str, ...]:
    """What is lacking where the package is to be installed, said before minutes are spent on a comparison.

    Raises:
        UserError: it is to be installed now, or an image's service is lacking and nobody forced it.
    """
    service = packaging.server_package
    if along is not None:
        if request.installs and along.lacking:
            raise UserError(f"{request.words}: {_get(along.lacking)}")
        return ()
    if service == base.name or base.version in binary.versions(service):
        return ()
    lacking = f"the image takes {service} {base.version} from apt, which does not list this version here"
    if not request.force:
        raise UserError(
            f"{request.words}: {lacking}; --force makes it for a base whose apt does (--build-arg BASE=IMAGE)"
        )
    return (lacking,)


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


def goes_with(base: BinaryPackage) -> Along:
    """What must be installed with a package on this host: what is newer here and of the same source, at its version.

    A newer service depends on a program as new and would be removed; newer clients of MariaDB break an older program.
    """
    there = binary.installed_of(base.source[0])
    newer = sorted(name for name, version in there.items() if binary.older(base.version, version))
    words = {name: _word(base, name) for name in newer if name != base.name}
    lacking = tuple(f"{name} {base.version}" for name, word in words.items() if not word)
    return Along(tuple(word for word in words.values() if word), lacking)


def _word(base: BinaryPackage, name: str) -> str:
    """Another package of the base's version, as apt takes it; '' where apt does not list it and it is not beside."""
    if base.version in binary.versions(name):
        return f"{name}={base.version}"
    file = comparing.beside(base, name, base.version)
    return str(file.file.absolute()) if file else ""


def _get(lacking: Sequence[str]) -> str:
    """What a user does for packages that apt does not list."""
    return (
        f"{', '.join(lacking)}: needed beside it, and apt does not list this version; put the .deb "
        "(NAME_VERSION_ARCH.deb) into the folder of the server's package, and name that one with --base"
    )


def says_of(made: deb.Deb, packaging: Packaging, along: Along | None) -> tuple[str, ...]:
    """What the version means for updates, how it is installed, the way back, and what then serves.

    Args:
        made: the package.
        packaging: how the distribution packages the server.
        along: what is installed with it here; None: it is not to be installed here, as an image's.
    """
    base, service = made.base, packaging.server_package
    listed = binary.versions(base.name)
    newer = [version for version in listed if binary.older(made.version, version)]
    lines = [
        f"version {made.version}: above {base.version}, below the distribution's next upload, which replaces it",
    ]
    if newer:
        lines.append(
            f"{newer[0]} is out already: this package lacks what that update fixes, and the next `apt upgrade` takes it"
        )
    if along is None:
        return tuple(lines)
    if newer and along == Along() and service != base.name:
        word = _word(base, service)
        along = Along((word,)) if word else Along(lacking=(f"{service} {base.version}",))
        lines.append(
            f"elsewhere, other packages of {base.source[0]} that are newer go back with it: name them as the service, "
            "or let `burnish install` find them"
        )
    how = _get(along.lacking) if along.lacking else system.file_command(made.file, along.words)
    lines.append(f"install: {how}")
    # apt can't go back to a version that it no longer lists, which is why its user gave the file.
    old = f"{base.name}={base.version}" if base.version in listed else str(base.file.absolute())
    lines.append(f"back: {system.back_command(old)}")
    restart = f": {system.restart_command(packaging.service)}" if packaging.service else ""
    lines.append(f"after either, a server that is running stays the program before until it is restarted{restart}")
    return tuple(lines)
