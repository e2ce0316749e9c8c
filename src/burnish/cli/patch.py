"""The verb that studies patches."""

from __future__ import annotations

from dataclasses import replace

from burnish.base import paths
from burnish.cli import completion, readers
from burnish.cli import options as o
from burnish.cli.common import asker, progress, verb
from burnish.cli.declaration import Argument
from burnish.cli.measuring import measure
from burnish.study.constructors.patch import Asked, patch_study
from burnish.study.request.options import Options


@verb(
    "patch",
    Argument("target", "TREE", "A source tree, or an engine: {engines}.", complete=completion.one(completion.engines)),
    Argument(
        "words",
        "PATCH",
        "Patch files (-p1), a quilt series (its file or folder), or a git range A..B of the tree (FOLDER:A..B of "
        "another).",
        readers.verbatim,
        many=True,
    ),
    o.VARIANT,
    o.REVERSE,
    o.RECIPES,
    replace(o.ENGINE_OPTION, unset="found out"),
    o.FEATURES,
    o.SOURCE_VERSION,
    o.SHA256,
    *o.PORTABILITY,
    *o.REPLICATES,
    *o.LOAD,
    *o.DEPLOYMENT,
    *o.EXPLANATION,
    *o.HOW_EXACTLY,
    o.JOBS,
    *o.SESSION,
    *o.TIME,
    o.FULL,
    o.JSON,
    example="burnish patch {engine} crc32c.patch spin.patch --workload {workload} --why",
    resumes=True,
)
def patch(
    target: str,
    words: tuple[str, ...],
    variant: str,
    reverse: tuple[str, ...],
    engine: str | None,
    options: Options,
    as_json: bool,
    full: bool,
    dry_run: bool,
) -> None:
    """Measure what each patch of a series does for a workload.

    Each is measured alone, together with the others, and left out of all of them.
    """
    home = paths.home()
    asked = Asked(target, words, engine, variant, reverse=reverse)
    study = patch_study(home, asked, options, progress, asker())
    measure(study, options, as_json, dry_run, full=full)
