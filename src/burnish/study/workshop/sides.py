"""The two sides of a comparison: builds, programs or a release binary, examined under their conditions."""

from __future__ import annotations

from pathlib import Path

from burnish.base.errors import UserError
from burnish.bench.pairs import Contestant
from burnish.engines.registry import create
from burnish.model.recipe import Recipe, Variant
from burnish.record.events.builds import ProgramsDiffer
from burnish.source.debian import released
from burnish.study.builds.make import Made
from burnish.study.builds.programs import differences, known_program
from burnish.study.comparison import RELEASE, Comparison
from burnish.study.request import release
from burnish.study.workshop.launching import launched
from burnish.study.workshop.workshop import NotMeasured, Workshop


def sides_of(workshop: Workshop, comparison: Comparison) -> tuple[Contestant, Contestant]:
    """Both sides of a comparison, the base first, examined under their conditions.

    Raises:
        NotMeasured: the comparison can't be made.
    """
    assert comparison.workload is not None  # noqa: S101 - what is not measured otherwise has a load
    if comparison.workload.name in workshop.wrong_loads:
        raise NotMeasured(workshop.wrong_loads[comparison.workload.name])
    base = workshop.build(comparison.base)
    first = workshop.condition(comparison.given)
    assert base.built is not None  # noqa: S101 - `build` gives what may be measured
    one = Contestant(comparison.base, launched(base.built, first), first)
    if comparison.against_itself:
        return one, Contestant(comparison.label, one.built, first)
    candidate = _release(workshop) if comparison.release else workshop.build(comparison.candidate)
    assert candidate.built is not None  # noqa: S101
    same = candidate.built.key == base.built.key and not comparison.versus
    # Two programs that a user names are measured even when they are equal: that is how one sees a host's noise.
    if same and not comparison.control and not workshop.study.programs:
        raise NotMeasured("no effect: identical code, not measured", final=True)
    second = workshop.condition(comparison.given, comparison.versus)
    if workshop.study.tolerant or workshop.study.programs:
        load = workshop.load(comparison.workload)
        words = ",".join(comparison.given)
        workshop.examine(base.built, load, first, words)
        workshop.examine(candidate.built, load, second, ",".join((*comparison.given, *comparison.versus)))
    return one, Contestant(comparison.label, launched(candidate.built, second), second)


def _release(workshop: Workshop) -> Made:
    """The release binary, searched for once; a `NotMeasured` if there is none."""
    if RELEASE not in workshop.made:
        workshop.made[RELEASE] = _find_release(workshop)
    item = workshop.made[RELEASE]
    if item.built is None:
        raise NotMeasured(str(item.failure))
    return item


def _find_release(workshop: Workshop) -> Made:
    """Finds the release binary and records how it differs from the baseline; or the reason why there is none."""
    session = workshop.session
    try:
        path = session.options.release or release.installed(session.spec) or _download_release(workshop)
        built = create(session.spec).existing(path)
    except UserError as error:
        return Made(Variant(RELEASE, Recipe(), "a distribution's program"), failure=str(error))
    program = known_program(session, RELEASE, built)
    base, its = workshop.made[workshop.study.base].identity, program.identity
    if base is not None and its is not None:
        workshop.record.append(ProgramsDiffer(tuple(differences(base, its))))
    return program


def _download_release(workshop: Workshop) -> Path:
    """The distribution's server from its package; of the version that is built, if the mirror has it."""
    session = workshop.session
    origin = workshop.maker.builder.origin if workshop.maker is not None else None
    program = Path(session.spec.server).name
    if session.spec.release_package is None:
        raise UserError(f"no release binary: `{program}` is not installed; --release PATH names one")
    return released.obtain(
        session.spec.release_package,
        program,
        origin.version if origin is not None else "",
        cache=session.home.downloads / "releases",
        say=session.bench.say,
    )
