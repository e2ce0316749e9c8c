"""A local store that fetches what it lacks from the artefacts of other hosts, and gives them what is made here.

What a key of the store does not say is added to the name on the far side (`Host`): builds, profiles and data belong to
an architecture and a distribution; profiles and the builds that write them to the path where they were made too, which
is compiled in; a gate's result to the processor that ran it.

An entry is made from others, and it is no use beside others of the same name: a build has the profile that it was
compiled with, not another host's. So nothing is fetched or given away whose ingredients differ from those here.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.artefacts import packing
from burnish.artefacts.artefacts import Artefacts
from burnish.artefacts.exchange import Exchange
from burnish.artefacts.far import ForbiddenError, UnreachableError
from burnish.artefacts.packing import DamagedError
from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.processor import this_processor
from burnish.record.store import Entry

SHARED = ("builds", "profiles", "datasets", "gates", "evidence")
"""Kinds that are exchanged. Not calibrations and probes, which are about a host; nor patches, made in a moment."""

AGAIN_S = 30.0
"""Seconds until the far side is asked again for what it did not have: another host may be making it."""

PAUSE_S = 300.0
"""Seconds until a far side that failed is asked for anything again."""

_NATIVE = re.compile(r"-m(arch|tune|cpu)=native")


@dataclass(frozen=True)
class Host:
    """What of a host decides which entries it can use.

    Attributes:
        architecture: ``x86_64``.
        system: distribution and release, ``debian 12``: the libraries that programs load.
        processor: its name and features.
        place: where Burnish's home is.
    """

    architecture: str
    system: str
    processor: tuple[str, ...]
    place: str

    def names(self, kind: str, key: str) -> tuple[str, ...]:
        """Names that an entry may have on the far side, the most likely first."""
        anywhere: list[object] = [self.architecture, self.system]
        here = [*anywhere, self.place]
        scopes = {
            "builds": (anywhere, here, [*here, self.processor]),
            "profiles": (here,),
            "gates": ([*anywhere, self.processor],),
        }.get(kind, (anywhere,))
        return tuple(f"{key}-{digest_of(scope, 8)}" for scope in scopes)

    def name(self, entry: Entry) -> str:
        """The name on the far side of an entry that is here."""
        names = self.names(entry.kind, entry.key)
        if entry.kind != "builds":
            return names[0]
        flags = [flag for flags in entry.about.get("flags", {}).values() for flag in flags]
        if any(_NATIVE.fullmatch(flag) for flag in flags):
            return names[2]
        return names[1 if entry.about.get("instrumented") else 0]


def this_host(home: Path) -> Host:
    """This host, with Burnish's home folder."""
    processor = this_processor()
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    system = f"{release.get('ID', 'linux')} {release.get('VERSION_ID', '')}".strip()
    return Host(processor.architecture, system, (processor.model, *sorted(processor.features)), str(home))


def ingredients(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and key of the entries that an entry was made from, as its description names them; pure."""
    for kind, name in (("builds", "base"), ("builds", "build"), ("builds", "of"), ("profiles", "profile")):
        if isinstance(key := about.get(name), str) and key:
            yield kind, key
    for key, _ in about.get("merged", ()):
        yield "profiles", key


@dataclass
class _Known:
    """What this session knows of the far side.

    Attributes:
        absent: by kind and key, when it was not there.
        agrees: by kind and key, whether the entry here is the far side's.
        refused: kind and key of what was fetched and can't be used here.
        damaged: kind and key of what could not be read whole; what is made here takes its place.
        failed: when the far side failed last.
        gives: whether this host may write there, as far as it is known.
    """

    absent: dict[tuple[str, str], float] = field(default_factory=dict)
    agrees: dict[tuple[str, str], bool] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    damaged: set[tuple[str, str]] = field(default_factory=set)
    failed: float | None = None
    gives: bool = True


class SharedStore(Exchange):
    """The store under `root`, with what other hosts have made.

    Args:
        root: as of `Store`.
        far: the artefacts that hosts share.
        host: this host.
        say: called with a line for the user.
        unfit: called with an entry that was fetched; why it can't be used here, or None.

    Attributes:
        fetches: whether `find` fetches; False for a plan, which only asks what there is.
        gives: whether what is here is given to other hosts; False for whoever only fetches.
    """

    def __init__(
        self,
        root: Path,
        far: Artefacts,
        host: Host,
        say: Callable[[str], None],
        unfit: Callable[[Entry], str | None] = lambda _: None,
    ) -> None:
        super().__init__(root, far, say)
        self.host = host
        self._unfit = unfit
        self._known = _Known()
        self.fetches = self.gives = True

    def find(self, kind: str, key: str) -> Entry | None:
        """The entry here, fetched if only another host has it; None when there is none."""
        entry = super().find(kind, key)
        if entry is not None or not self.fetches or kind not in SHARED or not self._worth_asking(kind, key):
            return entry
        try:
            entry = self._fetch(kind, key)
        except (InfrastructureError, UserError) as error:
            self._failed(error, kind, key)
        if entry is None:
            self._known.absent[kind, key] = time.monotonic()
        return entry

    def has(self, kind: str, key: str) -> bool:
        """Whether there is such an entry, here or with another host; fetches nothing."""
        here = super().has(kind, key)
        if here or kind not in SHARED or not self._worth_asking(kind, key):
            return here
        try:
            if any(self.far.has(kind, name) for name in self.host.names(kind, key)):
                return True
        except InfrastructureError as error:
            self._failed(error, kind, key)
        self._known.absent[kind, key] = time.monotonic()
        return False

    def admit(self, kind: str, key: str, about: Mapping[str, Any]) -> Entry:
        """As `Store.admit`; then gives the entry to the other hosts, or takes the one of a host that was first."""
        if kind in SHARED and kind != "evidence":  # which says what a program is, wherever it was read
            about = {**about, "made_on": {"processor": self.host.processor[0], "system": self.host.system}}
        entry = super().admit(kind, key, about)
        self._known.agrees.pop((kind, key), None)
        if not (self._up() and self._known.gives and shareable(entry)):
            return entry
        try:
            if self._agrees(entry):
                return entry
            if self._known.gives and all(self._agrees(part) for part in self._parts(entry.about)):
                first = self._fetch(kind, key)
                if first is not None:
                    self.say(f"{kind} {key}: another host was first; its result is used")
                return first or entry
        except (InfrastructureError, UserError) as error:
            self._failed(error, kind, key)
        return entry

    def push(self, entry: Entry) -> bool:
        """Gives an entry to the other hosts, with what it was made from; returns whether they have the same.

        Raises:
            InfrastructureError, UserError: see `Artefacts.push`.
        """
        same = shareable(entry) and self._agrees(entry)
        if not self._known.gives:
            raise UserError(f"{self.far.far.url}: this host may not write there; push from one that may")
        return same

    def _agrees(self, entry: Entry) -> bool:
        """Whether the far side has the same entry; gives it if it has none, and the same ingredients."""
        name = entry.kind, entry.key
        if name not in self._known.agrees:
            parts = all(self._agrees(part) for part in self._parts(entry.about))
            self._known.agrees[name] = parts and self._give(entry)
        return self._known.agrees[name]

    def _give(self, entry: Entry) -> bool:
        """Puts an entry on the far side if this host may; returns whether it is there then, and not another."""
        name, damaged = self.host.name(entry), (entry.kind, entry.key) in self._known.damaged
        if self.gives and self._known.gives:
            try:
                return self.give(entry, name, note=note_of(entry, self.host), replace=damaged) is not None
            except ForbiddenError as error:
                self._known.gives = False
                self.say(f"{error}; this host gives nothing to others")
        return self.far.digest(entry.kind, name) == packing.pack(entry.folder).digest

    def _parts(self, about: Mapping[str, Any]) -> Iterator[Entry]:
        """The ingredients of an entry that are here, and as they were made."""
        for kind, key in ingredients(about):
            folder = self._folder(kind, key)
            entry = self.named(kind, key, thorough=folder not in self._whole)
            if entry is not None and shareable(entry):
                self._whole.add(folder)
                yield entry

    def bring(self, kind: str, key: str) -> Entry | None:
        """Brings an entry here that hosts of a study share by its key alone, if it fits to this one, and beside what is
        here: what it was made from is shared by its key as well, so that nothing need be given to know it.

        Raises:
            DamagedError, InfrastructureError: see `Exchange.take`.
        """
        return self._fetch(kind, key, (key,), self._same_by_key)

    def _same_by_key(self, part: Entry) -> bool:
        """Whether what hosts of a study share under the key of an entry is the one that is here."""
        return self.far.digest(part.kind, part.key) == packing.pack(part.folder).digest

    def _fetch(
        self, kind: str, key: str, names: Sequence[str] = (), same: Callable[[Entry], bool] | None = None
    ) -> Entry | None:
        """Brings an entry here if it fits to this host and to what is here.

        Args:
            kind: its kind.
            key: its key here.
            names: those that it may have on the far side; none: those that this host gives it.
            same: whether an ingredient that is here is the one that it was made from; None: if the far side has it
                under the name that this host gives it.
        """
        began = time.monotonic()
        agrees = same or self._agrees
        entry = self.take(kind, key, names or self.host.names(kind, key), lambda fetched: self._fits(fetched, agrees))
        if entry is None:
            return None
        if not names:
            self._known.agrees[kind, key] = True
        if kind not in ("gates", "evidence"):
            seconds = time.monotonic() - began
            self.say(f"fetched {kind} {key}: {entry.size() / 1e6:,.0f} MB in {seconds:.1f} s")
        return entry

    def _fits(self, fetched: Entry, same: Callable[[Entry], bool]) -> bool:
        """Whether an entry of another host can be used here, beside what is here."""
        why = self._unfit(fetched)
        if why is None and not all(same(part) for part in self._parts(fetched.about)):
            why = "it was made from another profile or build than the one here"
        if why is None:
            return True
        self._known.refused.add((fetched.kind, fetched.key))
        self.say(f"{fetched.kind} {fetched.key} of another host is not used: {why}")
        return False

    def _worth_asking(self, kind: str, key: str) -> bool:
        """Whether the far side may have an entry that it did not have before, and that is not refused."""
        asked = self._known.absent.get((kind, key))
        new = asked is None or time.monotonic() - asked > AGAIN_S
        return new and self._up() and (kind, key) not in self._known.refused

    def _up(self) -> bool:
        """Whether the far side is asked at all: not for a while after it failed."""
        return self._known.failed is None or time.monotonic() - self._known.failed > PAUSE_S

    def _failed(self, error: Exception, kind: str, key: str) -> None:
        """Says what failed; the study goes on with what is here."""
        if isinstance(error, DamagedError):
            self._known.damaged.add((kind, key))
            self.say(f"{error}; it is made here instead")
        elif isinstance(error, UnreachableError):
            self._known.failed = time.monotonic()
            self.say(f"{error}; continuing without it for {PAUSE_S / 60:.0f} min")
        else:
            self.say(str(error))


def shareable(entry: Entry) -> bool:
    """Whether an entry may be given to other hosts: not what was made from a user's own data; pure."""
    return entry.kind in SHARED and not entry.about.get("own")


def note_of(entry: Entry, host: Host) -> str:
    """What an entry is, for people who list the far side; pure."""
    about = entry.about
    words = [about.get("engine"), about.get("toolchain"), about.get("dataset"), "BOLT" if about.get("bolt") else None]
    words += [word for word, has in (("instrumented", "instrumented"), ("with a profile", "profile")) if about.get(has)]
    if entry.kind in ("evidence", "gates"):
        words.append(f"{about.get('what', 'gate')} of {about.get('build')}")
    return " ".join([*(str(word) for word in words if word), f"({host.architecture}, {host.system})"])
