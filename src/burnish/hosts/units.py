"""From the stages of a study's builds, as each host would make them, to tasks: what is built where; pure.

Every host says how it would build (`Survey`). Of each architecture one host is the *model*: its builds are made once,
by any host that would make the very same (equal keys), and measured on all. A recipe for the host's own processor
(``native``) is each host's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from burnish.base.digest import digest_of
from burnish.builds.sharing import kept_as, needed
from burnish.builds.stages import Compile
from burnish.hosts.dispatch import Task, Work
from burnish.hosts.host import Host
from burnish.profiles.stages import Train
from burnish.study.builds.resolving import Chain

Entry = tuple[str, str]
"""Kind and key of an entry of the store."""

NATIVE = ("-march=native", "-mcpu=native", "-mtune=native")


@dataclass(frozen=True)
class Survey:
    """How a host would make a study's builds.

    Attributes:
        chains: by build's name, its stages there, the baseline first; empty where nothing is built.
        seconds: by stage's key, how long it is expected to take there.
        bench: seconds that its trials are expected to take at least.
        why_not: why it can't take part in this study; None if it can.
    """

    chains: Mapping[str, Chain] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    bench: float = 1.0
    why_not: str | None = None


@dataclass(frozen=True)
class Unit:
    """Stages that one host makes in one go: consecutive ones that the same variants use.

    Attributes:
        key: digest of its stages' keys.
        name: build in whose chain they are; where several share them, the first.
        stages: entries that it leaves.
        needs: entries that must be there before.
        after: keys of the units that make these.
        seconds: expected duration.
    """

    key: str
    name: str
    stages: tuple[Entry, ...]
    needs: tuple[Entry, ...]
    after: tuple[str, ...]
    seconds: float

    @property
    def keys(self) -> frozenset[str]:
        """Keys of its stages."""
        return frozenset(key for _, key in self.stages)


@dataclass(frozen=True)
class Division:
    """A study's work, divided.

    Attributes:
        units: all units by key.
        able: by unit's key, names of the hosts that can make it.
        chains: by host that measures, its builds: the model's, or its own.
        models: by architecture, the host whose builds are measured on all.
    """

    units: Mapping[str, Unit]
    able: Mapping[str, frozenset[str]]
    chains: Mapping[str, Mapping[str, Chain]]
    models: Mapping[str, str]

    def of_host(self, host: str) -> list[str]:
        """Keys of the units that make a host's builds."""
        chains = self.chains.get(host, {}).values()
        wanted = {key for chain in chains if not chain.missing for _, key in entries_of(chain)}
        return [unit.key for unit in self.units.values() if unit.keys & wanted]


def entries_of(chain: Chain) -> list[Entry]:
    """The entries that a chain leaves in the store."""
    return [(kept_as(stage), stage.key) for stage in chain.stages]


def to_measure(chain: Chain) -> Chain:
    """The stages of a build that a host needs which only measures it: without programs that write profiles."""
    if not chain.stages:
        return chain
    return replace(chain, stages=needed(chain.stages, lambda kind, _: kind == "profiles"))


def is_native(chain: Chain) -> bool:
    """Whether a build is for the processor of the host that makes it."""
    return any(
        flag in NATIVE
        for stage in chain.stages
        if isinstance(stage, Compile)
        for flag in (*stage.flags.c, *stage.flags.cxx, *stage.flags.link)
    )


def divided(hosts: Sequence[Host], surveys: Mapping[str, Survey], benches: Sequence[str]) -> Division:
    """Divides a study's builds among hosts.

    Args:
        hosts: all that take part.
        surveys: by host's name, how it would build; only of those that can take part.
        benches: names of the hosts that measure.
    """
    models: dict[str, str] = {}
    for architecture in dict.fromkeys(host.architecture for host in hosts):
        able = [host for host in hosts if host.architecture == architecture and host.builds]
        surveyed = [host for host in able if host.name in surveys and surveys[host.name].chains]
        if surveyed:
            models[architecture] = min(surveyed, key=lambda host: (lacking(surveys[host.name]), host.name)).name
    chains: dict[str, dict[str, Chain]] = {}
    for host in hosts:
        if host.name in benches:
            model = models.get(host.architecture)
            here = surveys.get(host.name, Survey())
            chains[host.name] = _measured(here, surveys[model] if model is not None else None, builds=host.builds)
    units: dict[str, Unit] = {}
    makers = [host for host in hosts if host.builds and host.name in surveys]
    alike = len({host.home for host in makers}) < 2
    for host_chains in chains.values():
        for unit in units_of(host_chains, _seconds(surveys), alike=alike):
            units.setdefault(unit.key, unit)
    own = {host.name: _stages(surveys[host.name]) for host in makers}
    able_by_unit = {
        key: frozenset(name for name, keys in own.items() if unit.keys <= keys) for key, unit in units.items()
    }
    return Division(units, able_by_unit, chains, models)


def lacking(survey: Survey) -> int:
    """How many of a study's builds a host can't make."""
    return sum(chain.missing is not None for chain in survey.chains.values())


def _stages(survey: Survey) -> frozenset[str]:
    return frozenset(stage.key for chain in survey.chains.values() if not chain.missing for stage in chain.stages)


def _seconds(surveys: Mapping[str, Survey]) -> dict[str, float]:
    """How long each stage takes, as the most pessimistic host has it."""
    seconds: dict[str, float] = {}
    for survey in surveys.values():
        for key, value in survey.seconds.items():
            seconds[key] = max(value, seconds.get(key, 0.0))
    return seconds


def _measured(own: Survey, model: Survey | None, *, builds: bool) -> dict[str, Chain]:
    """The builds that a host measures: those of the model, but its own where they are for its own processor, if it
    `builds`: one that only measures may have a compiler, and nobody would make them."""
    if model is None or not model.chains:
        return dict(own.chains)
    chains = {}
    for name, chain in model.chains.items():
        here = own.chains.get(name)
        if chain.missing is None and is_native(chain):
            missing = "it is built for the host's own processor, and this host can't build"
            chains[name] = here if here is not None and builds else replace(chain, stages=(), missing=missing)
        else:
            chains[name] = chain
    return chains


def units_of(chains: Mapping[str, Chain], seconds: Mapping[str, float], *, alike: bool = True) -> list[Unit]:
    """The units that make these builds, each after those that it needs.

    A training needs the baseline, whose tools make its data: a unit begins with a build's first training, so that the
    program that it runs can be compiled while another host makes the baseline.

    Args:
        chains: by name, the baseline first.
        seconds: by stage's key, its expected duration.
        alike: whether all hosts that build have the same home. If not, no host trains what another has compiled: where
            such a program writes its profile is compiled into it.
    """
    possible = {name: chain for name, chain in chains.items() if chain.missing is None}
    users: dict[str, list[str]] = {}
    for name, chain in possible.items():
        for stage in chain.stages:
            users.setdefault(stage.key, []).append(name)
    first = next(iter(chains), None)
    baseline = possible.get(first) if first is not None else None
    units: dict[str, Unit] = {}
    maker: dict[Entry, str] = {}
    for chain in possible.values():
        entries, at = entries_of(chain), 0
        tools = entries_of(baseline) if baseline is not None and baseline is not chain else []
        trains = [isinstance(stage, Train) for stage in chain.stages]
        begins = trains.index(True) if tools and any(trains) and alike else None
        while at < len(entries):
            end = at + 1
            while end < len(entries) and users[entries[end][1]] == users[entries[at][1]] and end != begins:
                end += 1
            stages = tuple(entries[at:end])
            needs = tuple(dict.fromkeys((*(tools if any(trains[at:end]) else ()), *entries[:at])))
            key = digest_of([list(entry) for entry in stages])
            if key not in units:
                after = tuple(dict.fromkeys(maker[entry] for entry in needs if entry in maker))
                cost = sum(seconds.get(stage_key, 1.0) for _, stage_key in stages)
                units[key] = Unit(key, users[stages[0][1]][0], stages, needs, after, cost)
                maker |= dict.fromkeys(stages, key)
            at = end
    return list(units.values())


def tasks_of(division: Division, benches: Mapping[str, float], prefix: str) -> list[Task]:
    """The tasks of a divided study.

    Args:
        division: the study's.
        benches: by host that measures, how long its trials are expected to take.
        prefix: the beginning of the benches' keys: a bench is of one run of the study, a build of any.
    """
    builds = [
        Task(build_key(unit.key), Work.BUILD, division.able[unit.key], tuple(map(build_key, unit.after)), unit.seconds)
        for unit in division.units.values()
    ]
    trials = [
        Task(
            bench_key(prefix, host),
            Work.BENCH,
            frozenset({host}),
            tuple(build_key(key) for key in division.of_host(host)),
            seconds,
        )
        for host, seconds in benches.items()
    ]
    return [*builds, *trials]


def build_key(unit: str) -> str:
    """Key of the task that makes a unit."""
    return f"build-{unit}"


def bench_key(prefix: str, host: str) -> str:
    """Key of the task that measures a run of a study on a host."""
    return f"bench-{prefix}-{host}"


def refusals(
    chains: Mapping[str, Chain], needs: Mapping[str, str], host: Host, levels: Sequence[str]
) -> dict[str, str]:
    """By build, why it does not run on a host.

    Args:
        chains: the host's builds.
        needs: by key of a build, the instruction-set level that its program needs; '' if unknown.
        host: the host.
        levels: all levels, the lowest first.
    """
    refused = {}
    for name, chain in chains.items():
        level = needs.get(chain.final, "") if chain.missing is None else ""
        if level in levels and host.level in levels and levels.index(level) > levels.index(host.level):
            refused[name] = f"left out: needs {level}, {host.name} has {host.level}"
    return refused
