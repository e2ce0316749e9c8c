"""Documents about the catalogue: variants, flags, loads, bundled studies, microbenchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.model.recipe import Marks
from burnish.report.values.documents.document import Document, Texts, Values, of
from burnish.report.values.schema import Object, declared

_MARKS = declared(Marks).own

DOCUMENTS: Mapping[str, Document] = {
    "variants": Document(
        "variants",
        Object(
            "A variant.",
            {
                "variant": (str, "Its name."),
                "reason": (str, "Why it is there."),
                **_MARKS,
                "changes": (Values, "What it changes in the baseline's recipe."),
            },
        ),
        listed=True,
    ),
    "flags": Document(
        "flags",
        Object(
            "A flag.",
            {
                "flag": (str, "Its name."),
                "topic": (str, "What it is about."),
                "does": (str, "What it does."),
                "reason": (str, "Why it is there."),
                "toolchains": (Mapping[str, Values], "How each compiler spells it, or why it has none."),
                "architecture": (Texts, "Architectures that have it; empty: all."),
                "requires_profile": (bool, "Whether it needs a profile."),
                "choice": (Any, "Other values of the same flag."),
                "excludes": (Texts, "Flags that it can't be with."),
                "answers": (Any, "Published lines that it answers."),
                "requires_lto": (bool, "Whether it has an effect only with link-time optimisation."),
                "instead": (Any, "Entries that are taken, in order, where a compiler or a machine lacks it."),
                "source": (str, "Where it is from; empty for flags of the compilers' manuals."),
                **_MARKS,
            },
        ),
        listed=True,
    ),
    "space": Document(
        "space",
        of(
            "What a search may change.",
            engine=(str, "The engine."),
            size=(int, "Number of builds that are allowed."),
            choices=(tuple[Values, ...], "Its choices: levels, step that is made again, expected gain, marks."),
            rungs=(Mapping[str, Values], "Known-good builds by name, each with its choices."),
            not_together=(tuple[Values, ...], "Levels that exclude each other, with the reason."),
            left_out=(Mapping[str, str], "By level, why it is not in the space."),
            deployment=(Mapping[str, Values], "Ways to deploy its winner by name: settings, reason, costs, needs."),
            promises=(Mapping[str, str], "What no way to deploy may change, by name."),
        ),
    ),
    "targets": Document(
        "flags --targets",
        Object(
            "A processor, or a level of instruction sets.",
            {
                "target": (str, "Its name."),
                "reason": (str, "Why it is there."),
                "architecture": (str | None, "Its architecture; null: any."),
                "flags": (Any, "How compilers spell it."),
                "needs": (Texts, "Features that a processor must have."),
                "since": (Mapping[str, Any], "By compiler, its first version that has it."),
                "runs_here": (bool, "Whether this host has them."),
                **_MARKS,
            },
        ),
        listed=True,
    ),
    "options": Document(
        "options",
        Object(
            "A configure option; further fields are its values.",
            {**_MARKS, "answers": (Any, "Published lines that it answers.")},
        ),
        listed=True,
    ),
    "workloads": Document(
        "workload list",
        of(
            "A load.",
            engine=(str, "Its engine."),
            workload=(str, "Its name."),
            reason=(str, "Why it is there."),
            threads=(int, "Client threads."),
            design=(str, "How two sides share the host."),
            placement=(str, "Which cores servers and clients have."),
            parameters=(Values, "Of the load program."),
            settings=(Values, "Of the server."),
        ),
        listed=True,
    ),
    "studies": Document(
        "study list",
        of(
            "A bundled study.",
            study=(str, "Its name."),
            title=(str, "Its title."),
            reason=(str, "Why it is there."),
            sources=(Texts, "What was published."),
            engines=(Texts, "Engines that it can be run on, at least one of its rows; its own first."),
            rows=(Texts, "Its rows."),
        ),
        listed=True,
    ),
    "micros": Document(
        "micro --list",
        of(
            "A microbenchmark.",
            micro=(str, "Its name."),
            engine=(str, "Its engine."),
            does=(str, "What it does."),
            reason=(str, "Why it is there."),
        ),
        listed=True,
    ),
    "micro": Document(
        "micro",
        of(
            "Functions timed against each other.",
            sides=(Mapping[str, Any], "What was compared."),
            folder=(str, "Where it was built."),
            results=(tuple[Values, ...], "Of each function: verdict, ratio with interval, nanoseconds of a call."),
        ),
    ),
}
