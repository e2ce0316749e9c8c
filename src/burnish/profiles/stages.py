"""How a recipe gets its profile: training on one load or on several with weights, merges, kept profiles; pure.

A training run is named by (instrumented build, workloads, seconds, seed), so all recipes that train the same build in
the same way share it. Runs on single workloads are merged with the recipe's weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from burnish.base.digest import digest_of
from burnish.base.errors import UnavailableError, UserError
from burnish.model.recipe import Recipe, Variant
from burnish.model.workload import OWN_TESTS
from burnish.toolchain.toolchains import Toolchain

ProfileKind = Literal["gcc", "clang", "bolt", "gcc-samples", "clang-samples"]

Runs = tuple[tuple[str, float], ...]
"""(workload, seconds) of a training run, in order."""


@dataclass(frozen=True)
class Train:
    """Stage: run the training workloads on a build and collect the profile.

    Attributes:
        key: content address of the profile.
        build: key of the build that is loaded: instrumented, or an ordinary one for branch samples.
        kind: whose profile it is.
        toolchain: the toolchain of the build.
        training: (workload, seconds), in order.
        title: for people.
        seed: replicate of the training; random seed of the load's keys.
        source: digest of the source that the build was made from.
        context_sensitive: whether the counters were placed after inlining (clang's second round).
        sampled: whether the profile comes from branch records (LBR) that perf samples.
    """

    key: str
    build: str
    kind: ProfileKind
    toolchain: Toolchain
    training: Runs
    title: str
    seed: int = 0
    source: str = ""
    context_sensitive: bool = False
    sampled: bool = False


@dataclass(frozen=True)
class Merge:
    """Stage: merge several profiles into one.

    Attributes:
        key: content address of the profile.
        kind: of all parts and of the result.
        toolchain: whose tools merge them.
        parts: (key of a profile, weight that its counts are multiplied by).
        title: for people.
        source: digest of the source that they were trained on.
    """

    key: str
    kind: ProfileKind
    toolchain: Toolchain
    parts: tuple[tuple[str, float], ...]
    title: str
    source: str = ""


@dataclass(frozen=True)
class Kept:
    """A profile of the store that a recipe names.

    Attributes:
        name: as in the recipe.
        key: its key in the store.
        engine: the engine that it belongs to.
        kind: whose profile it is.
        source: digest of the source that it was trained on; None if not known (imported ones).
        toolchain: name of the compiler that the trained build was made with; None if not known.
        second_round: whether it has context-sensitive counters.
    """

    name: str
    key: str
    engine: str
    kind: ProfileKind
    source: str | None
    toolchain: str | None
    second_round: bool = False


@dataclass(frozen=True)
class TrainingPlan:
    """What a recipe trains on.

    Attributes:
        usual: the engine's training, in one run, for recipes without weights.
        weights: (workload, weight) of the recipe; empty for the usual training.
        seed: replicate of the training.
        source: digest of the source.
        tests: names of the engine's own tests, for a recipe that trains on them.
        tests_s: seconds that they take.
    """

    usual: Runs
    weights: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    source: str = ""
    tests: tuple[str, ...] = ()
    tests_s: float = 0.0

    def stages(
        self,
        build: str,
        kind: ProfileKind,
        toolchain: Toolchain,
        *,
        title: str,
        context_sensitive: bool = False,
        sampled: bool = False,
    ) -> list[Train | Merge]:
        """The stages whose last one is the profile of `build`.

        With weights, each workload runs as long as the longest of the engine's own training, so a weight is a share of
        load time, independent of the engine's seconds. The engine's own tests run once, as long as they take.
        """

        def run(training: Runs, title: str) -> Train:
            named: list[object] = [build, training]
            if self.seed or sampled:
                named += [self.seed, sampled]
            if any(workload == OWN_TESTS for workload, _ in training):
                named.append(self.tests)
            return Train(
                key=digest_of(named),
                build=build,
                kind=kind,
                toolchain=toolchain,
                training=training,
                title=title,
                seed=self.seed,
                source=self.source,
                context_sensitive=context_sensitive,
                sampled=sampled,
            )

        if not self.weights:
            return [run(self.usual, title)]
        seconds = max(duration for _, duration in self.usual)
        lengths = {OWN_TESTS: self.tests_s}
        runs = [
            run(((workload, lengths.get(workload, seconds)),), f"{title} on {workload}") for workload, _ in self.weights
        ]
        if len(runs) == 1:
            return list(runs)
        parts = tuple((run.key, weight) for run, (_, weight) in zip(runs, self.weights, strict=True))
        return [*runs, merged(parts, kind, toolchain, title=f"{title}, merged", source=self.source)]


def merged(
    parts: tuple[tuple[str, float], ...], kind: ProfileKind, toolchain: Toolchain, *, title: str, source: str
) -> Merge:
    """The stage that merges these profiles; equal parts and weights have an equal key."""
    return Merge(digest_of(["merge", kind, parts]), kind, toolchain, parts, title, source)


def compiler_kind(recipe: Recipe, toolchain: Toolchain) -> ProfileKind:
    """The kind of profile that the recipe's compiler uses."""
    if toolchain.family == "clang":
        return "clang-samples" if recipe.sampled else "clang"
    return "gcc-samples" if recipe.sampled else "gcc"


def check_training(variant: Variant, toolchain: Toolchain, *, lbr: bool) -> None:
    """Refuses contradictions in how a recipe gets its profile, and requests that this host cannot fulfil."""
    recipe, name = variant.recipe, f"variant {variant.name}"
    trains = recipe.pgo or recipe.bolt
    if not recipe.pgo:
        for field in ("context_sensitive", "partial_training", "sampled"):
            if getattr(recipe, field):
                raise UserError(f"{name}: {field} = true says how a profile is trained or used; it needs pgo = true")
    if not trains:
        for field in ("training", "training_seed", "profile"):
            if getattr(recipe, field):
                raise UserError(f"{name}: {field} does nothing without pgo = true or bolt = true; add one of them")
    if recipe.bolt_options and not recipe.bolt:
        raise UserError(f"{name}: bolt_options do nothing without bolt = true; add it, or leave them out")
    if recipe.context_sensitive and toolchain.family != "clang":
        raise UserError(f"{name}: context_sensitive needs clang, found {toolchain.name}")
    if recipe.partial_training and toolchain.family != "gcc":
        raise UserError(f"{name}: partial_training is gcc's (-fprofile-partial-training), found {toolchain.name}")
    if recipe.context_sensitive and recipe.sampled:
        raise UserError(f"{name}: context_sensitive is a second round of counters, sampled has none; take one of them")
    for workload, weight in recipe.training:
        if not weight > 0:
            raise UserError(f"{name}: training: weight of {workload} is {weight:g}; give a number above 0")
    workloads = [workload for workload, _ in recipe.training]
    if len(set(workloads)) < len(workloads):
        raise UserError(f"{name}: training names a workload twice ({', '.join(workloads)}); give each one weight")
    if OWN_TESTS in workloads and recipe.sampled:
        raise UserError(f"{name}: {OWN_TESTS} start servers of their own, which can't be sampled; leave sampled out")
    if recipe.profile is not None:
        _check_profile_alone(recipe, name)
    elif recipe.sampled and not lbr:
        raise UnavailableError(
            f"{name}: sampled: this host gives no branch records (`perf record -j any` fails here, as in most virtual "
            "machines); take counters instead (sampled = false), or a profile sampled elsewhere (profile = NAME)"
        )


def _check_profile_alone(recipe: Recipe, name: str) -> None:
    for field in ("training", "training_seed", "context_sensitive"):
        # With a kept compiler profile, BOLT still has its own training.
        if getattr(recipe, field) and not (recipe.bolt and recipe.pgo and field != "context_sensitive"):
            raise UserError(f"{name}: profile = {recipe.profile!r} is used instead of training one; leave {field} out")


def check_kept(variant: Variant, kept: Kept, toolchain: Toolchain, *, engine: str) -> None:
    """Refuses a kept profile that is not for this engine or compiler.

    One of another source is taken, such as of an older release: the build says how much of it still matches
    (`burnish.profiles.matching`), and fails if that is little.
    """
    name = f"variant {variant.name}: profile {kept.name}"
    recipe = variant.recipe
    if kept.engine != engine:
        raise UserError(f"{name} belongs to {kept.engine}, this is {engine}; take one that was trained on {engine}")
    wanted = [compiler_kind(recipe, toolchain)] if recipe.pgo else []
    wanted += ["bolt"] if recipe.bolt else []
    if kept.kind not in wanted:
        what = " or ".join(wanted)
        raise UserError(
            f"{name} is a profile of kind {kept.kind}, the recipe ({toolchain.name}) uses {what}; "
            "`burnish profile list` shows the kinds"
        )
    if kept.toolchain is None or kept.kind == "bolt":
        return
    theirs, own = major(kept.toolchain), toolchain.major
    if kept.kind == "gcc" and theirs != own:
        raise UserError(
            f"{name} was trained with {kept.toolchain}, found {toolchain.name}; gcc reads its own version's"
        )
    if kept.kind == "clang" and theirs > own:
        raise UserError(
            f"{name} was trained with {kept.toolchain}; {toolchain.name} cannot read a newer format than its own"
        )


def major(toolchain: str) -> int:
    """The major version in a toolchain's name (12 of gcc-12); 0 if there is none."""
    digits = toolchain.rpartition("-")[2].partition(".")[0]
    return int(digits) if digits.isdigit() else 0
