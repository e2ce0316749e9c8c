"""A recipe's patches: read, named by their content, and tried on the source before anything is built."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    """The path of a recipe's patch, with or without ``-R`` before it."""
    return Path(word.removeprefix(REVERTED).strip()).expanduser()


def read(variant: Variant) -> tuple[Patch, ...]:
    """The recipe's patches, in order.

    Raises:
        UserError: one can't be read, is empty, or is no unified diff.
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
        where: begins a complaint.
        hint: said behind one that it can't be read.
        reverted: whether it is to be taken out of the source.

    Raises:
        UserError: it can't be read, is empty, or is no unified diff.
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


def source_digest(source: str, found: Sequence[Patch]) -> str:
    """Names the patched source: the clean one's own digest when there are no patches."""
    if not found:
        return source
    return digest_of([source, *((patch.reverted, patch.sha256) for patch in found)], 64)


def pins(variants: Iterable[Variant]) -> dict[str, list[str]]:
    """By variant with patches, the digests of their content: what makes a study with other patches another study."""
    return {variant.name: [patch.sha256 for patch in read(variant)] for variant in variants if variant.recipe.patches}


def open_tree(digest: str, place: Path, folder: Path | None = None) -> Path | None:
    """Where the files of a source lie open; None where they would have to be unpacked first.

    Args:
        digest: the source's.
        place: where it is unpacked to: while something else lies there, another source or a patched tree, it is not it.
        folder: the folder that it is copied from, if it is.
    """
    return place if sources.is_unpacked(digest, place) else folder


def fitted(variant: Variant, tree: Path | None) -> tuple[tuple[Patch, ...], tuple[str, ...]]:
    """A variant's patches, tried on `tree`, and notes on hunks that fitted elsewhere than they say.

    Without a tree, as in a forecast before the source is unpacked, they are read only.

    Raises:
        UserError: one is no patch or does not apply; names variant, patch, file and hunk.
    """
    found = read(variant)
    if not found or tree is None:
        return found, ()
    marker = read_json(tree / overlay.MARKER)
    what = f"{marker.get('name', tree)} {marker.get('version', '')}".strip()
    try:
        return found, fit(found, tree, what)
    except UserError as error:
        raise UserError(f"variant {variant.name}: patch {error}") from None


def fit(found: Sequence[Patch], tree: Path, what: str) -> tuple[str, ...]:
    """Applies patches to copies of the files that they name; returns notes on hunks that fitted elsewhere.

    Raises:
        UserError: one does not apply, would write outside, is in the source already, or (to be reverted) is not.
    """
    notes: tuple[str, ...] = ()
    for number, patch in enumerate(found):
        try:
            notes = attempt(found[: number + 1], tree, what)
        except PatchError:
            if refusal((*found[:number], patch.turned), tree, what) is not None:
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


def refusal(found: Sequence[Patch], tree: Path, what: str) -> PatchError | None:
    """Why these patches, in this order, do not apply; None where they do."""
    try:
        attempt(found, tree, what)
    except PatchError as error:
        return error
    return None


def attempt(found: Sequence[Patch], tree: Path, what: str) -> tuple[str, ...]:
    """Applies patches to copies of the files that they name; as `patches.apply`, with its errors."""
    with tempfile.TemporaryDirectory(prefix="burnish-patch-") as name:
        scratch = Path(name) / "tree"
        scratch.mkdir()
        for file in overlay.touched(found):
            if (tree / file).is_file():
                target = scratch / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(tree / file, target, follow_symlinks=False)
        return patches.apply(found, scratch, what=what, exact=False)


def facts(found: Sequence[Patch]) -> list[dict[str, object]]:
    """What a build's description says of its patches."""
    return [
        {"file": kept_name(number, patch), "reverted": patch.reverted, "sha256": patch.sha256}
        for number, patch in enumerate(found, 1)
    ]


def keep(found: Sequence[Patch], folder: Path) -> None:
    """Writes the patches as they were applied into `folder`, made if need be."""
    for number, patch in enumerate(found, 1):
        target = folder / kept_name(number, patch)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(patch.content)


def kept_name(number: int, patch: Patch) -> str:
    """The name under which a patch is kept: its place in the order, then its own."""
    return f"patches/{number:02}-{re.sub(r'[^A-Za-z0-9._+-]+', '-', patch.path.name)}"
