"""Compares the program in a staged package with the distribution's: what each can do, and which plugins load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.base.errors import UserError
from burnish.base.files import make_folder, remove_tree
from burnish.base.workbench import Workbench
from burnish.engines.packaged import Account, PackagedServer
from burnish.engines.registry import packaged
from burnish.model.engine import Packaging
from burnish.packages import differences, here
from burnish.packages.chosen import Chosen
from burnish.packages.control import one_line
from burnish.packages.deb import Staged
from burnish.packages.differences import Difference, Weight
from burnish.program import exports
from burnish.program.built import Built
from burnish.program.libraries import libraries
from burnish.source.debian import binary
from burnish.source.debian.binary import BinaryPackage

PLUGINS = "plugins"
"""Name of the loss that a package of plugins is, which is not here to be tried."""

SETTINGS_NOTE = """\
# Part of {package}, and gone with it: paths that the distribution's program has compiled in and this one has not.
# Change nothing here; what is set in files that are read after it, as the others of this folder, goes on to count.
"""


@dataclass(frozen=True)
class Compared:
    """What was found.

    Attributes:
        differences: to the distribution's server, with the packaged configuration file.
        settings: text of that file; '' for none.
        plugins: number of loadable plugins that were tried.
        kinds: by kind of ability, how many names the distribution's server has.
        overrides: settings of this host that the file would override, a sentence each.
    """

    differences: tuple[Difference, ...]
    settings: str
    plugins: int
    kinds: Mapping[str, int]
    overrides: tuple[str, ...] = ()


def of_source(base: BinaryPackage, chosen: Chosen) -> list[Difference]:
    """Whether the package is of the very source that was built; patches are said."""
    name, version, kind = chosen.making.source
    found = []
    if kind != "debian" or base.source != (name, version):
        what = f"the program is of {name} {version} ({kind}), the package of {base.source[0]} {base.source[1]}"
        found.append(Difference("source", what, Weight.LOSS))
    if patches := chosen.making.patches:
        names = differences.some([patch.file for patch in patches])
        found.append(Difference("patches", f"the source has {len(patches)} patches: {names}", Weight.LOSS))
    return found


def compare(
    base: BinaryPackage, staged: Staged, chosen: Chosen, packaging: Packaging, cache: Path, scratch: Path,
    bench: Workbench,
) -> Compared:  # fmt: skip
    """Asks both servers, as they lie in their unpacked packages, and tries the plugins in both.

    Args:
        base: the distribution's package.
        staged: the package with the program replaced.
        chosen: the measured program.
        packaging: how the distribution packages the server.
        cache: folder of downloaded packages.
        scratch: private folder.
        bench: recorded processes.

    Raises:
        UserError: one of the two does not run on this machine, as a program of another release may.
    """
    engine = chosen.engine
    server = packaged(engine.spec)
    original = binary.unpack(base, scratch / "original")
    theirs, ours = engine.existing(original / packaging.program), engine.existing(staged.program)
    here.check(base.file, theirs.server)
    here.check(ours.server, ours.server)
    bench.say(f"asking {base.name} {base.version} and the new program what they can do")
    before = server.account(theirs, None, _new(scratch / "ask-theirs"), bench)
    after = server.account(ours, None, _new(scratch / "ask-ours"), bench)
    paths = located(before.get("setting", {}), after.get("setting", {}), packaging.located)
    settings = _settings(server, base.name, paths)
    if settings:
        file = scratch / "settings.cnf"
        file.write_text(settings)
        after = {**after, **_settings_only(server, ours, file, scratch, bench)}
    found = of_source(base, chosen)
    found += differences.of_accounts(before, after, packaging)
    link = chosen.found.entry.about.get("flags", {}).get("link", ())
    found += differences.of_libraries(libraries(theirs.server), libraries(ours.server), link)
    plugins = _plugins(packaging, base, cache, scratch, bench)
    files = plugins.files
    found += plugins.missing
    found += differences.of_exports(
        exports.exported(theirs.server),
        exports.exported(ours.server),
        {file.stem: exports.imported(file) for file in files},
    )
    if files:
        bench.say(f"loading each of {len(files)} plugins into both")
        tries = [
            server.plugins(_with(built, plugins.environment), files, _new(scratch / name), bench)
            for name, built in (("plugins-theirs", theirs), ("plugins-ours", ours))
        ]
        known = {one.name for one in found if one.weight is Weight.LOSS}
        found += [one for one in differences.of_plugins(*tries) if one.name not in known]
    kinds = {kind: len(names) for kind, names in before.items()}
    return Compared(tuple(found), settings, len(files), kinds, overrides(server, paths, Path("/")))


def settings_for(
    base: BinaryPackage, staged: Staged, chosen: Chosen, packaging: Packaging, scratch: Path, bench: Workbench
) -> str:
    """The text of the packaged configuration file alone; '' for none."""
    engine = chosen.engine
    server = packaged(engine.spec)
    original = binary.unpack(base, scratch / "original")
    before, after = (
        server.account(engine.existing(program), None, _new(scratch / name), bench)
        for name, program in (("ask-theirs", original / packaging.program), ("ask-ours", staged.program))
    )
    paths = located(before.get("setting", {}), after.get("setting", {}), packaging.located)
    return _settings(server, base.name, paths)


def _settings(server: PackagedServer, package: str, paths: Mapping[str, str]) -> str:
    text = server.settings_text(paths)
    return SETTINGS_NOTE.format(package=package) + text if text else ""


def overrides(server: PackagedServer, paths: Mapping[str, str], root: Path) -> tuple[str, ...]:
    """Which of a host's own settings the packaged configuration file would override, a sentence each.

    Args:
        server: the engine's packaged server.
        paths: what the file sets.
        root: root of the host's files.
    """
    file = Path("/") / server.packaging.settings_file
    return tuple(
        f"{one.file} sets {one.name} = {one_line(one.value, 200)}, and {file} of the package, which is read after it, "
        f"{paths[one.name]}; set it in a file that is read later, as {file.with_name('local.cnf')}"
        for one in server.overridden(paths, root)
    )


def located(theirs: Mapping[str, str], ours: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """The settings with compiled-in paths that differ, with the distribution's value."""
    return {name: theirs[name] for name in names if name in theirs and theirs[name] != ours.get(name)}


def _settings_only(server: PackagedServer, ours: Built, file: Path, scratch: Path, bench: Workbench) -> Account:
    """The settings in force with the packaged configuration file."""
    return {"setting": server.account(ours, file, _new(scratch / "ask-settings"), bench)["setting"]}


@dataclass(frozen=True)
class _Plugins:
    """The distribution's loadable plugins.

    Attributes:
        files: the plugins, unpacked.
        environment: in which they find their libraries.
        missing: packages that are not here, whose plugins nobody can try.
    """

    files: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[Difference, ...] = ()


def _plugins(packaging: Packaging, base: BinaryPackage, cache: Path, scratch: Path, bench: Workbench) -> _Plugins:
    if not packaging.plugin_packages:
        return _Plugins()
    root = scratch / "plugins"
    missing: list[Difference] = []
    words: list[str] = []

    def add(name: str, version: str) -> None:
        package = beside(base, name, version)
        try:
            package = package or binary.obtain(name, version, cache=cache, say=bench.say)
        except UserError:
            if base.checked:  # without a user's own file for the server, it is an error
                raise
            what = f"{name} {version} is neither beside {base.file} nor to be had by apt, so it was not tried"
            missing.append(Difference(PLUGINS, what, Weight.LOSS))
        else:
            words.append(f"{name}={version}" if package.checked else str(package.file.absolute()))
            binary.unpack(package, root)

    for plugin in packaging.plugin_packages:
        add(plugin, base.version)
    for library, version in binary.libraries_for(words, *base.source, scratch) if words else ():
        add(library, version)
    files = sorted((root / packaging.plugin_folder).glob("*.so"))
    folders = sorted({str(path.parent) for path in root.glob("**/lib/*/*.so.*")})
    environment = {"LD_LIBRARY_PATH": ":".join(folders)} if folders else {}
    return _Plugins(tuple(files), environment, tuple(missing))


def beside(base: BinaryPackage, name: str, version: str) -> BinaryPackage | None:
    """Another package of the distribution in the folder of a user's own file; None if it is not there."""
    if base.checked:
        return None
    _, _, plain = version.rpartition(":")
    for spelled in (plain, version.replace(":", "%3a")):  # as in archives, and as `apt-get download` names them
        for architecture in (base.architecture, "all"):
            file = base.file.with_name(f"{name}_{spelled}_{architecture}.deb")
            found = binary.read(file) if file.is_file() else None
            if found is not None and (found.name, found.version) == (name, version):
                return found
    return None


def _with(built: Built, environment: Mapping[str, str]) -> Built:
    return replace(built, environment=(*built.environment, *environment.items()))


def _new(folder: Path) -> Path:
    remove_tree(folder)
    return make_folder(folder)
