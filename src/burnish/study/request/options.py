"""Options of the verbs that measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.model.sittings import Schedule

if TYPE_CHECKING:
    from burnish.record.events.study import Configured

Ask = Callable[[str], bool]
"""Asks the user a question; returns whether the answer was yes."""


@dataclass(frozen=True)
class Options:
    """Options of the verbs that measure; a verb has those that mean something for it.

    Attributes:
        variants: names; empty for the engine's ladder and the user's own.
        recipes: TOML file with the user's own variants.
        workloads: names; empty for the engine's default.
        features: feature set; None for the engine's default.
        source: None for Debian's package, a version of it, or a path.
        source_version: version to pin of Debian's package.
        sha256: expected digest of a tarball.
        precision: half-width to reach; None to stop at the first verdict.
        max_starts: maximum number of starts per cell.
        pairs: pairs in a start.
        turns: turns in a pair.
        starts: a number of starts fixed in advance, for figures to publish; None: as many as the verdict takes.
        design: trial design of every cell; None: each workload's own.
        placement: placement of every cell; None: the design's, or each workload's own (see
            `burnish.study.request.placing`).
        keep_cached: launch programs as their files lie in the page cache; otherwise each start reads them anew.
        explore: control the false-discovery rate instead of the family-wise error.
        layouts: layout replicates of every variant; 0: each is linked once, in the build system's order; None: so too,
            and what is then found to be a small difference is tested by several (`burnish.study.workshop.relinking`).
        trainings: training replicates of every variant; 0: each is trained once.
        force: give verdicts although this host's calibration failed; marked in the report.
        seed: random seed of slots and keys; None: drawn when the run begins.
        jobs: parallel compile jobs; None for all cores.
        artefacts: URL of what hosts share; None: the environment's, if any; ``none``: nothing.
        artefacts_gb: how large that may become, GB; None: not bounded from here.
        fresh: begin a new run even if an unfinished one could be resumed.
        yes: install what is missing without asking.
        ladder: numbers of client threads, each a load of its own; empty: each load's own number.
        settings: what every server is set to, ``NAME=VALUE`` each (see `burnish.workload.conditions`).
        versus: how the second program's condition differs (`compare`), written as `settings` are.
        deploy: choices of the deployment that are measured on the best build (see `burnish.workload.deployment`).
        data: a user's dump or data folder for the user's loads.
        database: which database of it is used; None: the only one.
        defaults_file: a user's my.cnf.
        strict: refuse a server whose settings are poorly tuned.
        portable: level or processor that every build must run on; None: not required.
        portability: try every build on the catalogue's processors.
        release: a distribution's server program; None: the one that is found (bundled studies).
        second_compiler: compiler used as the other patch level; None: the one that is found (bundled studies).
        labels: names of the two programs, each None for a name from its path; empty: both from their paths (`compare`).
        budget: seconds for this session; None: as long as it takes.
        why: sample every candidate beside the baseline after the trials (``--why``).
        seconds: time under load that is sampled; None: until there are enough samples.
        sittings: number of sittings in which every cell is to have starts.
        apart: least time between two of them, in seconds.
        strategy: how a search is done; None: as usual, which is no search without a budget.
        allow: marks that a search's builds may have.
        weights: (load, weight) of a search; loads that are not named have the weight 1.
        objective: what a search is for: a quantity, a response time with its rate as in ``p99@400``; None: as much
            work as possible, of what the design measures.
        guards: loads on which a search's winner must not be slower than the baseline.
        prior: earlier runs that say what a search tries first: names of runs, files of exported records, `home` or
            `none`; empty: `home`.
        space: TOML file with a space of the user's own; None: the catalogue's.
        on_hosts: on which hosts it is measured, as named; empty: on this machine alone (`burnish.hosts`).
        command: words of the command line after the program's name, and what a settings file gave; empty where there
            is none.
        configured: what of the command a settings file gave; None if it gave nothing.
    """

    variants: tuple[str, ...] = ()
    recipes: Path | None = None
    workloads: tuple[str, ...] = ()
    features: str | None = None
    source: Path | None = None
    source_version: str | None = None
    sha256: str | None = None
    precision: float | None = 0.01
    max_starts: int = 12
    pairs: int | None = None
    turns: int | None = None
    starts: int | None = None
    design: str | None = None
    placement: str | None = None
    keep_cached: bool = False
    explore: bool = False
    layouts: int | None = None
    trainings: int = 0
    force: bool = False
    seed: int | None = None
    jobs: int | None = None
    artefacts: str | None = None
    artefacts_gb: float | None = None
    fresh: bool = False
    yes: bool = False
    ladder: tuple[int, ...] = ()
    settings: tuple[str, ...] = ()
    versus: tuple[str, ...] = ()
    deploy: tuple[str, ...] = ()
    data: Path | None = None
    database: str | None = None
    defaults_file: Path | None = None
    strict: bool = False
    portable: str | None = None
    portability: bool = False
    release: Path | None = None
    second_compiler: str | None = None
    labels: tuple[str | None, ...] = ()
    budget: float | None = None
    why: bool = False
    seconds: float | None = None
    sittings: int = 1
    apart: float = 7200.0
    strategy: str | None = None
    allow: tuple[str, ...] = ()
    weights: tuple[tuple[str, float], ...] = ()
    guards: tuple[str, ...] = ()
    objective: str | None = None
    prior: tuple[str, ...] = ()
    space: Path | None = None
    on_hosts: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    configured: Configured | None = None

    @property
    def searches(self) -> bool:
        """Whether `tune` searches: asked by a strategy, or by a budget without named variants."""
        named = (("--variant", self.variants), ("--recipes", self.recipes))
        if any(value and not self.from_file(option) for option, value in named) and self.from_file("--strategy"):
            return False  # who names builds wants these, whatever a file says of other calls
        return self.strategy is not None or (self.budget is not None and not self.variants and self.recipes is None)

    def from_file(self, option: str) -> bool:
        """Whether a settings file gave an option: it is for other calls, which may have a use for it."""
        given = self.configured.options if self.configured is not None else ()
        return any(word.partition("=")[0] == option for word in given)

    @property
    def schedule(self) -> Schedule:
        """In how many sittings the study is measured."""
        return Schedule(self.sittings, self.apart)
