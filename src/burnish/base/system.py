"""Required Debian packages: finds the missing ones and installs them after asking.

They are in named groups: Burnish's own in `catalogue/data/system.toml`, an engine's in `packages.toml` in its folder.
``python -m burnish.base.system [--yes] GROUP...`` installs whole groups; ``make test`` uses it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from burnish.base import process, temporary
from burnish.base.engine_folders import engine_folders
from burnish.base.errors import InfrastructureError, UserError, unknown

PACKAGES = "packages.toml"
"""File of an engine's groups, in its folder."""

_APT = ("-o", "DPkg::Lock::Timeout=300", "-o", "APT::Color=0")
"""Waits up to 300 s for another installation on this machine instead of failing."""

_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy")
"""Environment variables that apt reads but sudo does not pass on."""

_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")

_NEWEST = "{newest}"
"""Placeholder in a package's name for the highest version number in the archive."""

_CLANG = "{clang}"
"""Placeholder in a package's name for the version number of the clang that this machine has or gets."""


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Group:
    """Packages that are needed together.

    Attributes:
        packages: Debian binary package names; `packages` replaces ``{clang}``, and `resolve` ``{newest}``.
        reason: their purpose, in prose.
    """

    packages: tuple[str, ...]
    reason: str


@cache
def groups() -> Mapping[str, Group]:
    """All groups by name, the engines' included.

    Raises:
        UserError: an engine's file is wrong, or the name of one of its groups is already used.
    """
    known_groups = _read(Path(str(resources.files("burnish.catalogue"))) / "data" / "system.toml")
    for folder in engine_folders():
        path = folder.path / PACKAGES
        if not path.is_file():
            continue
        own = _read(path)
        for name in own:
            if name in known_groups:
                raise UserError(f"{path}: there is a package group {name!r} already; name this one otherwise")
        known_groups |= own
    return known_groups


def _read(path: Path) -> dict[str, Group]:
    try:
        return TypeAdapter(dict[str, Group]).validate_python(tomllib.loads(path.read_text()))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None


def group(name: str) -> Group:
    """The group called `name`; a `UserError` with the nearest name otherwise."""
    known_groups = groups()
    if name not in known_groups:
        raise unknown("package group", name, known_groups)
    return known_groups[name]


def packages(name: str, clang: int | None = None) -> tuple[str, ...]:
    """The Debian packages of the group called `name`; `resolve` replaces ``{newest}``, if one has it.

    Args:
        name: the group's.
        clang: major version of the clang of this machine; None: it has none that will do, see `clang_to_install`.

    Raises:
        UserError: there is no such group.
    """
    names = group(name).packages
    if not any(_CLANG in one for one in names):
        return names
    number = str(clang or clang_to_install())
    return tuple(one.replace(_CLANG, number) for one in names)


@cache  # each variant that lacks its compiler names the packages; until the package lists are fetched
def clang_to_install() -> int:
    """Major version of the clang that a machine without one gets.

    The newest of which the archive has everything; the oldest supported one where the package lists don't tell.
    """
    return _number_of(newest("clang-newest") or group("clang-oldest").packages)


def oldest_clang() -> int:
    """Major version of the oldest clang with which everything is tried."""
    return _number_of(group("clang-oldest").packages)


def _number_of(packages: Sequence[str]) -> int:
    """The number in the name of a group's first package, the compiler."""
    return int(packages[0].rpartition("-")[2])


def resolve(names: Sequence[str], archive: Iterable[str]) -> list[str]:
    """`names` with ``{newest}`` replaced by the highest number for which the archive has all numbered packages.

    Args:
        names: package names of one group.
        archive: all package names in the archive.

    Raises:
        UserError: there is no such number.
    """
    numbered = [name for name in names if _NEWEST in name]
    known = set(archive)
    pattern = re.compile(re.escape(numbered[0]).replace(re.escape(_NEWEST), r"(\d+)")) if numbered else None
    numbers = [int(match[1]) for match in map(pattern.fullmatch, known) if match] if pattern else []
    complete = [n for n in numbers if known.issuperset(name.replace(_NEWEST, str(n)) for name in numbered)]
    if numbered and not complete:
        raise UserError(
            f"the archive has no number for which all of {' '.join(numbered)} are there; "
            "see /etc/apt/sources.list.d, or fetch the package lists: apt-get update"
        )
    return [name.replace(_NEWEST, str(max(complete, default=0))) for name in names]


def newest(name: str) -> list[str]:
    """The packages of a group with ``{newest}``, by the package lists that are here; none where these lack them."""
    try:
        return resolve(group(name).packages, _numbered_in_archive())
    except UserError:
        return []


def _numbered_in_archive() -> list[str]:
    """Names with a digit of all packages known to apt, including installed ones; none without apt."""
    if shutil.which("apt-cache") is None:
        return []
    return [line.split()[0] for line in process.capture(["apt-cache", "search", "--names-only", "[0-9]"]).splitlines()]


def fetch_lists(names: Iterable[str], why: str) -> None:
    """Fetches apt's package lists if there are none and one of the groups called `names` depends on what they have.

    Args:
        names: the groups' names.
        why: what the packages are needed for.
    """
    if not _depend_on_archive(names):
        return
    if missing_packages(_numbered_in_archive()):  # without lists, apt knows only installed packages
        return
    with contextlib.suppress(UserError, InfrastructureError):  # no root, no network: the installed ones may suffice
        _update(_root_prefix(f"package lists ({why}) need root: run `sudo apt-get update`, then try again"), _say)


def _depend_on_archive(names: Iterable[str]) -> bool:
    """Whether a group called by one of `names` has packages whose number the archive decides."""
    return any(mark in package for name in names for package in group(name).packages for mark in (_NEWEST, _CLANG))


def install_command(names: Iterable[str]) -> str:
    """The command line with which a user installs the packages `names`."""
    return f"{_sudo()}apt-get install --no-install-recommends {' '.join(names)}"


def file_command(file: Path, also: Sequence[str] = ()) -> str:
    """The command line with which a user installs a package's file as `install_file` does, from any folder."""
    return f"{_sudo()}apt-get install {shlex.join(_file_words(file, also))}"


def _file_words(file: Path, also: Sequence[str]) -> list[str]:
    # A newer version of the distribution may be there, which the user has asked to replace. What depends on the newer
    # one would be removed, the service with it.
    return ["--no-install-recommends", "--allow-downgrades", "--no-remove", str(file.resolve()), *also]


def back_command(package: str) -> str:
    """The command line with which a user goes back to a package: ``NAME=VERSION``, or a file's absolute path."""
    return f"{_sudo()}apt-get install --allow-downgrades {shlex.quote(package)}"


def restart_command(service: str) -> str:
    """The command line with which a user restarts a service."""
    return f"{_sudo()}systemctl restart {shlex.quote(service)}"


def _sudo() -> str:
    """What a user writes before a command that needs root."""
    return "" if os.geteuid() == 0 else "sudo "


def find_programs(names: Iterable[str]) -> dict[str, Path | None]:
    """The path of each program, on PATH or in the administrators' folders; None if it is not installed."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_SBIN])
    paths = {name: shutil.which(name, path=path) for name in names}
    return {name: Path(where) if where else None for name, where in paths.items()}


def missing_packages(names: Sequence[str]) -> list[str]:
    """Those of `names` that are not installed, in their order; all of them on a host without dpkg.

    A name that an installed package merely provides counts as installed.
    """
    if shutil.which("dpkg-query") is None:
        return list(names)
    have = set()
    listing = process.capture(["dpkg-query", "-W", "-f", "${db:Status-Status}\\t${Package}\\t${Provides}\\n"])
    for line in listing.splitlines():
        status, _, rest = line.partition("\t")
        if status == "installed":
            package, _, provides = rest.partition("\t")
            have.add(package)
            have.update(item.split()[0] for item in provides.split(",") if item.strip())
    return [name for name in names if name not in have]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def ensure_packages(
    names: Sequence[str],
    *,
    why: str,
    yes: bool,
    ask: Callable[[str], bool] | None,
    say: Callable[[str], None] = _say,
) -> None:
    """Installs those of `names` that are missing; does nothing and prints nothing if there are none.

    Args:
        names: Debian binary package names.
        why: what they are needed for; completes the sentence "... are needed: WHY".
        yes: install without asking.
        ask: asks the user a question and returns the answer; None if nobody can answer.
        say: called with lines of progress.

    Raises:
        UserError: they can't be installed here (no apt, no permission, nobody to ask, the answer was no, a package is
            not in the machine's archive); one line with the command that installs them.
        InfrastructureError: apt-get failed; the message has its last lines.
    """
    missing = missing_packages(names)
    if not missing:
        return
    listed = " ".join(missing)
    command = install_command(missing)
    if shutil.which("apt-get") is None or shutil.which("dpkg-query") is None:
        raise UserError(
            f"needed, but this machine has no apt-get: {listed} ({why}); "
            "install the like with its own package manager, or use Debian 12"
        )
    prefix = _root_prefix(f"missing packages ({why}), and installing them needs root: run `{command}`, then try again")
    if not yes:
        if ask is None:
            raise UserError(f"missing packages ({why}): run `{command}`, or say --yes and they are installed")
        if not ask(f"Install {listed}? ({why})"):
            raise UserError(f"missing packages ({why}), and the answer was no; to install: `{command}`")
    say(f"installing {listed}: {why}")
    _install(missing, prefix, say)
    remaining = missing_packages(missing)
    if remaining:
        raise InfrastructureError(f"apt-get ended well, but these packages are not installed: {' '.join(remaining)}")


def install_file(
    file: Path,
    also: Sequence[str] = (),
    *,
    yes: bool,
    ask: Callable[[str], bool] | None,
    say: Callable[[str], None] = _say,
) -> None:
    """Installs a package's file with apt-get, after asking; nothing else is removed for it.

    Args:
        file: the .deb.
        also: packages that go with it, ``NAME=VERSION`` or a file's absolute path.
        yes: install without asking.
        ask: asks the user a question; None if nobody can answer.
        say: called with lines of progress.

    Raises:
        UserError: nobody could be asked, the answer was no, or there is no permission.
        InfrastructureError: apt-get failed; the message has its last lines.
    """
    words, command = _file_words(file, also), file_command(file, also)
    prefix = _root_prefix(f"{file} is made and not installed: that needs root; to install it: `{command}`")
    what = " and ".join((file.name, *also))
    if not yes and (ask is None or not ask(f"Install {what}?")):
        why = "nobody to ask" if ask is None else "the answer was no"
        raise UserError(f"{file} is made and not installed ({why}); `{command}` installs it, or say --yes")
    say(f"installing {what}")
    _run_uninterrupted([*prefix, "apt-get", *_APT, "install", "--yes", *words]).check(f"installing {file.name} failed")


def _root_prefix(lacking: str) -> list[str]:
    """Command prefix with which apt-get runs as root without asking for a password.

    Args:
        lacking: what a `UserError` says where there is no such way: what is not done, and how the user does it.
    """
    if os.geteuid() == 0:
        return ["env", "-u", process.RUN_VARIABLE, "DEBIAN_FRONTEND=noninteractive"]
    if shutil.which("sudo") is None or not process.run(["sudo", "-n", "true"], timeout=30).ok:
        raise UserError(lacking)
    proxies = [f"{name}={os.environ[name]}" for name in _PROXIES if name in os.environ]
    return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", *proxies]


def _install(names: Sequence[str], prefix: Sequence[str], say: Callable[[str], None]) -> None:
    """Runs apt-get install; first fetches the package lists if there are none or they are out of date."""
    install = ["install", "--yes", "--no-install-recommends", *names]
    updated = False
    if not process.run(["apt-get", *_APT, "--simulate", *install]).ok:
        updated = _update(prefix, say)
        tried = process.run(["apt-get", *_APT, "--simulate", *install])
        if not tried.ok:
            problems = [line for line in tried.output.splitlines() if line.startswith("E:")]
            reason = " ".join(problems) or "no reason given"
            raise UserError(
                f"apt-get cannot install {' '.join(names)} on this machine: {reason} "
                "(Debian 12's main archive has them; see /etc/apt/sources.list.d)"
            )
    done = _run_uninterrupted([*prefix, "apt-get", *_APT, *install])
    if not done.ok and not updated:
        # Outdated package lists name files that are no longer in the archive (404): try again with new lists.
        _update(prefix, say)
        done = _run_uninterrupted([*prefix, "apt-get", *_APT, *install])
    done.check(f"installing {' '.join(names)} failed")


def _run_uninterrupted(argv: Sequence[str]) -> process.Completed:
    """Runs an installation that continues even if this process is interrupted or killed.

    If dpkg is killed, nothing can be installed on the machine until somebody repairs it. So it gets a session of its
    own, does not have the run's mark (see `burnish.base.process`), and writes to a file, since a pipe could be closed.
    The file goes with the run, as the shell has it open by then; what dpkg's scripts write must not.
    """
    with tempfile.NamedTemporaryFile("r", prefix="apt-", errors="replace", dir=temporary.folder()) as log:
        env = {temporary.VARIABLE: str(temporary.base())}
        done = process.run(["setsid", "--wait", "sh", "-c", 'exec "$@" >>"$0" 2>&1', log.name, *argv], env=env)
        return replace(done, argv=tuple(argv), output=log.read())


def _update(prefix: Sequence[str], say: Callable[[str], None]) -> bool:
    say("fetching the package lists (apt-get update)")
    process.run([*prefix, "apt-get", *_APT, "update"]).check("apt-get update failed")
    clang_to_install.cache_clear()
    return True


def _ask_at_terminal(question: str) -> bool:
    print(f"{question} [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def terminal_ask() -> Callable[[str], bool] | None:
    """A function that asks at the terminal; None if standard input is not one."""
    return _ask_at_terminal if sys.stdin is not None and sys.stdin.isatty() else None


def main(arguments: Sequence[str]) -> int:
    """Installs the named groups; exit code 2 when they are missing and can't be installed."""
    yes = "--yes" in arguments
    try:
        names = [word for word in arguments if word != "--yes"]
        why = f"for {', '.join(names)}"
        if yes:
            fetch_lists(names, why)
        archive = _numbered_in_archive() if _depend_on_archive(names) else []
        found = [resolve(packages(name), archive) for name in names]
        ensure_packages(list(dict.fromkeys(chain.from_iterable(found))), why=why, yes=yes, ask=terminal_ask())
    except UserError as error:
        _say(f"error: {error}")
        return error.exit_code
    except InfrastructureError as error:
        _say(f"error: {error.explain()}")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
