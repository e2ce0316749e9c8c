"""Merges profiles: each part's counts times its weight, with the tools of their compiler's family."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.model.engine import EngineSpec
from burnish.profiles.collecting import DATA, check_digest, describe, profile_digest
from burnish.profiles.sampling import merge_gcc_samples
from burnish.profiles.stages import Merge
from burnish.record.store import MADE_WITH, Entry, Store
from burnish.toolchain import counts, gcda


def merge(stage: Merge, spec: EngineSpec, store: Store, bench: Workbench, name: str) -> Entry:
    """Merges profiles; returns the result's entry in the store.

    Args:
        stage: parts and weights.
        spec: the engine that they belong to.
        store: where they are read and the result is written.
        bench: runs the merge tools.
        name: for messages.

    Raises:
        InfrastructureError: a part is missing or has changed, a tool failed, or the result is not usable.
    """
    began = time.monotonic()
    parts = []
    for key, weight in stage.parts:
        entry = store.find("profiles", key)
        if entry is None:
            raise InfrastructureError(f"profile {key} is not in the store; run the same command again")
        check_digest(entry)
        parts.append((entry, weight))
    folder = store.begin("profiles", stage.key)
    entries = [entry for entry, _ in parts]
    weights = counts.whole_weights([weight for _, weight in parts])
    _merge_data(stage, entries, weights, folder, bench, name)
    spread = [run for entry in entries for run in entry.about["training"]]
    again = all(entry.about.get("second_round_alone") for entry in entries)
    facts = describe(stage.kind, folder, stage.toolchain, spec.covered, bench, name=name, again=again)
    digest = profile_digest(folder)
    made_with = {key: value for entry in entries for key, value in entry.made_with.items()}
    return store.admit(
        "profiles",
        stage.key,
        {
            **facts,
            "engine": spec.name,
            "kind": stage.kind,
            # gcc's functions are named by the first part's build; all parts come from equal sources.
            "build": entries[0].about.get("build"),
            "source": stage.source or None,
            "toolchain": stage.toolchain.name if stage.kind != "bolt" else entries[0].about.get("toolchain"),
            "place": entries[0].about.get("place"),
            "training": spread,
            "training_seed": entries[0].about.get("training_seed", 0),
            "merged": [[entry.key, weight] for entry, weight in parts],
            "digest": digest,
            MADE_WITH: made_with | {stage.key: digest},
            "seconds": time.monotonic() - began,
        },
    )


def _merge_data(
    stage: Merge, entries: Sequence[Entry], weights: Sequence[int], folder: Path, bench: Workbench, name: str
) -> None:
    target = folder / DATA[stage.kind]
    files = [entry.folder / DATA[stage.kind] for entry in entries]
    if stage.kind == "bolt":
        texts = [
            (path.read_text(encoding="utf-8", errors="replace"), weight)
            for path, weight in zip(files, weights, strict=True)
        ]
        target.write_text(counts.weighted_fdata(texts), encoding="utf-8")
    elif stage.kind == "gcc":
        _merge_gcda(files, weights, target)
    elif stage.kind == "gcc-samples":
        merge_gcc_samples(files, weights, target, bench, name)
    else:
        words = [str(stage.toolchain.profdata), "merge", *(["--sample"] if stage.kind == "clang-samples" else [])]
        words += [f"--weighted-input={weight},{path}" for path, weight in zip(files, weights, strict=True)]
        bench.run("merge", [*words, "-o", target]).check(f"{name}: merging profiles")


def _merge_gcda(folders: Sequence[Path], weights: Sequence[int], target: Path) -> None:
    """Adds up the counter files of each object; an object may be missing in some parts."""
    parts: dict[str, list[tuple[Path, int]]] = {}
    for folder, weight in zip(folders, weights, strict=True):
        for path in sorted(folder.rglob("*.gcda")):
            parts.setdefault(str(path.relative_to(folder)), []).append((path, weight))
    for name, files in parts.items():
        out = target / name
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(gcda.write(gcda.added((gcda.read(path.read_bytes()), weight) for path, weight in files)))
