"""Debian source packages through the host's own apt-get, with a private state folder.

The host's source lists are read, never written: from its Debian entries, `deb-src` entries are derived for the same
mirrors, suites and keyrings. apt-get itself downloads and verifies, so the host's apt.conf (proxy, mirrors,
credentials) applies.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import make_folder
from burnish.source.debian.deb822 import RemoteFile, files_of, paragraphs

# Suites of a stable release; apt does not use backports unless the user chooses to.
_PARTS = ("", "-updates", "-security", "/updates")
_CARRIED = (
    "signed-by", "trusted", "allow-insecure", "allow-weak", "check-valid-until", "valid-until-max",
    "valid-until-min", "check-date", "date-max-future", "inrelease-path",
)  # fmt: skip
_ONE_LINE = re.compile(r"^\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)((?:\s+[\w./-]+)*)\s*(?:#.*)?$")
# apt's messages for "the mirror does not have this file"; all others are network problems.
_GONE = re.compile(r"\s(403|404|410|451)\s+\w|(File not found)|Failed to stat.*(No such file)")
_INDEX_TIMEOUT = 600.0
_DOWNLOAD_TIMEOUT = 3600.0


class GoneError(Exception):
    """The mirror responds, but no longer has the file; the message is its response, such as 404."""


class UnreachableError(Exception):
    """The mirror could not be reached, or a file does not match the signed index; the message says why."""


@dataclass(frozen=True)
class Entry:
    """One mirror and suite of the host, with the options that decide whether it is trusted."""

    uri: str
    suite: str
    options: tuple[tuple[str, str], ...] = ()

    def stanza(self) -> str:
        """The `deb-src` entry for it, in deb822."""
        options = "".join(f"{key}: {_folded(value)}\n" for key, value in self.options)
        return f"Types: deb-src\nURIs: {self.uri}\nSuites: {self.suite}\nComponents: main\n{options}"


def _folded(value: str) -> str:
    return value.replace("\n", "\n ")


@dataclass(frozen=True)
class Listed:
    """A source package in the signed index; `files` include its .dsc."""

    package: str
    version: str
    suite: str
    files: tuple[RemoteFile, ...]

    @property
    def megabytes(self) -> float:
        """Size of the download in MB (10^6 bytes)."""
        return sum(file.size for file in self.files) / 1e6


def host_entries(host: Path, suites: tuple[str, ...] = ()) -> list[Entry]:
    """The Debian entries of the host's release, and `suites` from the same mirrors.

    Args:
        host: root folder of the host's configuration, normally ``/``.
        suites: suites besides the host's own (``sid``), on the mirrors of the host's release.

    Raises:
        UserError: the host is not Debian, or has no entry for Debian's main component.
    """
    way_out = "give a folder or a tarball with --source"
    entries_found = list(dict.fromkeys(_entries(host / "etc/apt")))
    release = _codename(host)
    own = [entry for entry in entries_found if entry.suite in {release + part for part in _PARTS}]
    entries = own or [entry for entry in entries_found if "backports" not in entry.suite]
    if not release:
        raise UserError(f"{host / 'etc/os-release'}: this host is not Debian, so it has no Debian sources; {way_out}")
    if not entries:
        raise UserError(f"{host / 'etc/apt'}: no entry for Debian's main component was found; {way_out}")
    for suite in suites:
        similar = [entry for entry in entries if entry.suite.endswith("-security") == suite.endswith("-security")]
        added = Entry((similar or entries)[0].uri, suite, (similar or entries)[0].options)
        if not any(entry.suite == suite for entry in entries):
            entries.append(added)
    return entries


def _codename(host: Path) -> str:
    """The release's code name (bookworm); '' if the host is not Debian."""
    try:
        text = (host / "etc/os-release").read_text()
    except OSError:
        return ""
    values = {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in text.splitlines())}
    return values.get("VERSION_CODENAME", "") if values.get("ID") == "debian" else ""


def _entries(etc: Path) -> Iterator[Entry]:
    """All enabled entries with the main component and Debian's keyring, or no named keyring."""
    parts = sorted((etc / "sources.list.d").glob("*")) if (etc / "sources.list.d").is_dir() else []
    for path in [etc / "sources.list", *parts]:
        try:
            text = path.read_text(errors="replace")
        except OSError:
            continue
        if path.suffix == ".sources":
            listed = [entry for fields in paragraphs(text) for entry in _deb822_entries(fields)]
        elif path.suffix == ".list":
            listed = [entry for line in text.splitlines() for entry in _one_line_entries(line)]
        else:
            continue
        for entry in listed:
            keyring = dict(entry.options).get("signed-by", "")
            inline_or_none = "\n" in keyring or not keyring
            if not entry.uri.startswith("cdrom:") and (inline_or_none or "debian-archive" in keyring):
                yield entry


def _deb822_entries(fields: dict[str, str]) -> Iterator[Entry]:
    if fields.get("enabled", "yes").lower() in {"no", "false", "0"}:
        return
    if "main" not in fields.get("components", "").split():
        return
    options = tuple((key, fields[key]) for key in _CARRIED if key in fields)
    for uri in fields.get("uris", "").split():
        for suite in fields.get("suites", "").split():
            yield Entry(uri, suite, options)


def _one_line_entries(line: str) -> Iterator[Entry]:
    match = _ONE_LINE.match(line)
    if match is None or "main" not in match[4].split():
        return
    words = dict(word.split("=", 1) for word in (match[1] or "").split() if "=" in word)
    options = tuple((key, words[key].replace(",", " ")) for key in _CARRIED if key in words)
    yield Entry(match[2], match[3], options)


@dataclass(frozen=True)
class PrivateApt:
    """apt-get with lists of its own in `folder`, for `entries`; see `open_apt`."""

    folder: Path
    entries: tuple[Entry, ...]

    def _argv(self, program: str, *words: str) -> list[str]:
        return [program, "-c", str(self.folder / "apt.conf"), *words]

    @property
    def _refreshed(self) -> Path:
        return self.folder / "refreshed"

    @property
    def suites(self) -> str:
        """The suites' names, for a sentence."""
        return ", ".join(dict.fromkeys(entry.suite for entry in self.entries))

    def age(self) -> float:
        """Seconds since the index was last fetched; infinite if it never was."""
        try:
            return max(0.0, time.time() - self._refreshed.stat().st_mtime)
        except FileNotFoundError:
            return float("inf")

    def refresh(self) -> None:
        """Fetches the signed indexes; raises `UnreachableError` if one of them cannot be fetched."""
        argv = self._argv("apt-get", "-q", "update")
        self._write_sources(self.entries)
        done = process.run(argv, timeout=_INDEX_TIMEOUT)
        if foreign := self._foreign():
            self._write_sources(tuple(entry for entry in self.entries if entry not in foreign))
            done = process.run(argv, timeout=_INDEX_TIMEOUT)
        if not done.ok:
            raise UnreachableError(first_error(done))
        self._refreshed.write_text("")

    def _write_sources(self, entries: tuple[Entry, ...]) -> None:
        (self.folder / "burnish.sources").write_text("\n".join(entry.stanza() for entry in entries))

    def _foreign(self) -> list[Entry]:
        """Entries that are not Debian's according to their signed Release: vendors use the same suite names."""
        wording = ["--format", "$(ORIGIN)|$(REPO_URI)|$(RELEASE)", "Created-By: Sources"]
        done = process.run(self._argv("apt-get", "indextargets", *wording))
        rows = [line.split("|") for line in done.output.splitlines() if line.count("|") == 2]
        foreign = {(uri.rstrip("/"), suite) for origin, uri, suite in rows if origin not in {"", "Debian"}}
        return [entry for entry in self.entries if (entry.uri.rstrip("/"), entry.suite) in foreign]

    def listed(self, package: str) -> list[Listed]:
        """The versions of `package` in the signed indexes, newest first."""
        done = process.run(self._argv("apt-cache", "madison", package))
        suites = {version: place.split()[1].rsplit("/", 1)[0] for version, place in offers(done.output, "Sources")}
        done = process.run(self._argv("apt-cache", "showsrc", "--only-source", package))
        versions: dict[str, Listed] = {}
        for fields in paragraphs(done.output):
            version = fields.get("version", "")
            if fields.get("package") == package and version in suites and version not in versions:
                files = files_of(fields, f"the index entry of {package} {version}")
                versions[version] = Listed(package, version, suites[version], files)
        return sorted(versions.values(), key=functools.cmp_to_key(_newest_first))

    def download(self, wanted: Listed, folder: Path, say: Callable[[str], None]) -> None:
        """Downloads the files of `wanted` into `folder`; resumes an interrupted download.

        Raises:
            GoneError: the mirror no longer has one of them.
            UnreachableError: the mirror could not be reached, or a file does not match the signed index.
        """
        name = f"{wanted.package} {wanted.version}"
        say(f"downloading Debian source package {name} ({wanted.megabytes:.0f} MB, {wanted.suite})")
        options = ("--download-only", "--only-source")
        progress = _Progress(folder, wanted, say)
        done = process.run(
            self._argv("apt-get", "-q", "source", *options, f"{wanted.package}={wanted.version}"),
            cwd=folder,
            timeout=_DOWNLOAD_TIMEOUT,
            on_tick=progress.tick,
        )
        if done.ok:
            return
        failed = [line for line in done.output.splitlines() if line.startswith("E: Failed to fetch")]
        for line in failed:
            if match := _GONE.search(line):
                raise GoneError(next(filter(None, match.groups())).lower())
        raise UnreachableError(first_error(done))


def _newest_first(first: Listed, second: Listed) -> int:
    """Compares Debian versions with dpkg, which every host with apt has."""
    newer = process.run(["dpkg", "--compare-versions", first.version, "gt", second.version])
    return -1 if newer.exit_code == 0 else 1


def offers(output: str, kind: str) -> list[tuple[str, str]]:
    """(version, mirror with suite and index) from `apt-cache madison`, newest first.

    Args:
        output: its output.
        kind: kind of lines: ``Sources`` or ``Packages``.
    """
    rows = [[word.strip() for word in line.split("|")] for line in output.splitlines()]
    return [(row[1], row[2]) for row in rows if len(row) == 3 and row[2].endswith(f" {kind}")]


def first_error(done: process.Completed) -> str:
    """apt's first error line without its prefix, at most 200 characters."""
    if done.timed_out:
        return f"no end after {done.seconds:.0f} s"
    errors = [line[3:] for line in done.output.splitlines() if line.startswith("E: ")]
    return (errors or [f"apt-get ended with exit code {done.exit_code}"])[0][:200].strip()


class _Progress:
    """Reports every few seconds how much has been downloaded."""

    INTERVAL_S = 5.0

    def __init__(self, folder: Path, wanted: Listed, say: Callable[[str], None]) -> None:
        self.folder, self.wanted, self.say = folder, wanted, say
        self.last = time.monotonic()

    def tick(self) -> None:
        if time.monotonic() - self.last < self.INTERVAL_S:
            return
        self.last = time.monotonic()
        received = sum(path.stat().st_size for path in self.folder.glob("*") if path.is_file())
        self.say(f"  {self.wanted.package}: {received / 1e6:.0f} of {self.wanted.megabytes:.0f} MB")


def open_apt(cache: Path, suites: tuple[str, ...], host: Path) -> PrivateApt:
    """The private apt state for this host and `suites`, in a folder of `cache` named by the entries' digest.

    Raises:
        UserError: there is no apt-get, or no entry to derive sources from; the message names the alternative.
    """
    if shutil.which("apt-get") is None:
        raise UserError("apt-get is not installed, so Debian sources cannot be had; give one with --source")
    entries = tuple(host_entries(host, suites))
    text = "\n".join(entry.stanza() for entry in entries)
    folder = cache / "apt" / hashlib.sha256(text.encode()).hexdigest()[:16]
    if '"' in str(folder):
        raise InfrastructureError(f'{folder}: apt cannot work in a folder with " in its name')
    for part in ("lists/partial", "cache/archives/partial"):
        make_folder(folder / part)
    settings = {
        "Dir::State::Lists": folder / "lists",
        "Dir::Etc::SourceList": folder / "burnish.sources",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",  # the folder is private, apt's own user has no access to it
        "APT::Update::Error-Mode": "any",  # one missing suite is a failure, not a warning
    }
    # The host's update hooks are for its own lists: they notify desktops, and clear its caches.
    hooks = "#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n"
    hooks += "#clear APT::Update::Post-Invoke-Success;\n"
    lines = "".join(f'{key} "{value}";\n' for key, value in settings.items())
    (folder / "apt.conf").write_text(lines + hooks)
    private = PrivateApt(folder, entries)
    if not (folder / "burnish.sources").exists():
        (folder / "burnish.sources").write_text(text)
    return private
