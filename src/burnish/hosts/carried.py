"""Files of the user's that a command names, as they travel to other hosts: by their digest.

A patch, a script, a file of recipes, a source (a revision of a repository as a folder): the word that names it is
replaced by a place in the home of the host that runs the command. What a script requires and the patches that a file of
recipes names go with it. What is a path on every host by nature (programs of `compare`, ``--release``,
``storage=/FOLDER``) stays as it is, and so does every other word, whatever files happen to be called so.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.base import temporary
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.paths import Home
from burnish.engines.shared import own_script
from burnish.hosts.place import folder as hosts_folder
from burnish.model.recipe import REVERTED
from burnish.source import revisions
from burnish.source.archives import extract_all
from burnish.workload import loads

MOST_BYTES = 64_000_000
"""Files of a command are sent with each of its tasks."""

FILES = ("--recipes", "--defaults-file", "--space")
"""Options that name a file of the user's."""

FOLDERS = ("--source",)
"""Options that name a file, a folder, or a revision of a repository."""

LOADS = ("--workload", "--load", "--workloads", "--guard")
"""Options that name loads, some of which may be files."""

FLAGS = (
    *("--all", "--dry-run", "--emulate", "--explore", "--force", "--fresh", "--full", "--json", "--keep-cached"),
    *("--portability", "--quiet", "--strict", "--why", "--yes"),
)
"""Options of the verbs that run on hosts after which no value comes."""

SHORT = ("-R",)
"""Options of one letter after which a value comes."""

PATCH = "patch"
"""The verb whose arguments name files."""

_LOAD = re.compile(rf"(?:^|(?<=[:,]))[^:,=]*(?:{'|'.join(map(re.escape, loads.FILES))})(?![^:,=])")
"""A load's file in a word, by itself or within a mix."""

_PLACE = re.compile(r"\{burnish-file:([0-9a-f]{64}):([^{}/]+)\}")


@dataclass(frozen=True)
class Carried:
    """A command with its files.

    Attributes:
        words: the command's words; each file's path is replaced by a mark with its digest.
        files: content by SHA-256; of a folder, its tar.
        folders: digests of those that are folders.
    """

    words: tuple[str, ...]
    files: Mapping[str, bytes]
    folders: tuple[str, ...] = ()


def carried(words: Sequence[str], keep: Sequence[str] = ()) -> Carried:
    """A command with the files that it names.

    Args:
        words: the command's, as typed in the current folder.
        keep: arguments that stay as they are though there are files of these names: engines.

    Raises:
        UserError: the files are too large to be sent, or a repository lacks the revision.
    """
    files: dict[str, bytes] = {}
    folders: list[str] = []

    def part(text: str, *, folder: bool = False) -> str:
        path = Path(text)
        if not text:
            return text
        name, is_folder, inside = path.resolve().name, path.is_dir(), ""
        if path.is_file() and (others := _beside(path)):
            content, name, is_folder, inside = _packed(path.parent, [path, *others]), "files", True, f"/{path.name}"
        elif path.is_file():
            content = path.read_bytes()
        elif folder and is_folder:
            content = _packed(path)
        elif folder and revisions.is_revision(path):
            name, content, is_folder = *_of_revision(path), True
        else:
            return text
        digest = hashlib.sha256(content).hexdigest()
        files[digest] = content
        if is_folder:
            folders.append(digest)
        return f"{{burnish-file:{digest}:{name}}}{inside}"

    def value_of(option: str, value: str) -> str:
        if option in LOADS:
            return _LOAD.sub(lambda found: part(found[0]), value)
        return part(value, folder=option in FOLDERS) if option in (*FILES, *FOLDERS) else value

    def argument(word: str) -> str:
        if word in keep:
            return word
        if word.startswith(REVERTED):
            return f"{REVERTED}{part(word.removeprefix(REVERTED).strip())}"
        return part(word, folder=word.startswith((".", "/")))

    if any(word.partition("=")[0] == "--data" for word in words):
        raise UserError("--data with --hosts: your own data stay on this host; measure them here, without --hosts")
    sent, verb, before, ended = [], "", "", False
    for word in words:
        option, equals, value = word.partition("=")
        if before:
            sent.append(value_of(before, word))
            before = ""
        elif word == "--" and not ended:
            sent.append(word)
            ended = True
        elif ended or not word.startswith("-") or word.startswith(REVERTED):
            sent.append(argument(word) if verb == PATCH else word)
            verb = verb or word
        elif equals:
            sent.append(f"{option}={value_of(option, value)}")
        else:
            sent.append(word)
            before = word if word in SHORT or (word.startswith("--") and word not in FLAGS) else ""
    size = sum(map(len, files.values()))
    if size > MOST_BYTES:
        raise UserError(
            f"--hosts: the files that the command names have {size / 1e6:,.0f} MB, at most {MOST_BYTES / 1e6:,.0f} MB "
            "are sent to each host; name a source package's version instead (--source-version)"
        )
    return Carried(tuple(sent), files, tuple(folders))


def _of_revision(source: Path) -> tuple[str, bytes]:
    """A revision's files as a tar, and the name of their folder, by whose end a version is known."""
    revision = revisions.revision_of(source)
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as place:
        packed = Path(place) / "files.tar"
        revisions.pack(revision, packed)
        return re.sub(r"[^\w.+~-]", "-", f"{revision.folder.resolve().name}-{revision.name}"), packed.read_bytes()


def _beside(path: Path) -> list[Path]:
    """The files beside a user's file without which it is not whole, in order.

    Raises:
        UserError: one of them lies elsewhere.
    """
    if path.suffix == ".lua":
        found = own_script.files(path)[1:]
    elif path.suffix == ".toml":
        found = [path.parent / word.removeprefix(REVERTED).strip() for word in _patches(path)]
    else:
        found = []
    for other in found:
        if not other.resolve().is_relative_to(path.parent.resolve()):
            raise UserError(f"{path}: needs {other}, and hosts get only what lies in its folder; put it there")
    return [other for other in dict.fromkeys(found) if other.is_file()]


def _patches(path: Path) -> list[str]:
    """The patches that a file of recipes names by paths relative to it; none of a file that is something else."""
    try:
        entries = tomllib.loads(path.read_text()).values()
    except (OSError, ValueError):
        return []
    recipes = [entry.get("recipe") for entry in entries if isinstance(entry, dict)]
    words = [recipe.get("patches") for recipe in recipes if isinstance(recipe, dict)]
    named = [word for several in words if isinstance(several, list) for word in several if isinstance(word, str)]
    return [word for word in named if not word.removeprefix(REVERTED).strip().startswith(("/", "~"))]


def _packed(place: Path, only: Sequence[Path] | None = None) -> bytes:
    """A folder, or some files of it, as a tar that is the same for the same content."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        return entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", dereference=only is not None) as tar:
        for path in sorted(place.rglob("*") if only is None else only):
            tar.add(path, path.relative_to(place), recursive=False, filter=plain)
            if buffer.tell() > MOST_BYTES * 4:
                break  # too large in any case
    return buffer.getvalue()


def laid(home: Home, sent: Carried) -> tuple[str, ...]:
    """Lays a command's files down in a home and returns its words with their paths there.

    Raises:
        InfrastructureError: a file is not what its digest says.
    """
    places: dict[str, Path] = {}
    for digest, content in sent.files.items():
        if hashlib.sha256(content).hexdigest() != digest:
            raise InfrastructureError(f"a file of the command arrived changed: its SHA-256 is not {digest}")
        places[digest] = hosts_folder(home) / "files" / digest

    def path_of(match: re.Match[str]) -> str:
        digest, name = match.groups()
        target = places[digest] / name
        if not target.exists():
            _lay(target, sent.files[digest], folder=digest in sent.folders)
        return str(target)

    return tuple(_PLACE.sub(path_of, word) for word in sent.words)


def _lay(target: Path, content: bytes, *, folder: bool) -> None:
    draft = target.with_name(f".draft-{target.name}")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            extract_all(tar, draft, target)
    else:
        draft.write_bytes(content)
    draft.rename(target)


def without(words: Sequence[str], options: Mapping[str, bool]) -> tuple[str, ...]:
    """Words without these options.

    Args:
        words: a command's.
        options: by option, whether it takes a value.
    """
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name not in options:
            kept.append(word)
        elif options[name] and not equals:
            next(rest, None)
    return tuple(kept)
