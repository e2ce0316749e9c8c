"""Debian packages that the work needs: which are missing, and installing them after asking.

They are in named groups: Burnish's own in `catalogue/data/system.toml`, an engine's in `packages.toml` in its folder.
``python -m burnish.base.system [--yes] GROUP...`` installs whole groups; ``make test`` uses it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from burnish.base import process
from burnish.base.engine_folders import engine_folders
from burnish.base.errors import InfrastructureError, UserError, unknown

PACKAGES = "packages.toml"
"""An engine's groups, in its folder."""

_APT = ("-o", "DPkg::Lock::Timeout=300", "-o", "APT::Color=0")
"""Waits up to 300 s for another installation on this machine instead of failing beside it."""

_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "no_proxy")
"""Variables that apt reads and that sudo does not pass on."""

_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")

_NEWEST = "{newest}"
"""Stands in a package's name for the highest number that the archive has."""


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Group:
    """Packages that are needed together.

    Attributes:
        packages: Debian binary package names; `resolve` puts a number for ``{newest}``.
        reason: what they are for, in prose.
    """

    packages: tuple[str, ...]
    reason: str


@cache
def groups() -> Mapping[str, Group]:
    """All groups by name, the engines' included.

    Raises:
        UserError: an engine's file is wrong, or has a group of a name that is taken.
    """
    every = _read(Path(str(resources.files("burnish.catalogue"))) / "data" / "system.toml")
    for folder in engine_folders():
        path = folder.path / PACKAGES
        if not path.is_file():
            continue
        own = _read(path)
        for name in own:
            if name in every:
                raise UserError(f"{path}: there is a package group {name!r} already; name this one otherwise")
        every |= own
    return every


def _read(path: Path) -> dict[str, Group]:
    try:
        return TypeAdapter(dict[str, Group]).validate_python(tomllib.loads(path.read_text()))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise UserError(f"{path}: {' '.join(str(error).split())}") from None


def group(name: str) -> Group:
    """The group called `name`; a `UserError` with the nearest name otherwise."""
    every = groups()
    if name not in every:
        raise unknown("package group", name, every)
    return every[name]


def resolve(names: Sequence[str], archive: Iterable[str]) -> list[str]:
    """`names` with the highest number for ``{newest}`` for which the archive has all that bear it.

    Args:
        names: package names of one group.
        archive: every name that the archive has.

    Raises:
        UserError: it has no number for which all are there.
    """
    numbered = [name for name in names if _NEWEST in name]
    known = set(archive)
    pattern = re.compile(re.escape(numbered[0]).replace(re.escape(_NEWEST), r"(\d+)")) if numbered else None
    numbers = [int(match[1]) for match in map(pattern.fullmatch, known) if match] if pattern else []
    whole = [n for n in numbers if known.issuperset(name.replace(_NEWEST, str(n)) for name in numbered)]
    if numbered and not whole:
        raise UserError(
            f"the archive has no number for which all of {' '.join(numbered)} are there; "
            "see /etc/apt/sources.list.d, or fetch the package lists: apt-get update"
        )
    return [name.replace(_NEWEST, str(max(whole, default=0))) for name in names]


def _numbered_in_archive() -> list[str]:
    """Names of all packages with a digit in their name that apt knows, installed ones too; none without apt."""
    if shutil.which("apt-cache") is None:
        return []
    return [line.split()[0] for line in process.capture(["apt-cache", "search", "--names-only", "[0-9]"]).splitlines()]


def install_command(names: Iterable[str]) -> str:
    """The command line that a person types to install the packages `names`."""
    root = "" if os.geteuid() == 0 else "sudo "
    return f"{root}apt-get install --no-install-recommends {' '.join(names)}"


def find_programs(names: Iterable[str]) -> dict[str, Path | None]:
    """Where each program is, on PATH or in the folders for administrators; None when it is nowhere."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_SBIN])
    found = {name: shutil.which(name, path=path) for name in names}
    return {name: Path(where) if where else None for name, where in found.items()}


def missing_packages(names: Sequence[str]) -> list[str]:
    """Those of `names` that are not installed, in their order; all of them where dpkg does not rule.

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
    """Installs those of `names` that are missing; does nothing, and says nothing, when none is.

    Args:
        names: Debian binary package names.
        why: what they are needed for; completes the sentence "... are needed: WHY".
        yes: install without asking.
        ask: puts a question to the user and returns the answer; None where nobody can answer.
        say: receives the lines that say what is being done.

    Raises:
        UserError: they can't be installed here (no apt, no permission, nobody to ask, a no, a package that
            the machine's archive does not have); one line with the command that does it.
        InfrastructureError: apt-get failed; with its last lines.
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
    prefix = _root_prefix(command, why)
    if not yes:
        if ask is None:
            raise UserError(f"missing packages ({why}): run `{command}`, or say --yes and they are installed")
        if not ask(f"Install {listed}? ({why})"):
            raise UserError(f"missing packages ({why}), and the answer was no; to install: `{command}`")
    say(f"installing {listed}: {why}")
    _install(missing, prefix, say)
    still = missing_packages(missing)
    if still:
        raise InfrastructureError(f"apt-get ended well, but these packages are not installed: {' '.join(still)}")


def _root_prefix(command: str, why: str) -> list[str]:
    """What comes before apt-get so that it runs as root without a terminal to type a password at."""
    if os.geteuid() == 0:
        return ["env", "-u", process.RUN_VARIABLE, "DEBIAN_FRONTEND=noninteractive"]
    if shutil.which("sudo") is None or not process.run(["sudo", "-n", "true"], timeout=30).ok:
        raise UserError(f"missing packages ({why}), and installing them needs root: run `{command}`, then try again")
    proxies = [f"{name}={os.environ[name]}" for name in _PROXIES if name in os.environ]
    return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", *proxies]


def _install(names: Sequence[str], prefix: Sequence[str], say: Callable[[str], None]) -> None:
    """apt-get install, with package lists fetched when there are none or they are out of date."""
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
    done = _to_its_end([*prefix, "apt-get", *_APT, *install])
    if not done.ok and not updated:
        # Lists older than the archive name files that are gone (404): once more with fresh lists.
        _update(prefix, say)
        done = _to_its_end([*prefix, "apt-get", *_APT, *install])
    done.check(f"installing {' '.join(names)} failed")


def _to_its_end(argv: Sequence[str]) -> process.Completed:
    """Runs an installation that goes on when we are interrupted or killed.

    dpkg killed half-way leaves a machine on which nothing can be installed until somebody repairs it. So it gets
    a session of its own, does not bear our mark (see `burnish.base.process`), and writes to a file, not to a pipe that
    could close on it.
    """
    with tempfile.NamedTemporaryFile("r", prefix="burnish-apt-", errors="replace") as log:
        done = process.run(["setsid", "--wait", "sh", "-c", 'exec "$@" >>"$0" 2>&1', log.name, *argv])
        return replace(done, argv=tuple(argv), output=log.read())


def _update(prefix: Sequence[str], say: Callable[[str], None]) -> bool:
    say("fetching the package lists (apt-get update)")
    process.run([*prefix, "apt-get", *_APT, "update"]).check("apt-get update failed")
    return True


def _ask_at_terminal(question: str) -> bool:
    print(f"{question} [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def terminal_ask() -> Callable[[str], bool] | None:
    """A function that asks at the terminal; None where standard input is not one."""
    return _ask_at_terminal if sys.stdin is not None and sys.stdin.isatty() else None


def _packages(group: Group, why: str, *, yes: bool) -> list[str]:
    """The group's packages by name; a number is looked for in package lists fetched for it where there are none."""
    if not any(_NEWEST in name for name in group.packages):
        return list(group.packages)
    known = _numbered_in_archive()
    if yes and not missing_packages(known):  # apt knows of nothing but what is installed
        with contextlib.suppress(UserError, InfrastructureError):  # no root, no network: what is installed may do
            _update(_root_prefix("apt-get update", why), _say)
        known = _numbered_in_archive()
    return resolve(group.packages, known)


def main(arguments: Sequence[str]) -> int:
    """Installs the named groups; exit code 2 when they are missing and can't be installed."""
    yes = "--yes" in arguments
    try:
        names = [word for word in arguments if word != "--yes"]
        why = f"for {', '.join(names)}"
        packages = dict.fromkeys(package for name in names for package in _packages(group(name), why, yes=yes))
        ensure_packages(list(packages), why=why, yes=yes, ask=terminal_ask())
    except UserError as error:
        _say(f"error: {error}")
        return error.exit_code
    except InfrastructureError as error:
        _say(f"error: {error.explain()}")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
