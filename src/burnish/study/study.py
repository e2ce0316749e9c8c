"""A study: what is asked, as one value that every measuring verb constructs and one runner executes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.base.digest import digest_of
from burnish.builds.evidence import Portable
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.catalogue.bundled.model import StudyRow
from burnish.catalogue.deployment import Choice
from burnish.catalogue.space import SpaceFile
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.record.events import Event
from burnish.record.events.searches import PriorTaken
from burnish.search.asks import Objective
from burnish.search.space import Space
from burnish.statistics.verdicts import Rule
from burnish.study.comparison import Comparison
from burnish.study.request.definition import Definition
from burnish.study.request.options import Options
from burnish.study.trials.replicates import Factors
from burnish.study.trials.starts import FRESH_STARTS, fresh_starts

if TYPE_CHECKING:
    from burnish.study.builds.resolving import Chain


@dataclass(frozen=True)
class Confirmation:
    """When the best of several rows is measured again: picked from many, it looks better than it is.

    Attributes:
        more_than: if it was picked from more rows than this; None: never.
        starts: number of fresh starts, fixed in advance.
        apart: whether what was found in a duet is measured again with server and clients on cores of their own: a duet
            is quick at finding a winner, but its servers share their cores with their clients, which few do in
            production (docs/BIAS.md, "Shared cores").
        apart_more_than: if it was then picked from more rows than this.
        simplest: whether of the best and those tied with it the simplest is measured again, which reports recommend.
    """

    more_than: int | None = 3
    starts: int = FRESH_STARTS
    apart: bool = False
    apart_more_than: int = 0
    simplest: bool = False


@dataclass(frozen=True)
class SearchRequest:
    """How the fastest build is searched for.

    Attributes:
        file: what may be built, and the recipes of it.
        space: the part of it for this engine, with the marks that are allowed.
        strategy: the strategy's name.
        budget: seconds for everything; None: until nothing is left to try.
        objective: what is searched for.
        pattern: the comparisons of one build with the baseline, a load each.
        allowed: marks that builds may have.
        asked: what it is for, as the user asked for it; '': as much work as possible.
        prior: names of earlier runs whose results are its prior.
        taken: what they say of its space, which has it already.
    """

    file: SpaceFile
    space: Space
    strategy: str
    budget: float | None
    objective: Objective
    pattern: tuple[Comparison, ...]
    allowed: tuple[str, ...] = ()
    asked: str = ""
    prior: tuple[str, ...] = ()
    taken: PriorTaken = field(default_factory=PriorTaken)

    @property
    def digest(self) -> str:
        """Digest of what may be built, and how."""
        overlays = [[*pair, dict(overlay)] for pair, overlay in self.file.overlays.items()]
        return digest_of([repr(self.space), overlays, self.file.bolt_defaults])


@dataclass(frozen=True)
class Study:
    """What is asked.

    Attributes:
        definition: the study's identity; its digest finds an unfinished run to resume.
        engine: the engine.
        comparisons: all of them, in order.
        variants: the builds that they need, by name, the baseline first; empty where programs are compared.
        programs: programs that exist already, by name, the base first.
        features: feature set of all variants that name none of their own.
        workloads: loads that are needed beside those of the comparisons.
        rule: when a cell is decided.
        replicates: how often each variant is built.
        layouts: by how many link orders of both sides a claim is tested afterwards whose difference is so small that
            the order alone may have made it; 0: by none.
        portable: what is required of the builds' portability.
        explore: whether verdicts control the false-discovery rate rather than the family-wise error.
        confirmation: when the best candidate is measured again.
        in_turn: whether the starts of all cells are taken in turn, so that one hour's noise hits all; else they are
            taken row by row, so that a budget can end between two.
        tolerant: whether a comparison that cannot be made becomes a row with that reason and is tried again by the next
            session; otherwise the request is refused.
        twins: whether builds that are the same program are measured once.
        once: whether the same command returns a finished run instead of beginning a new one.
        calibrates: whether the host's noise, as measured, is kept for later studies.
        sample: whether each candidate is sampled beside the baseline after the trials (``--why``).
        unsampled: names of builds that are not sampled then.
        sample_seconds: time under load that is sampled; None: until there are enough samples.
        named: variants that the user requested by name: only these may be recommended with marks; None: all of them.
        deploy: choices of the deployment that are measured on the best build when the verdicts are known.
        tree: source tree named by the request itself, which overrides that of the options; None: none is named.
        opening: events recorded when a session begins.
        instrumented: names of builds that end with the stage that writes a profile.
        bundled: the bundled study's file; None of every other.
        search: how the fastest build is searched for; None: the comparisons are all there are.
        architecture: the host's, as the kernel names it; it decides what patches can show.
        foreign: by build's name, replicates as name#1, builds that other hosts have made: the stages that are in the
            store, or why there are none. They are not made here.
    """

    definition: Definition
    engine: EngineSpec
    comparisons: tuple[Comparison, ...]
    variants: Mapping[str, Variant] = field(default_factory=dict)
    programs: Mapping[str, Built] = field(default_factory=dict)
    features: str = ""
    workloads: tuple[Workload, ...] = ()
    rule: Rule = field(default_factory=Rule)
    replicates: Factors = field(default_factory=Factors)
    layouts: int = 0
    portable: Portable = field(default_factory=Portable)
    explore: bool = False
    confirmation: Confirmation = field(default_factory=Confirmation)
    in_turn: bool = True
    tolerant: bool = False
    twins: bool = False
    once: bool = False
    calibrates: bool = False
    sample: bool = False
    unsampled: frozenset[str] = frozenset()
    sample_seconds: float | None = None
    named: frozenset[str] | None = None
    deploy: tuple[Choice, ...] = ()
    tree: Path | None = None
    opening: tuple[Event, ...] = ()
    instrumented: frozenset[str] = frozenset()
    bundled: BundledFile | None = None
    search: SearchRequest | None = None
    architecture: str = ""
    foreign: Mapping[str, Chain] = field(default_factory=dict)

    @property
    def fresh_starts(self) -> int:
        """Number of starts of a confirmation: at most the rule's maximum, which is one for each pair of replicates."""
        return fresh_starts(self.confirmation.starts, self.rule.cap)

    @property
    def base(self) -> str:
        """The name of the baseline, or of the first program."""
        return next(iter(self.programs or self.variants))

    def options(self, given: Options) -> Options:
        """The given options, with the source tree that the request names."""
        return given if self.tree is None else replace(given, source=self.tree)

    def is_named(self, name: str) -> bool:
        """Whether the user requested this variant by name."""
        return self.named is None or name in self.named

    def row(self, name: str) -> StudyRow:
        """The row of that name in a bundled study's file."""
        assert self.bundled is not None  # noqa: S101 - called for these only
        return next(row for row in self.bundled.rows_for(self.engine.name) if row.name == name)

    def with_variants(self, *more: Variant) -> Study:
        """The same study with additional builds that its comparisons may name."""
        return replace(self, variants={**self.variants, **{variant.name: variant for variant in more}})

    def groups(self, chosen: Sequence[Comparison]) -> list[list[Comparison]]:
        """Groups of comparisons whose builds are made, and whose starts are taken, together."""
        if self.in_turn:
            return [list(chosen)] if chosen else []
        units = dict.fromkeys(comparison.unit for comparison in chosen)
        return [[comparison for comparison in chosen if comparison.unit == unit] for unit in units]
