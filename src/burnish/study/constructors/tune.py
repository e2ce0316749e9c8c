"""`tune`: variants of one engine against its baseline, on every load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.base import paths
from burnish.base.errors import UserError, together, unknown
from burnish.builds.evidence import Portable
from burnish.catalogue import load
from burnish.catalogue.deployment import deployment
from burnish.catalogue.instructions import demanded
from burnish.catalogue.space import space_file
from burnish.engines.contract import OwnData
from burnish.engines.registry import create
from burnish.model.engine import EngineSpec
from burnish.model.recipe import Variant
from burnish.model.workload import Design, Placement, Workload
from burnish.record.events.searches import PriorTaken
from burnish.search.asks import Objective
from burnish.search.prior import applied, taken
from burnish.study.comparison import BASELINE, Comparison
from burnish.study.request.definition import Definition, definition_of
from burnish.study.request.options import Options
from burnish.study.request.placing import placing
from burnish.study.request.prior import Wanted, findings, recorded
from burnish.study.request.request import read_request
from burnish.study.study import Confirmation, SearchRequest, Study
from burnish.study.trials.timing import factors_of, layouts_of, rule_of
from burnish.workload import loads
from burnish.workload.deployment import choices_of
from burnish.workload.objective import Aim, aim_of

_NO_RESPONSE_TIMES = {
    Design.DUET: "in a duet a request waits for the other side's server too",
    Design.INTERLEAVED: "where sides take turns, requests that are due in the other's turn wait for its end",
}


_NOT_OF_A_SEARCH = {
    "--layouts": "links each of its builds once",
    "--trainings": "trains each of its builds once",
    "--starts": "takes as many starts of a build as tell it from the best, at most --max-starts",
    "--precision": "tells its builds apart, whatever the width of their intervals",
    "--why": "does not sample its builds",
    "--seconds": "does not sample its builds",
}
"""Options of a comparison that a search has no use for, and what it does instead."""


def tune_study(engine: str, options: Options) -> Study:
    """The study of an engine's ladder, of the variants that were named, or of a search.

    Raises:
        UserError: everything that is wrong with the request, one line each.
    """
    if options.searches:
        for option, named in (("--variant", options.variants), ("--recipes", options.recipes)):
            if named and not options.from_file(option):
                raise UserError(
                    f"{option}: a search makes its own builds from the space (`burnish space {engine}`); leave "
                    f"{option} out, or leave --strategy {options.strategy} out and these are compared"
                )
        return search_study(engine, _without_what_is_not_of_a_search(options))
    of_a_search = {
        "--objective": options.objective,
        "--prior": options.prior,
        "--weight": options.weights,
        "--guard": options.guards,
        "--allow": options.allow,
        "--space": options.space,
    }
    for option, given in of_a_search.items():
        if given and not options.from_file(option):
            raise UserError(f"{option}: is of a search; add --budget TIME or --strategy NAME, and name no variants")
    request = read_request(engine, options)
    variants, workloads = request.variants, request.workloads
    names = [variant.name for variant in variants]
    if names == [BASELINE]:
        raise UserError(
            f"--variant {BASELINE}: there is nothing to compare it with; name another variant too (`burnish variants` "
            "lists them), or leave --variant out for the engine's own"
        )
    return Study(
        definition=definition_of("tune", request.spec, options, names, workloads, request.features, variants),
        engine=request.spec,
        comparisons=comparisons_of(variants, workloads, options),
        variants={variant.name: variant for variant in variants},
        features=request.features,
        workloads=workloads,
        rule=rule_of(options),
        replicates=factors_of(options),
        layouts=layouts_of(options),
        portable=portable_of(options),
        explore=options.explore,
        confirmation=replace(confirmation_of(options), simplest=True),
        named=frozenset(options.variants),
        sample=options.why,
        sample_seconds=options.seconds,
        deploy=choices_of(options.deploy, request.spec, deployment(request.spec.name)),
    )


def _without_what_is_not_of_a_search(options: Options) -> Options:
    """The options of a search; those that would do nothing in one, or do harm, as if they had not been given.

    Raises:
        UserError: one of these stands on the command line.
    """
    usual = Options()
    for option, why in _NOT_OF_A_SEARCH.items():
        name = option.removeprefix("--")
        given = getattr(options, name)
        if not given or given == getattr(usual, name):
            continue
        if not options.from_file(option):
            raise UserError(
                f"{option}: a search {why}; leave {option} out, or name builds by --variant, which are then compared"
            )
        options = replace(options, **{name: getattr(usual, name)})
    return options


def search_study(engine: str, options: Options) -> Study:
    """The study of a search: its comparisons are the known-good builds; others are added as it goes on.

    Raises:
        UserError: everything that is wrong with the request.
    """
    aim = aim_of(options.objective)
    options = timed(aim, options)
    asked_for = tuple(map(aim.load, options.workloads or load.engine(engine).workloads))
    guards = tuple(name for name in options.guards if name not in asked_for)
    options = replace(options, workloads=(*asked_for, *guards), precision=None)
    baseline = load.variant(BASELINE)
    request = read_request(engine, replace(options, variants=(baseline.name,)))
    options = _by_measured_load(request.spec, request.workloads, options)
    objective = objective_of(request.workloads, options)
    weights = {one.identity: objective.weights[one.name] for one in request.workloads if one.name in objective.weights}
    file = space_file(options.space).trained_on(request.spec, weights)
    space = file.for_engine(request.spec, options.allow)
    if not space.choices:
        raise UserError(f"the space of {engine} is empty: every choice is for other engines or has a mark; see --allow")
    pattern = comparisons_of((baseline, replace(baseline, name="candidate")), request.workloads, options, aim.quantity)
    strategy = options.strategy or "default"
    search = SearchRequest(
        file=file,
        space=space,
        strategy=strategy,
        budget=options.budget,
        objective=objective,
        pattern=pattern,
        allowed=options.allow,
        asked=options.objective or "",
    )
    asked = {
        "strategy": search.strategy,
        "budget": options.budget,
        "weights": dict(objective.weights),
        "guards": objective.guards,
        "space": search.digest,
        **({"objective": options.objective} if options.objective is not None else {}),
        **({"prior": options.prior} if options.prior else {}),
    }
    # What the home has of earlier runs is no part of what is asked: the search goes on though another run has ended.
    usual = (baseline, *_known_good(search))
    names = [variant.name for variant in usual]
    plain = definition_of("tune", request.spec, options, names, request.workloads, request.features, usual)
    definition = replace(plain, search=asked)
    search = _with_prior(search, definition, options, aim)
    variants = (baseline, *_known_good(search))
    return Study(
        definition=definition,
        engine=request.spec,
        comparisons=comparisons_of(variants, request.workloads, options, aim.quantity),
        variants={variant.name: variant for variant in variants},
        features=request.features,
        workloads=request.workloads,
        rule=rule_of(options),
        portable=portable_of(options),
        explore=options.explore,
        confirmation=confirmation_of(options),
        search=search,
        deploy=choices_of(options.deploy, request.spec, deployment(request.spec.name)),
    )


def _known_good(search: SearchRequest) -> tuple[Variant, ...]:
    """The known-good builds of a search."""
    return tuple(search.file.variant(point, name) for name, point in search.space.rungs.items())


def _with_prior(search: SearchRequest, definition: Definition, options: Options, aim: Aim) -> SearchRequest:
    """The search with earlier results as its prior: those that it began with, if it is under way.

    Raises:
        UserError: what was named as prior is of no use.
    """
    home = paths.home()
    begun = recorded(home, definition, fresh=options.fresh)
    if begun is not None:
        prior, names = begun.taken or PriorTaken(), begun.prior
    else:
        wanted = Wanted(definition.engine, search.file, search.objective.loads, aim.quantity)
        earlier = findings(home, options.prior, wanted)
        prior, names = taken(search.space, earlier), tuple(one.name for one in earlier)
    return replace(search, space=applied(search.space, prior), prior=names, taken=prior)


def timed(aim: Aim, options: Options) -> Options:
    """The options of a search at a rate: its guards and weights are of loads at it; response times of one server alone.

    Raises:
        UserError: a design was asked for in which there are no response times of one server.
    """
    if not aim.rate:
        return options
    usual = Design.DUET if options.placement == Placement.SHARED else Design.SOLO
    if aim.waits and (why := _NO_RESPONSE_TIMES.get(Design(options.design or usual))):
        raise UserError(
            f"--objective {options.objective}: {why}; leave --design out or give solo, and --placement apart or whole"
        )
    return replace(
        options,
        guards=tuple(map(aim.load, options.guards)),
        weights=tuple((aim.load(name), weight) for name, weight in options.weights),
        design=options.design or (Design.SOLO if aim.waits else None),
    )


def _by_measured_load(spec: EngineSpec, workloads: tuple[Workload, ...], options: Options) -> Options:
    """The options with weights and guards by the names of the loads that are measured.

    As it is written a load may have its parameters in another order, or usual ones, and it is one of several where
    there are several numbers of threads: a weight or a guard of it is one of each. What is no load stays as it is.
    """
    names = [workload.name for workload in workloads]
    weights: dict[str, float] = {}
    exact: dict[str, float] = {}
    for word, weight in options.weights:
        (exact if word in names else weights).update(dict.fromkeys(_measured_as(spec, word, names, options), weight))
    guards = [name for word in options.guards for name in _measured_as(spec, word, names, options)]
    return replace(options, weights=tuple({**weights, **exact}.items()), guards=tuple(dict.fromkeys(guards)))


def _measured_as(spec: EngineSpec, word: str, names: Sequence[str], options: Options) -> Sequence[str]:
    """Those of the measured loads' names that a load's text means; the text itself if it means none of them."""
    if word in names:
        return [word]
    data = OwnData(options.data, options.database) if options.data else None
    try:
        meant = loads.at_each(create(spec).loads.resolve(loads.asked(word), data), options.ladder)
    except UserError:  # what is wrong with it is that it is none of them
        return [word]
    return [one.name for one in meant if one.name in names] or [word]


def objective_of(workloads: tuple[Workload, ...], options: Options) -> Objective:
    """What a search is for: a weighted mean over loads, and loads on which nothing may be lost.

    Raises:
        UserError: a weight or a guard is of a load that is not measured, or no load has a weight.
    """
    names = [workload.name for workload in workloads]
    problems = [
        unknown(f"load of {option}", name, names)
        for option, given in (("--weight", dict(options.weights)), ("--guard", options.guards))
        for name in given
        if name not in names
    ]
    if problems:
        raise together(problems)
    usual = {name: 0.0 if name in options.guards else 1.0 for name in names}
    weights = {name: weight for name, weight in {**usual, **dict(options.weights)}.items() if weight > 0.0}
    if not weights:
        raise UserError("--weight: no load has a weight above 0, so nothing could be the best; give one")
    return Objective(weights, options.guards)


def comparisons_of(
    variants: tuple[Variant, ...], workloads: tuple[Workload, ...], options: Options, quantity: str | None = None
) -> tuple[Comparison, ...]:
    """Every variant compared with the first, the baseline, on every load, by a quantity or the one of the design."""
    baseline, *candidates = variants
    asked = placing(options)
    return tuple(
        Comparison(
            row=variant.name,
            series="",
            reading="",
            load=workload.name,
            threads=None,
            base=baseline.name,
            candidate=variant.name,
            given=options.settings,
            workload=workload,
            quantity=quantity,
            design=asked.design,
            placement=asked.placement,
        )
        for variant in candidates
        for workload in workloads
    )


def confirmation_of(options: Options) -> Confirmation:
    """How the winner is measured again: in the design and placement that were asked for, else apart."""
    return Confirmation(apart=placing(options).placement is None)


def portable_of(options: Options) -> Portable:
    """What is required of the builds' portability; a `UserError` for an unknown level or processor."""
    if options.portable is not None:
        demanded(options.portable)
    return Portable(options.portable, options.portability)
