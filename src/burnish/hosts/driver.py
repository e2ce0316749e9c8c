"""A study on many hosts, as seen by whoever asks for it: divided, sent, collected.

Nothing is kept here that is needed to go on: every host has its own record, and artefacts are shared. The same command
asks again, and what is done already is not done again.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from burnish.base.durations import duration
from burnish.base.errors import UserError
from burnish.hosts import units
from burnish.hosts.asked import Asked, Outcome
from burnish.hosts.dispatch import Dispatcher, Given, Task, Work
from burnish.hosts.fleet import Fleet
from burnish.hosts.host import Host
from burnish.hosts.jobs import Answer, Job
from burnish.hosts.kinds import LEVELS
from burnish.hosts.underway import UnderWay, kinds, work_of
from burnish.study.builds.resolving import Chain

TURN_S = 0.25
"""How often answers are looked for."""
REST_S = 60.0
"""How long a host gets nothing after a reason that may pass, so that another one can take the task."""


class Again(Enum):
    """Why a task is sent again; each kind of reason so often.

    One that failed for a reason that may pass; one of a host on which somebody else works, for two hours; one whose
    worker was lost: restarts are ordinary, but a task must not kill for ever.
    """

    FAILED = 3
    BUSY = 120
    LOST = 20


@dataclass
class Driver:
    """Has a study done by hosts.

    Attributes:
        asked: what is asked.
        fleet: the hosts.
        perform: the function that a worker calls with a `Job`.
        outcome: what has come of it.
        turn_s: seconds between two looks for answers.
        rest_s: seconds for which a host gets nothing after what may be tried again.
        take_note: called with the names of the hosts that are to measure, once they are known.
    """

    asked: Asked
    fleet: Fleet
    perform: Callable[[Job], Awaitable[Answer]]
    outcome: Outcome = field(default_factory=Outcome)
    turn_s: float = TURN_S
    rest_s: float = REST_S
    take_note: Callable[[Sequence[str]], None] = lambda _: None
    _dispatcher: Dispatcher = field(default_factory=Dispatcher)
    _benches: list[str] = field(default_factory=list)
    _surveys: dict[str, units.Survey] = field(default_factory=dict)
    _asked_of: dict[str, str] = field(default_factory=dict)
    """By key of a survey or a bench, its host."""
    _division: units.Division | None = None
    _levels: dict[str, str] = field(default_factory=dict)
    _failed: dict[str, str] = field(default_factory=dict)
    """By key of a stage, why it was not made."""
    _sent: dict[str, Any] = field(default_factory=dict)
    _under_way: UnderWay = field(default_factory=UnderWay)
    _tries: Counter[tuple[str, Again]] = field(default_factory=Counter)
    """By key of a task and kind of reason, how often it was sent again."""
    _known: dict[str, Host] = field(default_factory=dict)
    """The hosts that were there, as they were last."""

    def run(self) -> Outcome:
        """Does it all; returns when every host has answered or was given up.

        Raises:
            UserError: no host is there that was asked for.
            InfrastructureError: the scheduler does not answer.
        """
        try:
            self._begin()
            while self._dispatcher.open:
                self._turn()
        finally:
            self.fleet.close()
        return self.outcome

    def _begin(self) -> None:
        """Waits for the hosts that were asked for, and asks each how it would build."""
        since, asked = time.monotonic(), self.asked
        while True:
            self._look()
            hosts = list(self.fleet.hosts.values())
            self._benches = [host.name for host in hosts if asked.chosen.has(host)]
            missing = asked.chosen.missing(hosts)
            if self._benches and not missing:
                break
            if time.monotonic() - since >= asked.coming:
                there = ", ".join(f"{host.name} ({host.kind})" for host in hosts) or "none"
                raise UserError(
                    f"--hosts {asked.chosen.words}: no host for {', '.join(missing) or 'trials'} came within "
                    f"{duration(asked.coming)}; there are: {there} (`burnish hosts` lists them)"
                )
            self.fleet.say_once(f"waiting for {', '.join(missing) or 'a host that measures'}")
            time.sleep(self.turn_s)
        kinds = [f"{name} ({self.fleet.hosts[name].kind})" for name in self._benches]
        self.fleet.say(f"trials on {', '.join(kinds)}")
        self.take_note(self._benches)
        builders = {host.name for host in hosts if host.builds} if asked.store else set()
        surveyed = list(dict.fromkeys((*self._benches, *sorted(builders))))
        self._asked_of |= {f"survey-{asked.name}-{name}": name for name in surveyed}
        self._dispatcher.add(
            [Task(key, Work.SURVEY, frozenset({name})) for key, name in self._asked_of.items()], time.monotonic()
        )

    def _look(self) -> None:
        change = self.fleet.look()
        for name in change.went:
            key = self._dispatcher.leave(name, time.monotonic(), counted=not change.relinked)
            self._sent.pop(key or "", None)
            self._under_way.forget(name)
        for host in change.came:
            self._known[host.name] = host
            self._dispatcher.join(host.name, host.boot)

    def _turn(self) -> None:
        """Sends what can begin, takes what was answered, gives up what nobody can do."""
        if self.fleet.due:
            self._look()
        now, others = time.monotonic(), self._taken_over()
        for given in self._dispatcher.next(now, kinds(others)):
            self._send(given)
        for key, future in list(self._sent.items()):
            if future.done():
                del self._sent[key]
                self._answered(key, future)
        for key, (host, future) in self._under_way.first().items():
            self._under_way.answered(key, host)
            if self._dispatcher.on(key) is not None and _good(future):
                self._sent.pop(key, None)
                self._answered(key, future)
        for key in self._dispatcher.lost():
            self._give_up(key, "the hosts that made it were lost, one after another")
        for key in self._dispatcher.stranded(now, self.asked.patience):
            self._give_up(key, f"no host that can do it came within {duration(self.asked.patience)}")
        if self._division is None and self._enough(others):
            self._divide()
        time.sleep(self.turn_s)

    def _taken_over(self) -> dict[str, str]:
        """Takes over what hosts do without having been given it, where it is this study's; returns what is not."""
        others = self._under_way.found(self.fleet.hosts.values(), self._dispatcher)
        for host, key in list(others.items()):
            if self._dispatcher.begun(key, host):
                self._send(Given(key, host), how=", which it has begun")
                del others[host]
            elif work_of(key) is Work.BENCH and self._waits_for(host, key):
                self.fleet.say_once(f"{host}: is at work for another study; waiting")
            elif (other := self._dispatcher.on(key)) is not None and (key, host) not in self._under_way.answers:
                self.fleet.say(f"{host}: is at a task that {other} has been given since; whoever is first counts")
                self._under_way.answers[key, host] = self._ask(self._job(Given(key, host)), host)
        return others

    def _waits_for(self, host: str, key: str) -> bool:
        """Whether this study's trials wait for a host whose trials are another's, which may take hours."""
        done = host in self.outcome.records or host in self.outcome.failed
        return host in self._benches and not done and key != units.bench_key(self.asked.name, host)

    def _enough(self, others: Mapping[str, str]) -> bool:
        """Whether enough hosts have said how they would build: all, or all but builders that are at work for others."""
        late = set(self._asked_of.values()) - self._surveys.keys()
        if late & set(self._benches) or not late <= others.keys():
            return False
        hosts = self.fleet.hosts
        lacks_nothing = {
            hosts[name].architecture
            for name, survey in self._surveys.items()
            if name in hosts and hosts[name].builds and survey.chains and not units.lacking(survey)
        }
        if late and not {hosts[name].architecture for name in self._benches if name in hosts} <= lacks_nothing:
            return False
        for key in [key for key, name in self._asked_of.items() if name in late]:
            self.fleet.say(f"{self._asked_of[key]}: is at work for another study; others build")
            self._sent.pop(key, None)
            self._dispatcher.done(key, time.monotonic())
        return True

    def _divide(self) -> None:
        """Plans builds and trials, when every host has said how it would build."""
        # A host that measures and is away just now measures the same builds as the others when it is back.
        away = {name: self._known[name] for name in self._benches if name in self._known}
        hosts = list({**away, **self.fleet.hosts}.values())
        able = {name: survey for name, survey in self._surveys.items() if survey.why_not is None}
        self._division = division = units.divided(hosts, able, self._benches if self.asked.store else [])
        seconds = {}
        for name in self._benches:
            survey = self._surveys[name]
            if survey.why_not is not None and not division.chains.get(name):
                self.outcome.failed[name] = survey.why_not
                self.fleet.say(f"{name}: {survey.why_not}")
            else:
                seconds[name] = survey.bench
        self._asked_of |= {units.bench_key(self.asked.name, name): name for name in seconds}
        if division.units:
            models = ", ".join(f"{name} ({architecture})" for architecture, name in division.models.items())
            self.fleet.say(f"{len(division.units)} steps of builds, as {models} would make them")
        self._dispatcher.add(units.tasks_of(division, seconds, self.asked.name), time.monotonic())

    def _send(self, given: Given, how: str = "") -> None:
        unit = self._unit(given.key)
        if unit is not None:
            failed = next((why for _, entry in unit.needs if (why := self._failed.get(entry))), None)
            if failed is not None:  # what it needs is not there
                self._give_up(given.key, failed)
                return
        job = self._job(given)
        if job.work is not Work.SURVEY:
            self.fleet.say(f"{given.host}: {job.title}{how}")
        self._sent[given.key] = self._ask(job, given.host)

    def _job(self, given: Given) -> Job:
        asked, key, unit = self.asked, given.key, self._unit(given.key)
        job = Job(key, Work.SURVEY, f"survey of {asked.title}", asked.command, asked.store, asked.limit)
        if unit is not None:
            return replace(job, work=Work.BUILD, title=f"build of {unit.name} for {asked.title}", unit=unit)
        if key.startswith("survey-"):
            return job
        chains = self._chains(given.host) if asked.store else {}
        return replace(job, work=Work.BENCH, title=f"trials of {asked.title}", chains=chains, fresh=asked.fresh)

    def _ask(self, job: Job, host: str) -> Any:
        # A new key for Dask each time: it is the host that knows that the job is the same.
        alone = job.work is not Work.SURVEY
        return self.fleet.send(self.perform, job, key=f"{job.key}-{time.time_ns()}", host=host, alone=alone)

    def _unit(self, key: str) -> units.Unit | None:
        """The unit that a task builds; None of other tasks."""
        return self._division.units.get(key.removeprefix(units.build_key(""))) if self._division is not None else None

    def _chains(self, host: str) -> dict[str, Chain]:
        """The builds that a host measures; those that failed, or do not run there, have the reason."""
        assert self._division is not None  # noqa: S101 - the task comes from it
        chains = dict(self._division.chains.get(host, {}))
        for name, why in units.refusals(chains, self._levels, self.fleet.hosts[host], LEVELS).items():
            self.fleet.say_once(f"{host}: {name}: {why}")
            chains[name] = replace(chains[name], missing=why)
        return {name: replace(chain, missing=chain.missing or self._why_not(chain)) for name, chain in chains.items()}

    def _why_not(self, chain: Chain) -> str | None:
        return next((why for stage in chain.stages if (why := self._failed.get(stage.key))), None)

    def _answered(self, key: str, future: Any) -> None:
        """Takes a task's answer, or has it done again."""
        host = self._dispatcher.on(key)
        try:
            answer: Answer = future.result()
        except (Exception, asyncio.CancelledError):  # whatever Dask says: the worker, or the scheduler, is gone
            self._once_more(key, "no answer", Again.LOST)
            self.fleet.look_soon()
            return
        self._under_way.answered(key, host)
        survey = key.startswith("survey-")  # for which all the others wait
        if answer.busy and survey and host not in self._benches:
            self._give_up(key, answer.problem)
            return
        if answer.again:
            kind = Again.BUSY if answer.busy and not survey else Again.FAILED
            self._once_more(key, answer.problem, kind, self.rest_s)
            return
        unit = self._unit(key)
        if unit is not None and answer.problem:
            self._give_up(key, answer.problem)
            return
        if unit is not None:
            self._levels |= answer.levels
        elif answer.survey is not None:
            self._surveys[self._asked_of[key]] = answer.survey
        elif answer.problem:
            self._give_up(key, answer.problem)
            return
        else:
            name = self._asked_of[key]
            self.outcome.records[name] = answer.record
            if not answer.finished:
                self.outcome.unfinished.append(name)
            self.fleet.say(f"{host}: trials done" if answer.finished else f"{host}: trials done for now")
        self._dispatcher.done(key, time.monotonic())

    def _once_more(self, key: str, why: str, kind: Again, rest: float = 0.0) -> None:
        """Has a task done again, some times for each kind of reason.

        Args:
            key: the task's.
            why: the reason.
            kind: of which kind it is.
            rest: seconds for which its host gets nothing.
        """
        self._tries[key, kind] += 1
        if self._tries[key, kind] > kind.value:
            self._give_up(key, why)
            return
        self.fleet.say(f"{self._dispatcher.on(key)}: {why.splitlines()[0]}; once more")
        self._dispatcher.again(key, time.monotonic(), rest)

    def _give_up(self, key: str, why: str) -> None:
        """Ends a task that can't be done."""
        unit = self._unit(key)
        if unit is not None:
            self.fleet.say_once(f"{unit.name}: not built: {why.splitlines()[0]}")
            self._failed |= dict.fromkeys(unit.keys, why.splitlines()[0])
        elif key.startswith("survey-"):
            self._surveys[self._asked_of[key]] = units.Survey(why_not=why)
        else:
            name = self._asked_of[key]
            self.outcome.failed[name] = why
            self.fleet.say(f"{name}: {why}")
        self._dispatcher.done(key, time.monotonic())


def _good(future: Any) -> bool:
    """Whether a host has answered, and has done the task."""
    try:
        answer: Answer = future.result()
    except (Exception, asyncio.CancelledError):  # see `Driver._answered`
        return False
    return not (answer.again or answer.problem)
