"""A recipe's patches: reads them, computes their digests, and tries them on the source before anything is built."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from burnish.base import temporary
from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.base.files import read_json
from burnish.model.recipe import REVERTED, Variant
from burnish.source import sources
from burnish.source.patches import overlay
from burnish.source.patches import patch as patches
from burnish.source.patches.patch import Patch, PatchError

_UNIFIED = re.compile(rb"^(@@ -\d|rename from |deleted file mode |new file mode )", re.M)


def path_of(word: str) -> Path:
    """The path of a recipe's patch, which may begin with ``-R``."""
    return Path(word.removeprefix(REVERTED).strip()).expanduser()


def read(variant: Variant) -> tuple[Patch, ...]:
    """The recipe's patches, in order.

    Raises:
        UserError: a patch can't be read, is empty, or is not a unified diff.
    """
    return tuple(
        read_one(
            path_of(word),
            f"variant {variant.name}: patch {path_of(word)}",
            hint="; a path in a recipe is relative to the recipe's file",
            reverted=word.startswith(REVERTED),
        )
        for word in variant.recipe.patches
    )


def read_one(path: Path, where: str, *, hint: str = "", reverted: bool = False) -> Patch:
    """A patch from its file.

    Args:
        path: the file.
        where: prefix of error messages.
        hint: suffix of the message if it can't be read.
        reverted: whether it is to be reverted.

    Raises:
        UserError: it can't be read, is empty, or is not a unified diff.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{where}: cannot be read ({error.strerror}){hint}") from None
    if not content.strip():
        raise UserError(f"{where}: the file is empty; name a unified diff, or leave it out")
    if not _UNIFIED.search(content):
        raise UserError(f"{where}: holds no unified diff; make one with `diff -u` or `git diff`")
    return Patch(path, content, reverted)


def source_digest(source: str, patch_list: Sequence[Patch]) -> str:
    """Digest of the patched source; without patches, the clean source's digest."""
    if not patch_list:
        return source
    return digest_of([source, *((patch.reverted, patch.sha256) for patch in patch_list)], 64)


def pins(variants: Iterable[Variant]) -> dict[str, list[str]]:
    """By variant with patches, the patches' digests, so that a study with other patches is another study."""
    return {variant.name: [patch.sha256 for patch in read(variant)] for variant in variants if variant.recipe.patches}


def open_tree(digest: str, place: Path, folder: Path | None = None) -> Path | None:
    """A folder with the files of a source; None if it would have to be unpacked first.

    Args:
        digest: digest of the source.
        place: path that sources are unpacked to; used only if this source is there.
        folder: the folder that the source is copied from, if any.
    """
    return place if sources.is_unpacked(digest, place) else folder


def fitted(variant: Variant, tree: Path | None) -> tuple[tuple[Patch, ...], tuple[str, ...]]:
    """A variant's patches, tried on `tree`, and notes on hunks that apply at another line than stated.

    Without a tree (in a forecast before the source is unpacked), they are only read.

    Raises:
        UserError: a patch is invalid or does not apply; the message names variant, patch, file and hunk.
    """
    patch_list = read(variant)
    if not patch_list or tree is None:
        return patch_list, ()
    marker = read_json(tree / overlay.MARKER)
    what = f"{marker.get('name', tree)} {marker.get('version', '')}".strip()
    try:
        return patch_list, fit(patch_list, tree, what)
    except UserError as error:
        raise UserError(f"variant {variant.name}: patch {error}") from None


def fit(patch_list: Sequence[Patch], tree: Path, what: str) -> tuple[str, ...]:
    """Applies patches to copies of the files that they name; returns notes on hunks applied at another line.

    Raises:
        UserError: a patch does not apply, would write outside, is in the source already, or (to be reverted) is not.
    """
    notes: tuple[str, ...] = ()
    for number, patch in enumerate(patch_list):
        try:
            notes = attempt(patch_list[: number + 1], tree, what)
        except PatchError:
            if refusal((*patch_list[:number], patch.turned), tree, what) is not None:
                raise
            if patch.reverted:
                raise UserError(
                    f"{patch.path}: {what} does not have it, so it cannot be taken out; "
                    "leave -R out to apply it, or leave the patch out"
                ) from None
            raise UserError(
                f"{patch.path}: {what} has it already; leave it out, or write '-R {patch.path}' to take it out"
            ) from None
    return notes


def refusal(patch_list: Sequence[Patch], tree: Path, what: str) -> PatchError | None:
    """Why these patches, in this order, do not apply; None if they do."""
    try:
        attempt(patch_list, tree, what)
    except PatchError as error:
        return error
    return None


def attempt(patch_list: Sequence[Patch], tree: Path, what: str) -> tuple[str, ...]:
    """Like `patches.apply`, with its errors, but on copies of the files that the patches name."""
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as name:
        scratch = Path(name) / "tree"
        scratch.mkdir()
        for file in overlay.touched(patch_list):
            if (tree / file).is_file():
                target = scratch / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / file, target, follow_symlinks=False)
        return patches.apply(patch_list, scratch, what=what, exact=False)


def facts(patch_list: Sequence[Patch]) -> list[dict[str, object]]:
    """Facts about the patches for a build's description."""
    return [
        {"file": kept_name(number, patch), "reverted": patch.reverted, "sha256": patch.sha256}
        for number, patch in enumerate(patch_list, 1)
    ]


def keep(patch_list: Sequence[Patch], folder: Path) -> None:
    """Writes the applied patches into `folder`, created if needed."""
    for number, patch in enumerate(patch_list, 1):
        target = folder / kept_name(number, patch)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(patch.content)


def kept_name(number: int, patch: Patch) -> str:
    """The name under which a patch is kept: its number in the order, then its own name."""
    return f"patches/{number:02}-{re.sub(r'[^A-Za-z0-9._+-]+', '-', patch.path.name)}"
