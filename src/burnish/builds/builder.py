"""Makes the stages of a recipe: compiles at one constant path and moves finished builds into the store."""

from __future__ import annotations

import contextlib
import json
import resource
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from burnish.base.errors import InfrastructureError
from burnish.base.files import linked_copy
from burnish.builds import configuration, effective, linkers, objects, reproducer, witness
from burnish.builds.after_link import preload
from burnish.builds.reproducer import KeptProfile
from burnish.builds.sharing import cost_title, objects_key, of_its_compiler, reading_key
from burnish.builds.stages import Bolt, Compile
from burnish.engines.contract import BuildJob, Engine
from burnish.engines.jobs import Jobs
from burnish.model.cache import CacheUse
from burnish.profiles import audit as profiles
from burnish.profiles import matching
from burnish.profiles.collecting import (
    BOLT_PROFILE,
    DATA,
    HOT_AGAIN,
    OBJECTS,
    PROFILE_FILE,
    check_digest,
    function_counts,
    hot_functions,
    lost_functions,
)
from burnish.profiles.watching import Watch, unfit
from burnish.program.built import Built, CompiledObject
from burnish.record.costs import Cost
from burnish.record.store import DESCRIPTION, MADE_WITH, Entry, Store, folder_size
from burnish.record.workbench import Bench
from burnish.source.patches import overlay, patch_set
from burnish.source.sources import Source
from burnish.toolchain import ccache, compile_costs, hints, linking

APART = "objects"
"""Name under which the costs of compiling single objects are kept."""


@dataclass
class Builder:
    """Builds one engine's stages.

    Attributes:
        engine: the engine.
        store: where finished builds go.
        work: the engine's constant work folder.
        source: the unpacked tree in it.
        bench: recorded processes and progress.
        jobs: parallel jobs: the user's, or the number of cores.
        wide: how many compilers and linkers may run at a time in a stage; default: `jobs` of each.
        cache_gb: maximum size of the compiler cache, GB.
        origin: where the source is from, for the script that rebuilds a program; None: a folder.
        expected: seconds that the plan expects of a stage, as in `Plan.expected`; others by their earlier costs.
    """

    engine: Engine
    store: Store
    work: Path
    source: Path
    bench: Bench
    jobs: int
    wide: Callable[[Compile, str], Jobs] | None = None
    cache_gb: float = ccache.USUAL_GB
    origin: Source | None = None
    expected: dict[str, float] = field(default_factory=dict)

    @property
    def place(self) -> Path:
        """The constant build folder."""
        return self.work / "build"

    @property
    def profile_place(self) -> Path:
        """Path of a single-file profile while it is used; constant, because it is part of the command line."""
        return self.work / PROFILE_FILE

    @property
    def bolt_raw(self) -> Path:
        """Folder that BOLT-instrumented programs write to; the path is compiled into them."""
        return self.work / "bolt-raw"

    @property
    def link_place(self) -> Path:
        """Folder of linker links and wrappers while a build needs them; constant, as part of the command line."""
        return self.work / "link"

    def built(self, name: str, entry: Entry) -> Built:
        """The build in a store entry, with a name for people and its launch environment."""
        return preload.launched(self.engine.built(name, entry.folder, entry.key), entry)

    def compile(self, stage: Compile, name: str) -> Entry:
        """Configures, compiles and links a stage that is not in the store yet."""
        title = f"{name}: {stage.title}"
        spec = self.engine.spec
        like = of_its_compiler(stage.title, stage)
        usual = self.store.cost(spec.name, stage.title, name, like) or spec.costs.compile_s
        expected = self.expected.get(stage.key, self.expected.get(title, usual))
        with self.bench.step(title, f"build-{name}-{stage.title}-{stage.key}", expected, low=True) as log:
            return self._compile(stage, name, log)

    def _compile(self, stage: Compile, name: str, log: Path) -> Entry:
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        listed = self._source_list()
        with overlay.patched(self.source, stage.patches, stage.source), _empty(self.place):
            profile = self._lay_profile(stage)
            start = _size(log)
            jobs = self._jobs(stage, name)
            job = self._job(stage, jobs, stage.key)
            if profile is not None and self._is_its_own(profile, stage):
                job = replace(job, see=Watch(partial(self._audit, profile), log).see)
            self.engine.build(job)
            cached = ccache.use_of(job.cache_log, job.cache_log_of_reading)
            tree = folder_size(self.place)
            text = _said(log, start)
            facts: dict[str, object] = {"profile": stage.profile, MADE_WITH: profile.made_with if profile else {}}
            made = self.engine.objects(job)
            if profile is not None:
                audit = self._audit(profile, text, made)
                facts["audit"] = audit.summary
                match = self._match(profile, audit, made, stage)
                if match is not None:
                    facts |= {"audit": f"{match.words}; {audit.summary}", "match": match.as_dict()}
                    self.bench.say(f"{name}: profile {profile.key}: {match.words}")
                if not (audit.acceptable if match is None else match.enough):
                    raise unfit(str(facts["audit"]), audit, log)
            if hints.FLAG in (*stage.flags.c, *stage.flags.cxx) and not stage.instrumented:
                facts["wrong_hints"] = [list(vars(hint).values()) for hint in hints.read_hints(text)]
            look = effective.examine(made, stage.flags.c, stage.flags.cxx)
            facts |= objects.facts(made, job, self.store, self.engine.spec.server)
            facts |= {
                "objects": look.objects,
                "levels": look.levels,
                "cancelled": look.cancelled,
                "effective": look.summary,
            }
            folder = self.store.begin("builds", stage.key)
            for path, where in self.engine.keep(job):
                target = folder / where
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, target)
            configuration.keep(self.place, folder)
            if stage.instrumented:
                (folder / OBJECTS).write_text(json.dumps({item.path: item.source for item in made}))
            built = self.engine.built(name, folder, stage.key)
            facts |= linkers.verify(stage, built, name)
            facts["notes"] = linking.notes(text, stage.linking)
            making = witness.observe(
                self.engine,
                replace(job, flags=stage.flags),
                key=stage.key,
                origin=self.origin,
                patches=stage.patches,
                profile=self._kept(profile),
                server=built.server,
                linkers=self.link_place,
            )
            witness.leave(making, folder, patches=stage.patches, sources=listed)
            if stage.patches:
                facts |= {"patches": patch_set.facts(stage.patches), "source": stage.source}
            seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
            entry = self.store.admit(
                "builds",
                stage.key,
                {
                    **facts,
                    "engine": self.engine.spec.name,
                    "toolchain": stage.toolchain.name,
                    "toolchain_version": stage.toolchain.version,
                    "features": stage.features.name,
                    "flags": {"c": stage.flags.c, "cxx": stage.flags.cxx, "link": stage.flags.link},
                    "hardening": stage.hardening,
                    "instrumented": stage.instrumented,
                    "seconds": seconds,
                    "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                    "server_bytes": built.server.stat().st_size,
                    "objects_key": objects_key(stage),
                    "reading_key": reading_key(stage),
                    "cache": asdict(cached) if cached else None,
                    "jobs": asdict(jobs),
                    "peak_rss_bytes": self.bench.peak,
                    "sha256": making.sha256,
                    "making": witness.described(making),
                },
            )
        if job.meter is not None:
            job.meter.notes.unlink()
        cost = Cost(seconds, peak=self.bench.peak, kept=entry.size(), tree=tree)
        step = cost_title(stage.title, cached or CacheUse())
        for step_name in (step, of_its_compiler(step, stage)):
            self.store.costs.note(self.engine.spec.name, step_name, name, cost)
        if link := entry.about.get("costs", {}).get("link"):
            peak, spent = link
            self.store.costs.note(self.engine.spec.name, "link", name, Cost(spent, peak=peak))
        return entry

    def _jobs(self, stage: Compile, name: str) -> Jobs:
        """The parallel jobs of a stage; reports the reason if they are fewer than usual."""
        jobs = self.wide(stage, name) if self.wide else Jobs(self.jobs, self.jobs)
        if jobs.reason:
            self.bench.say(jobs.reason)
        return jobs

    def _job(self, stage: Compile, jobs: Jobs, notes: str) -> BuildJob:
        """What the engine is asked to build, at the constant path; `notes` is the key of what its objects cost."""
        linkers.lay_linkers(stage, self.link_place)
        quicker = linking.unkeyed(stage.linking, self.store.root / "thinlto")
        return BuildJob(
            source=self.source,
            place=self.place,
            toolchain=stage.toolchain,
            flags=replace(stage.flags, link=(*stage.flags.link, *quicker)),
            features=stage.features,
            options=stage.options,
            hardening=stage.hardening,
            with_tools=stage.with_tools,
            relocations=stage.relocations,
            jobs=jobs.compile,
            bench=self.bench,
            cache=self.store.root / "ccache" if shutil.which("ccache") else None,
            cache_gb=self.cache_gb,
            link_jobs=jobs.link,
            link_threads=jobs.link_threads,
            keep_debug=stage.linking.keep_debug or stage.debug,
            full_debug=stage.debug,
            archives=self.link_place if stage.linking.archives else None,
            first=stage.linking.first,
            meter=compile_costs.lay(self.work, notes),
            # gcc's machine code is the same with them; clang's was not examined.
            precompiled=self.engine.spec.precompiled if stage.toolchain.family == "gcc" else (),
        )

    def cost_of(self, stage: Compile, name: str, words: Sequence[str]) -> Mapping[str, Any]:
        """Compiles some of a stage's objects and returns their costs; nothing else of them is kept.

        Args:
            stage: its flags and source are used.
            name: of the variant, for people.
            words: the objects: any part of their names.

        Returns:
            as ``costs`` in a build's description (`compile_costs.summary`); empty without GNU time.
        """
        title = f"{name}: {', '.join(words)} alone"
        began, usual = time.monotonic(), self.store.cost(self.engine.spec.name, APART, name)
        with (
            self.bench.step(title, f"build-{name}-{APART}-{stage.key}", usual, low=True),
            overlay.patched(self.source, stage.patches, stage.source),
            _empty(self.place),
        ):
            self._lay_profile(stage)
            job = self._job(stage, self._jobs(stage, name), f"{stage.key}-{APART}")
            made = self.engine.build_objects(job, words)
            object_facts = objects.facts(made, job, self.store, self.engine.spec.server)
            if job.meter is not None:
                job.meter.notes.unlink()
        self.store.note_cost(self.engine.spec.name, APART, name, time.monotonic() - began)
        return dict(object_facts.get("costs", {}))

    def _source_list(self) -> Path | None:
        """The digests of the source's files if it is a folder: a script checks the given folder by them."""
        if self.origin is not None and self.origin.kind != "folder":
            return None
        name = self.origin.digest[:16] if self.origin else "given"
        return witness.source_list(self.source, self.store.root / "sources", name)

    def _kept(self, profile: Entry | None) -> KeptProfile | None:
        """Where the profile is kept, and where `_lay_profile` puts it while it is used."""
        if profile is None:
            return None
        data = DATA[profile.about["kind"]]
        place = self.place.name if (profile.folder / data).is_dir() else PROFILE_FILE
        return witness.kept_profile(profile, data, place)

    def _lay_profile(self, stage: Compile) -> Entry | None:
        """Puts the stage's profile where the compilers look for it, after checking that it belongs to the build."""
        if stage.profile is None:
            return None
        entry = self.store.find("profiles", stage.profile)
        if entry is None:
            raise InfrastructureError(f"profile {stage.profile} is not in the store; run the same command again")
        check_digest(entry)
        data = entry.folder / DATA[entry.about["kind"]]
        if data.is_dir():
            shutil.copytree(data, self.place, dirs_exist_ok=True)
        else:
            shutil.copyfile(data, self.profile_place)
        return entry

    def _is_its_own(self, profile: Entry, stage: Compile) -> bool:
        """Whether the profile is of this source, or of no known one."""
        return profile.about.get("source") in (None, stage.source)

    def _audit(self, profile: Entry, log: str, objects: Sequence[CompiledObject] = ()) -> profiles.Audit:
        """How well the profile was matched, from the compile log; without `objects` as far as the log goes."""
        hot, kind = hot_functions(profile.folder), profile.about["kind"]
        if kind == "clang":
            sources = frozenset(Path(item.source).name for item in objects)
            return profiles.audit_clang(log, hot, hot_functions(profile.folder, HOT_AGAIN), sources)
        if kind != "gcc":
            return profiles.audit_samples(log, hot)
        counts = {
            path: profiles.ObjectCounts(functions, total)
            for path, (functions, total) in profile.about["objects"].items()
        }
        return profiles.audit_gcc(log, counts, hot, frozenset(item.path for item in objects))

    def _match(
        self, profile: Entry, audit: profiles.Audit, objects: Sequence[CompiledObject], stage: Compile
    ) -> matching.Match | None:
        """How much of a profile of another source was matched; None for one of this source, or of no known one."""
        kind = profile.about["kind"]
        if self._is_its_own(profile, stage) or kind not in ("clang", "gcc"):
            return None
        if kind == "gcc":
            return matching.of_gcc(profile.about["objects"], audit.names, [item.path for item in objects])
        counts = function_counts(kind, profile.folder, stage.toolchain)
        return matching.of_clang(counts, audit.names, [Path(item.source).name for item in objects])

    def bolt(self, stage: Bolt, name: str) -> Entry:
        """Rewrites a linked program with BOLT: instrumented without a profile, optimised with one."""
        expected = self.store.cost(self.engine.spec.name, stage.title, name)
        with self.bench.step(f"{name}: {stage.title}", f"bolt-{name}-{stage.key}", expected, low=True) as log:
            return self._bolt(stage, name, log)

    def _bolt(self, stage: Bolt, name: str, log: Path) -> Entry:
        base = self.store.find("builds", stage.build)
        tool = stage.toolchain.bolt
        if base is None or tool is None:
            raise InfrastructureError(f"BOLT's input {stage.build} is not in the store; run the same command again")
        began = time.monotonic()
        folder = self.store.begin("builds", stage.key)
        # Hard links: everything but the program is shared. The description belongs to the base and must not change.
        linked_copy(base.folder, folder, DESCRIPTION, reproducer.SCRIPT)
        built = self.engine.built(name, folder, stage.key)
        before = self.engine.built(name, base.folder, base.key).server
        built.server.unlink()
        facts: dict[str, object] = {}
        profile: Entry | None = None
        kept: KeptProfile | None = None
        if stage.profile is None:
            options = [
                "-instrument",
                f"-instrumentation-file={self.bolt_raw / 'raw'}",
                "-instrumentation-file-append-pid",
            ]
        else:
            profile = self.store.find("profiles", stage.profile)
            if profile is None:
                raise InfrastructureError(f"profile {stage.profile} is not in the store; run the same command again")
            check_digest(profile)
            options = [f"-data={BOLT_PROFILE}", *stage.options]
            facts |= {"profile": stage.profile, MADE_WITH: base.made_with | profile.made_with}
            kept = witness.kept_profile(profile, BOLT_PROFILE, f"bolt/{BOLT_PROFILE}")
        # BOLT writes its command line into the program: with constant names, the same program comes out everywhere.
        argv = [str(tool), "before", "-o", "after", *options]
        place = self.work / "bolt"
        with _empty(place):
            shutil.copyfile(before, place / "before")
            if profile is not None:
                shutil.copyfile(profile.folder / BOLT_PROFILE, place / BOLT_PROFILE)
            start = _size(log)
            done = self.bench.run("bolt", argv, cwd=place)
            done.check(f"{name}: BOLT")
            shutil.move(place / "after", built.server)
        if profile is not None:
            facts["audit"] = _audit_bolt(name, profile, before, log, start)
        shutil.copymode(before, built.server)
        making = witness.read(base.about)
        if making is not None:
            making = witness.after_link(making, stage.title, [argv], built.server, key=stage.key, profile=kept)
            witness.leave(making, folder)
            facts |= {"sha256": making.sha256, "making": witness.described(making)}
        seconds = time.monotonic() - began
        self.store.note_cost(self.engine.spec.name, stage.title, name, seconds, done.peak_rss_bytes)
        return self.store.admit(
            "builds",
            stage.key,
            {
                **{key: base.about[key] for key in base.about if key not in ("audit", "seconds", "profile")},
                "compile_audit": base.about.get("audit"),
                **facts,
                "bolt": stage.toolchain.bolt_version,
                "base": base.key,
                "instrumented": stage.profile is None,
                "seconds": seconds,
                "server_bytes": built.server.stat().st_size,
            },
        )


def _size(log: Path) -> int:
    """Bytes of a step's log: what an earlier run of the step has left in it."""
    return log.stat().st_size if log.exists() else 0


def _said(log: Path, start: int) -> str:
    """What a step's log has from byte `start` on, in the encoding that programs are run with, whatever ours is."""
    return log.read_bytes()[start:].decode(errors="replace")


def _audit_bolt(name: str, profile: Entry, program: Path, log: Path, start: int) -> str:
    """How well BOLT matched its profile, in words, by its log from byte `start` on; refuses one that does not fit."""
    have, of, stale = profiles.read_bolt(_said(log, start))
    hot, lost = hot_functions(profile.folder), lost_functions(profile.folder, program)
    words = f"{have} of {of} functions with a profile, {stale} stale, {len(lost)} of {len(hot)} hot ones missing"
    if have == 0:
        raise InfrastructureError(f"{name}: BOLT found no function of its profile in the program", log=log)
    if stale > profiles.TOLERATED * have:
        raise InfrastructureError(f"{name}: the BOLT profile is stale: {words}", log=log)
    if len(lost) > profiles.TOLERATED * len(hot):
        first = ", ".join(lost[:5])
        raise InfrastructureError(f"{name}: the BOLT profile does not fit this build: {words}; first: {first}", log=log)
    return words


@contextlib.contextmanager
def _empty(place: Path) -> Iterator[None]:
    """An empty folder at a constant path, removed afterwards."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700, parents=True)
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)
