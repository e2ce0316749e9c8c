"""`--hosts`: a study on many hosts, from a command to a record in this home."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console

from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.files import write_whole
from burnish.base.paths import Home
from burnish.catalogue import load
from burnish.hosts.asked import COMING_S, Asked, Outcome
from burnish.hosts.carried import Carried, carried, without
from burnish.hosts.desk import perform
from burnish.hosts.driver import Driver
from burnish.hosts.fleet import Fleet
from burnish.hosts.host import Chosen, Host, host_of
from burnish.hosts.place import Campaign, Joined, campaign, folder, read_joined
from burnish.hosts.shelf import share_older
from burnish.record import exchange
from burnish.record.events import Event, Recorded
from burnish.record.events.bundled import FigureMeasured
from burnish.record.events.study import RecordImported, SessionBegun
from burnish.record.events.trials import StartDone
from burnish.record.record import Record
from burnish.study.kept import runs as studies
from burnish.study.merge import merging
from burnish.study.merge.parts import VERBS
from burnish.study.request.options import Options
from burnish.study.study import Study

RECORD, MERGED = ".jsonl.xz", "merged.jsonl.xz"
"""Of the files with results: what follows a host's name, and all hosts' in one."""

NOT_SENT = {
    "--hosts": True,
    "--config": True,
    "--json": False,
    "--full": False,
    "--fresh": False,
    "--dry-run": False,
    "--quiet": False,
    "-q": False,
}
"""Options that are not part of what a host does, and whether they take a value."""


def joined_here(home: Home, asked: str = "--hosts: ") -> Joined:
    """What this machine knows about the scheduler.

    Args:
        home: where it is written down.
        asked: the option that needs it, for the message; '' if a verb does without one.

    Raises:
        UserError: nothing.
    """
    joined = read_joined(home)
    if joined is None:
        raise UserError(
            f"{asked}this machine knows of no scheduler; `burnish hosts up` starts one here, or copy the folder "
            f"{folder(home) / 'join'} of the machine on which it runs"
        )
    return joined


def present(home: Home) -> list[Host]:
    """The hosts that take part now, as they describe themselves.

    Raises:
        UserError: this machine knows of no scheduler.
        InfrastructureError: it does not answer.
    """
    from burnish.hosts import plumbing  # noqa: PLC0415 - Dask

    joined = joined_here(home, "")
    try:
        link = plumbing.Link(home, joined.address)
    except OSError:
        raise InfrastructureError(f"{joined.address}: no scheduler answers; `burnish hosts up` starts it") from None
    try:
        return [host_of(about) for about in link.hosts()]
    finally:
        link.close()


def sent(study: Study, options: Options) -> tuple[Sequence[str], Carried]:
    """What hosts are asked to do: the words of the command, and these with the files that they name.

    Raises:
        UserError: the study can't be shared among hosts.
    """
    if study.search is not None:
        raise UserError(
            "--hosts: a search chooses what to build by what it measured, which differs from host to host; name "
            "variants (--variant), or leave --hosts out"
        )
    words = without(options.command, NOT_SENT)
    return words, carried(words, load.engine_names())


def check(home: Home, study: Study, options: Options, chosen: Chosen) -> None:
    """Refuses what `run` would refuse, for a plan; hosts that are not there now are not waited for.

    Raises:
        UserError: the study can't be shared among hosts, or no host is there that was asked for.
        InfrastructureError: the scheduler does not answer.
    """
    joined_here(home)
    sent(study, options)
    hosts = present(home)
    missing = chosen.missing(hosts)
    if missing or not any(map(chosen.has, hosts)):
        raise UserError(
            f"--hosts {chosen.words}: no host for {', '.join(missing) or 'trials'} is there; there are: "
            f"{', '.join(f'{host.name} ({host.kind})' for host in hosts) or 'none'} (`burnish hosts` lists them)"
        )


def run(
    home: Home, study: Study, options: Options, chosen: Chosen, console: Console, coming: float = COMING_S
) -> list[Path]:
    """Runs a study on hosts, or goes on with it; returns the folders of what came of it, the merged run alone if there
    is one.

    Args:
        home: this machine's.
        study: what is measured.
        options: how it is measured.
        chosen: where.
        console: for progress.
        coming: seconds to wait for hosts that are not there yet.

    Raises:
        UserError: it can't be shared among hosts, or no host is there that was asked for.
        InfrastructureError: no host has a result, or the scheduler does not answer.
    """

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    from burnish.hosts import plumbing  # noqa: PLC0415 - Dask

    joined = joined_here(home)
    words, command = sent(study, options)
    begun = campaign(home, digest_of([study.definition.as_dict(), chosen.words]), fresh=options.fresh)
    if begun.resumed:
        say("resuming the run that was begun on these hosts")
    if joined.store is not None:
        share_older(joined.store, joined.limit)
    elif not study.programs:
        say("no store of artefacts (`burnish hosts up --artefacts`): every host makes its own builds")
    asked = Asked(
        name=begun.name,
        command=command,
        title=" ".join(words[:2]),
        chosen=chosen,
        store=joined.store,
        limit=joined.limit,
        fresh=begun.fresh,
        coming=coming,
    )
    fleet = Fleet(lambda: plumbing.Link(home, joined.address), joined.address, say, asked.patience)

    def take_note(benches: Sequence[str]) -> None:  # in case this call is killed
        begun.noting(*begun.runs, open_hosts=(*benches, *begun.open))

    outcome = Driver(asked, fleet, perform, take_note=take_note).run()
    return collected(home, outcome, begun, say, mergeable=study.definition.verb in VERBS or study.bundled is not None)


def collected(
    home: Home, outcome: Outcome, begun: Campaign, say: Callable[[str], None], *, mergeable: bool
) -> list[Path]:
    """The hosts' records in this home, merged where that is possible.

    A call that some hosts had not finished leaves a run of the others. The next call's run has all of that, also of a
    host that is gone since, and takes its place. The run is open until each host has finished that any call had.

    Args:
        home: this machine's.
        outcome: what has come of this call.
        begun: the run of which it is a call.
        say: prints a line.
        mergeable: whether records of the study's verb can be merged.

    Raises:
        InfrastructureError: no host has a result.
    """
    place = folder(home) / "results" / begun.name
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in outcome.records.items():
        write_whole(place / f"{name}{RECORD}", content)
    given = [file for file in sorted(place.glob(f"*{RECORD}")) if file.name != MERGED]
    parts = dict(_readable(given, say))
    finished = (outcome.records.keys() & parts.keys()) - {*outcome.unfinished, *outcome.failed}
    # Also those of earlier calls: a host that was off in this call was not even asked.
    unread = [name for name in map(_host_of, given) if name not in parts]
    late = dict.fromkeys((*outcome.unfinished, *outcome.failed, *begun.open, *unread))
    begun = begun.noting(*begun.runs, open_hosts=(name for name in late if name not in finished))
    if not (outcome.records and parts):
        reasons = "; ".join(f"{name}: {why.splitlines()[0]}" for name, why in outcome.failed.items())
        raise InfrastructureError(f"no host has a result{f': {reasons}' if reasons else ''}")
    for name in sorted(parts.keys() - outcome.records.keys()):
        say(f"{name}: as an earlier call of this command had it")
    files = [place / f"{name}{RECORD}" for name in parts]
    if len(files) > 1 and mergeable:
        try:
            exchange.write(place / MERGED, merging.merge(_measured(parts, say)).events)
            files = [place / MERGED]
        except UserError as error:  # another compiler on each, as without a shared store; or nothing was measured
            say(f"not merged, so that each host's run stands by itself: {error}")
    begun = begun.noting(*begun.runs, *(_name_in(file) for file in files))
    folders = [_taken(home, file) for file in files]
    for former in begun.runs if not unread else ():  # which may have what can't be read any more
        if home.studies / former not in folders and _removed(home, former, place):
            now = ", ".join(run.name for run in folders)
            say(f"{former}: was of an earlier call of this command; {now} has all of it")
    if not begun.open:
        begun.close()
    else:
        begun.noting(*(run.name for run in folders), *(begun.runs if unread else ()))
        say(f"{', '.join(begun.open)}: not finished; the same command goes on")
    return folders


def _host_of(file: Path) -> str:
    """The host that gave a file."""
    return file.name.removesuffix(RECORD)


def _readable(files: Sequence[Path], say: Callable[[str], None]) -> Iterator[tuple[str, Sequence[Recorded[Event]]]]:
    """Hosts and the events that each gave, in this call or an earlier one; a file that can't be read is named."""
    for file in files:
        try:
            yield _host_of(file), exchange.read_events(file)
        except UserError as error:
            say(f"{error}; its host is left out")


def _measured(
    parts: Mapping[str, Sequence[Recorded[Event]]], say: Callable[[str], None]
) -> list[tuple[str, Sequence[Recorded[Event]]]]:
    """The hosts' files with their events, without hosts that have measured nothing yet, if two others are left."""
    nothing = [
        name
        for name, events in parts.items()
        if not any(isinstance(recorded.event, StartDone | FigureMeasured) for recorded in events)
    ]
    if len(parts) - len(nothing) < 2:
        nothing = []
    for name in nothing:
        say(f"{name}: has no finished start; the others are merged without it")
    return [(f"{name}{RECORD}", events) for name, events in parts.items() if name not in nothing]


def _name_in(file: Path) -> str:
    """The name of the run in an exported record."""
    return exchange.study_name(file, exchange.read_events(file, turns=False))


def _imported(run: Path) -> str | None:
    """The file that a run of this home was imported from; None: it was measured here."""
    with closing(Record(run)) as record:
        imported = record.last(RecordImported)
    return imported.event.file if imported is not None else None


def _removed(home: Home, former: str, place: Path) -> bool:
    """Removes the run of an earlier call, which is part of the present one; not one that was measured here."""
    with studies.lock(home):
        run = home.studies / former
        ours = run.exists() and (file := _imported(run)) is not None and (place / file).exists()
        if ours:
            shutil.rmtree(run)
        return ours


def _taken(home: Home, file: Path) -> Path:
    """The run of an exported record in this home. One that was taken before, with fewer starts, makes room; a run of
    this home's own, which is a host too, has it all. Two hosts that began in one second have runs of one name: the
    later one is then called by its host as well."""
    with studies.lock(home):
        name = _name_in(file)
        for called in (name, f"{name}-{_host_of(file)}"):
            former = home.studies / called
            imported = _imported(former) if former.exists() else file.name
            if imported is None and _begin_alike(former, file):
                return former
            if imported == file.name:
                shutil.rmtree(former, ignore_errors=True)
                return exchange.import_study(home, file, called)[0]
        raise UserError(f"{former}: a run of this name is another host's; `burnish show {file}` has this one")


def _begin_alike(run: Path, file: Path) -> bool:
    """Whether an exported record is that of a run: both have the same first session, of one host, or the run none."""
    with closing(Record(run)) as record:
        own = next(record.events(SessionBegun), None)
    events = (recorded.event for recorded in exchange.read_events(file, turns=False))
    return own is None or own.event == next((each for each in events if isinstance(each, SessionBegun)), None)
