"""The plan of a study's builds: its steps, which are cached, what each will cost; pure.

Estimates come from earlier costs of the same steps on this host, otherwise from the engine's rough figures. The
latter, and costs of other variants' steps, are guesses and are shown with a "~".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from burnish.base.durations import duration
from burnish.base.reasons import by_reason
from burnish.builds.after_link.stage import AfterLink
from burnish.builds.sharing import (
    ANY_SOURCE,
    changed_share,
    from_cache,
    in_order,
    kept_as,
    needed,
    objects_key,
    of_its_compiler,
    outdated,
    partly_from_cache,
    read_before,
    reading_key,
    relatives,
    without,
)
from burnish.builds.stages import Bolt, Compile, Stage
from burnish.engines.jobs import has_lto
from burnish.model.engine import EngineSpec
from burnish.record.costs import Figure, History

RELINK_SHARE = 0.12
"""Guess at a compile step whose objects come from the cache, in shares of a full one (MariaDB: 58 s of 480 s)."""
BOLT_SHARE = 0.03
"""Guess at a BOLT step (MariaDB: 16 s of 480 s)."""
TRAINING_SHARE = 1.6
"""Guess at a training step with boot, data, merge and audit of the profile, in shares of the training itself."""

_RECORDED_AS = {"relink": from_cache, "read": read_before}
"""By kind of compile step, under which name costs of its like are recorded."""

NOTHING = Figure(0.0, known=True)

INSIDE = ("link", "made")
"""Fields of a step that are in no document."""

_GUIDES = ("relink", "reread", "guessed")
"""Fields of a plan that are in no document."""


@dataclass(frozen=True)
class Step:
    """One step of a plan.

    Attributes:
        kind: ``source``, ``compile`` (every object), ``partial`` (most objects come from the compiler cache: the same
            recipe's without its patches, or not static), ``relink`` (all of them do), ``read`` (all sources were read
            for another build), ``training``, ``merge``, ``bolt``, ``dataset``, ``gate``, ``trials`` or ``again`` (the
            winner measured again).
        title: for people.
        variants: the variants that it is for; the first makes it, the others share it.
        key: its name in the store; '' for trials.
        cached: whether it is in the store.
        seconds: expected wall time; 0 if it is cached.
        kept: bytes that it adds to the store.
        tree: maximum size of its build folder, bytes; None if it has none.
        peak: largest resident set of any one process, bytes; None if not known.
        cache_use: use of the compiler cache when it was made, in words; '' if not known.
        same: whether it is known to be the baseline's code, which is neither tested nor measured.
        link: largest resident set of its link where that compiles (link-time optimisation), bytes; else None. For what
            is checked before the first step; not in documents.
        made: wall time of making it, cached or not, for a search's costs; not in documents.
    """

    kind: str
    title: str
    variants: tuple[str, ...]
    key: str
    cached: bool
    seconds: Figure
    kept: Figure = NOTHING
    tree: Figure | None = None
    peak: Figure | None = None
    cache_use: str = ""
    same: bool = False
    link: Figure | None = None
    made: Figure = NOTHING


@dataclass(frozen=True)
class Plan:
    """All steps of a study in the order in which they will be made.

    Attributes:
        engine: the engine's name.
        source: the source in words, and whether it must be fetched.
        steps: the steps.
        left_out: variants that cannot be built on this host, each with the reason.
        to_install: system packages that will be installed first, after asking.
        lacking: of variants that are left out, the system packages with which they could be built, where known.
        relink: wall time of a compile whose objects are all there, as it last was; None: not known. Not in documents.
        reread: the same of one whose sources clang had read before.
        guessed: seconds of a full compile by the engine's rough figure, and on the slowest host of which one is
            recorded; None: this host has compiled, or there is no such record. Not in documents.
    """

    engine: str
    source: str
    steps: tuple[Step, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    to_install: tuple[str, ...] = ()
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    relink: Figure | None = None
    reread: Figure | None = None
    guessed: tuple[float, float] | None = None

    @property
    def later(self) -> tuple[str, ...]:
        """Variants that are left out of this plan only: all that they lack will be installed first."""
        return tuple(name for name, packages in self.lacking.items() if {*packages} <= {*self.to_install})

    @property
    def ahead(self) -> tuple[Step, ...]:
        """The steps that are not done yet."""
        return tuple(step for step in self.steps if not step.cached)

    @property
    def building(self) -> tuple[Step, ...]:
        """The steps that are not done yet, without the trials."""
        return tuple(step for step in self.ahead if step.kind not in ("trials", "again", "source"))

    @property
    def expected(self) -> dict[str, float]:
        """Seconds of the steps that are not done yet, by key and by "VARIANT: TITLE".

        The latter is for plans that were made before the source was fetched: keys change with its digest.
        """
        named = {f"{name}: {step.title}": step.seconds.value for step in self.ahead for name in step.variants}
        return named | {step.key: step.seconds.value for step in self.ahead if step.key}

    @property
    def full_compiles(self) -> int:
        """Number of builds of which every object must be compiled."""
        return sum(step.kind == "compile" for step in self.ahead)

    @property
    def compiles(self) -> int:
        """Number of builds of which some object must be compiled."""
        return sum(step.kind in ("compile", "partial", "read") for step in self.ahead)

    @property
    def seconds(self) -> Figure:
        """Expected wall time of the steps that are not done yet."""
        return sum((step.seconds for step in self.ahead), NOTHING)

    @property
    def kept(self) -> Figure:
        """Bytes that the store will grow by."""
        return sum((step.kept for step in self.ahead), NOTHING)

    @property
    def tree(self) -> Figure:
        """Size of the largest build folder, bytes."""
        return _largest(step.tree for step in self.ahead)

    @property
    def peak(self) -> Figure | None:
        """Size of the largest process, bytes; None if no size is known."""
        peaks = [step.peak for step in self.ahead if step.peak is not None]
        return _largest(peaks) if peaks else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the record and for machines."""
        steps = [{name: value for name, value in asdict(step).items() if name not in INSIDE} for step in self.steps]
        return {
            **{name: value for name, value in asdict(self).items() if name not in _GUIDES},
            "steps": steps,
            "totals": {
                "steps_ahead": len(self.ahead),
                "full_compiles": self.full_compiles,
                "seconds": asdict(self.seconds),
                "kept_bytes": asdict(self.kept),
                "tree_bytes": asdict(self.tree),
                "peak_bytes": asdict(self.peak) if self.peak else None,
            },
        }


def _largest(figures: Any) -> Figure:
    return max((figure for figure in figures if figure is not None), key=lambda f: f.value, default=NOTHING)


@dataclass(frozen=True)
class Known:
    """What is known before a study runs.

    Attributes:
        has: whether the store has an entry, by kind and key.
        history: what steps cost on this host.
        objects: names of objects (`objects_key`) that the compiler cache has had; None without a cache.
        readings: names of what clang read (`reading_key`) that the compiler cache has had.
        made_with: of an entry of the store, by kind and key, the digests of the profiles that it was made with.
        cache_use: by key of a build of the store, its use of the compiler cache in words.
        source: digest of the source; '' if it must be fetched.
    """

    has: Callable[[str, str], bool]
    history: History
    objects: frozenset[str] | None
    cache_use: Mapping[str, str]
    source: str
    readings: frozenset[str] = frozenset()
    made_with: Callable[[str, str], Mapping[str, str]] = lambda _, __: {}


def make_plan(
    chains: Sequence[tuple[str, tuple[Stage, ...]]],
    *,
    spec: EngineSpec,
    known: Known,
    source: str,
    gates: Mapping[str, str],
    data: Sequence[tuple[str, str]],
    same: Collection[str] = (),
    trials: Sequence[Step] = (),
    left_out: Sequence[tuple[str, str]] = (),
    to_install: Sequence[str] = (),
    lacking: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """The plan of a study.

    Args:
        chains: (variant, its stages) of every variant that can be built here, the baseline first.
        spec: the engine.
        known: facts about the host and the store.
        source: the source, in words.
        gates: for each final build's key the key of its gate's result.
        data: (dataset, its key) of all data that trainings and trials need.
        same: keys of final builds that are the baseline's code: they have neither gate nor trials.
        trials: the trials as steps.
        left_out: variants that cannot be built here, with the reason.
        to_install: system packages that will be installed first.
        lacking: of variants that are left out, the system packages with which they could be built, where known.
    """
    unfit = outdated([stages for _, stages in chains], known.has, known.made_with)
    known = replace(known, has=without(unfit, known.has))
    chains = [(name, needed(stages, known.has)) for name, stages in chains]
    users: dict[str, list[str]] = {}
    finals: dict[str, list[str]] = {}
    for name, stages in chains:
        for key in dict.fromkeys(stage.key for stage in stages):
            users.setdefault(key, []).append(name)
        finals.setdefault(stages[-1].key, []).append(name)
    objects, readings = set(known.objects or ()), set(known.readings)
    baseline = chains[0][1][-1].key if chains else ""
    steps: list[Step] = []
    for stage in in_order([stages for _, stages in chains]):
        variants = tuple(users[stage.key])
        steps.append(_step(stage, variants, spec, known, objects, readings))
        if isinstance(stage, Compile) and known.objects is not None:
            objects |= {objects_key(stage), objects_key(replace(stage, source=ANY_SOURCE))}
            readings |= {key for key in (reading_key(stage),) if key is not None}
        if stage.key == baseline:
            steps += [_dataset(name, key, spec, known) for name, key in data]
        if stage.key in same:
            steps[-1] = replace(steps[-1], same=True)  # the final stage, appended just now
        elif stage.key in finals:
            steps.append(_gate(tuple(finals[stage.key]), gates[stage.key], spec, known))
    return Plan(
        engine=spec.name,
        source=source,
        steps=(*steps, *trials),
        left_out=tuple(left_out),
        to_install=tuple(to_install),
        lacking=lacking or {},
        relink=known.history.figure(from_cache("with profile"), "", "seconds"),
        reread=known.history.figure(read_before("with profile"), "", "seconds"),
        guessed=_guessed(spec, known.history),
    )


def _step(
    stage: Stage, variants: tuple[str, ...], spec: EngineSpec, known: Known, objects: set[str], readings: set[str]
) -> Step:
    cached = known.has(kept_as(stage), stage.key)
    costs, history, name, title = spec.costs, known.history, variants[0], stage.title
    kept, tree, peak, link, like = NOTHING, None, None, None, ""
    if isinstance(stage, Compile):
        kind = "compile" if cached else _kind(stage, spec, known, objects, readings)
        title = _RECORDED_AS[kind](stage.title) if kind in _RECORDED_AS else stage.title
        like = of_its_compiler(title, stage)
        guess = full_compile(spec, history).value * {"relink": RELINK_SHARE, "read": costs.once_read}.get(kind, 1.0)
        kept = history.figure(stage.title, name, "kept") or Figure(1e6 * costs.kept_mb)
        tree = history.figure(stage.title, name, "tree") or Figure(1e6 * costs.build_mb)
        linking = link_memory(stage, name, spec, history)
        link = linking if compiles_in_link(stage, spec) else None
        peak = Figure(max(1e6 * costs.object_mb, linking.value))
    elif isinstance(stage, Bolt):
        kind, guess = "bolt", BOLT_SHARE * full_compile(spec, history).value
        # Hard links to its input, except for the program itself.
        kept = history.figure(stage.title, name, "kept") or Figure(0.25e6 * costs.kept_mb)
    elif isinstance(stage, AfterLink):
        # Hard links too; only stripped files are new.
        kind, guess = "after the link", 2.0
        kept = history.figure(stage.title, name, "kept") or Figure(0.25e6 * costs.kept_mb)
    else:
        training = getattr(stage, "training", ())
        kind = "training" if training else "merge"
        guess = (
            TRAINING_SHARE * sum(seconds for _, seconds in training)
            if training
            else 0.01 * full_compile(spec, history).value
        )
    seconds = history.figure(title, name, "seconds", like) or Figure(guess)
    if kind == "partial" and isinstance(stage, Compile):
        seconds = _partial(stage, name, spec, history)
    return Step(
        kind=kind,
        title=stage.title,
        variants=variants,
        key=stage.key,
        cached=cached,
        seconds=NOTHING if cached else seconds,
        kept=kept,
        tree=tree,
        peak=history.figure(stage.title, name, "peak") or (None if cached else peak),
        cache_use=known.cache_use.get(stage.key, ""),
        link=link,
        made=seconds,
    )


def full_compile(spec: EngineSpec, history: History) -> Figure:
    """Wall time of a full compile: the newest of any variant here, gcc's first, else the engine's rough figure.

    Hosts differ by more than compilers do: clang compiles MariaDB in two thirds of gcc's time, and MySQL's compiles
    took from 31 to 105 minutes.
    """
    here = (history.figure(f"compile by {family}", "", "seconds") for family in ("gcc", "clang"))
    return next((figure for figure in here if figure is not None), Figure(spec.costs.compile_s))


def _guessed(spec: EngineSpec, history: History) -> tuple[float, float] | None:
    """See `Plan.guessed`."""
    usual, slowest = full_compile(spec, history).value, spec.slow_compile_s
    return (usual, slowest) if slowest and usual == spec.costs.compile_s else None


def compiles_in_link(stage: Compile, spec: EngineSpec) -> bool:
    """Whether a build's link compiles (link-time optimisation): by its flags, or by options of the engine's own."""
    return has_lto(stage.flags) or spec.lto_by_option({**dict(stage.features.options), **dict(stage.options)})


def link_memory(stage: Compile, name: str, spec: EngineSpec, history: History) -> Figure:
    """Largest resident set of a build's link with all of its threads, bytes.

    Args:
        stage: the build.
        name: the variant that it is made for.
        spec: the engine, for a rough figure of what was never made here.
        history: what steps cost on this host.
    """
    own, largest = history.figure("link", name, "peak"), history.figure(stage.title, name, "peak")
    if own and own.known:
        return own
    if not compiles_in_link(stage, spec):
        return Figure(1e6 * spec.costs.link_mb)
    # The largest process of such a build is the link.
    return Figure(max(1e6 * spec.costs.lto_link_mb, largest.value if largest else 0.0))


def _kind(stage: Compile, spec: EngineSpec, known: Known, objects: Collection[str], readings: Collection[str]) -> str:
    """The kind of a compile step that is not in the store: ``relink``, ``partial``, ``read`` or ``compile``."""
    if objects_key(stage) in objects:
        return "relink"
    if relatives(stage, known.source, spec.linking.static_options) & set(objects):
        return "partial"
    return "read" if reading_key(stage) in readings else "compile"


def _partial(stage: Compile, name: str, spec: EngineSpec, history: History) -> Figure:
    """Seconds of a stage most of whose objects are cached: recorded, or estimated between none and all cached."""
    steps = (from_cache(stage.title), stage.title, partly_from_cache(stage.title))
    figures = [history.figure(step, name, "seconds", of_its_compiler(step, stage)) for step in steps]
    for figure in figures:
        if figure is not None and figure.known:
            return figure
    # Costs of other partly cached builds are no guide: their patches were different.
    full = full_compile(spec, history).value
    least, most = (
        figure.value if figure is not None else guess
        for figure, guess in zip(figures[:2], (RELINK_SHARE * full, full), strict=True)
    )
    return Figure(least + changed_share(stage) * max(0.0, most - least))


def _dataset(name: str, key: str, spec: EngineSpec, known: Known) -> Step:
    cached = known.has("datasets", key)
    size = 1e6 * spec.costs.dataset_mb
    seconds = known.history.figure("dataset", name, "seconds") or Figure(size / 50e6)
    kept = known.history.figure("dataset", name, "kept") or Figure(size)
    return Step("dataset", f"dataset {name}", (), key, cached, NOTHING if cached else seconds, kept)


def _gate(variants: tuple[str, ...], key: str, spec: EngineSpec, known: Known) -> Step:
    cached = known.has("gates", key)
    seconds = known.history.figure("gate", variants[0], "seconds") or Figure(float(spec.costs.gate_s))
    return Step("gate", "gate", variants, key, cached, NOTHING if cached else seconds, made=seconds)


def amount(figure: Figure | None, unit: float, digits: int = 1) -> str:
    """A figure in `unit`s, marked "~" when it is a guess; "?" where nothing is known."""
    if figure is None:
        return "?"
    return f"{'' if figure.known else '~'}{figure.value / unit:,.{digits}f}"


def summary(plan: Plan, *, seconds: bool = True) -> list[str]:
    """The plan in a few lines: steps to do, time, disk; then what is left out and why.

    Args:
        plan: the plan.
        seconds: whether to include times; False if the caller's lines have them.
    """
    ahead, cached = plan.ahead, len(plan.steps) - len(plan.ahead)
    kinds = ("partial", "relink", "read", "training", "bolt", "gate")
    counts = {kind: sum(step.kind == kind for step in ahead) for kind in kinds}
    lines = []
    if not plan.building:
        lines.append(f"nothing to build: all {cached} steps are in the store" if cached else "nothing is built")
    else:
        parts = [_several(plan.full_compiles, "full compile")]
        parts += [_several(counts["partial"], "build with most objects cached", "builds with most objects cached")]
        parts += [_several(counts["relink"], "build from cached objects", "builds from cached objects")]
        parts += [_several(counts["read"], "build of sources read before", "builds of sources read before")]
        parts += [_several(counts["training"], "training"), _several(counts["bolt"], "BOLT step")]
        parts += [_several(counts["gate"], "gate")]
        lines.append(
            f"{_several(len(plan.building), 'step')} to make, {cached} cached: " + ", ".join(filter(None, parts))
        )
        making = sum((step.seconds for step in plan.building), NOTHING)
        if seconds:
            lines.append(f"building and testing take {_about(making)}")
        if plan.guessed is not None and plan.full_compiles:
            usual, slowest = (duration(each) for each in plan.guessed)
            lines.append(f"a full compile counts {usual}, as on a quiet host; on the slowest so far it took {slowest}")
        largest = "" if plan.peak is None else f"; largest process: {amount(plan.peak, 1e9)} GB"
        lines.append(f"disk: {amount(plan.kept, 1e9)} GB kept, {amount(plan.tree, 1e9)} GB build folder{largest}")
    if seconds:
        limits = {"trials": "at least", "again": "at most"}
        lines += [
            f"{step.title} {'take' if step.kind == 'trials' else 'takes'} {_about(step.seconds)} {limits[step.kind]}"
            for step in ahead
            if step.kind in limits
        ]
    if plan.to_install:
        lines.append(f"installed first, after asking: {' '.join(plan.to_install)}")
    if plan.later:
        later = ", ".join(plan.later)
        lines.append(f"also built, once these are installed: {later} (not counted here; plan again after that)")
    left_out = by_reason((name, why) for name, why in plan.left_out if name not in plan.later)
    return [*lines, *(f"left out: {', '.join(names)}: {why}" for why, names in left_out.items())]


def _several(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}" if count else ""


def _about(figure: Figure) -> str:
    return f"{'about ' if figure.known else '~'}{duration(figure.value)}"
