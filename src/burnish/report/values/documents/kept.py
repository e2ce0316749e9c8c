"""Documents about what this machine has: findings, builds, profiles, packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.artefacts.bounding import Held
from burnish.profiles.inspecting import Inspection, Overlap
from burnish.report.examination.finding import Finding
from burnish.report.values.documents.document import Document, Texts, Values, of
from burnish.report.values.schema import Object
from burnish.study.kept.cleaning import Kept

DOCUMENTS: Mapping[str, Document] = {
    "doctor": Document(
        "doctor",
        of(
            "This machine.",
            findings=(tuple[Finding, ...], "What was examined."),
            host=(Values, "Facts of the host, as records have them."),
        ),
    ),
    "builds": Document(
        "builds",
        of(
            "A build in the store; further fields are the facts of its program.",
            key=(str, "Its name in the store."),
            variants=(Texts, "The variants that it is."),
            about=(Values, "How it was made."),
        ),
        listed=True,
    ),
    "path": Document(
        "path",
        of(
            "Where a program lies.",
            build=(str, "Its name in the store."),
            variant=(str | None, "The variant."),
            engine=(str, "The engine."),
            path=(str, "The program."),
            environment=(Mapping[str, str], "Variables it was measured with."),
            options=(Texts, "Options it was measured with."),
        ),
    ),
    "reproduce": Document(
        "reproduce",
        of(
            "A script that builds a program again.",
            build=(str, "The build's name in the store."),
            variant=(str | None, "The variant."),
            folder=(str, "Where it was written."),
            files=(Texts, "The files in it."),
            sha256=(str, "Digest of the program that it makes."),
            recipe=(str | None, "The recipe as TOML; null if no run's record has the build."),
        ),
    ),
    "clean": Document("clean", Object("", {"goes": (bool, "Whether it is to be removed.")}, of=Kept), listed=True),
    "store": Document(
        "store list", Object("", {"usable": (bool, "Whether this host can use it.")}, of=Held), listed=True
    ),
    "hosts": Document(
        "hosts list",
        of(
            "A host that takes part.",
            name=(str, "What it is called."),
            kind=(str, "The kind of its processor."),
            architecture=(str, "As the kernel names it."),
            level=(str, "The instruction-set level that it offers; empty where there are none."),
            cores=(int, "Cores that it may use."),
            memory=(int | None, "Bytes of main memory."),
            compilers=(Texts, "Names of its compilers."),
            builds=(bool, "Whether it makes builds."),
            benches=(bool, "Whether it measures."),
            calibration=(str, "Loads for which it is calibrated."),
            sitting=(str, "When a record was written there last, and which."),
            running=(str, "What it does now; empty if nothing."),
            doing=(str, "Key of that task; empty if there is none."),
            version=(str, "Its Burnish."),
            home=(str, "Path of its home."),
            machine=(str, "Identifies the machine, as in records."),
            boot=(str, "Identifies its running kernel."),
            address=(str, "Where its worker listens."),
        ),
        listed=True,
    ),
    "profiles": Document(
        "profile list",
        of(
            "A profile.",
            name=(str, "Its names."),
            key=(str, "Its name in the store."),
            engine=(str | None, "The engine."),
            kind=(str | None, "Whose profile it is."),
            source=(str | None, "Digest of the trained source."),
            toolchain=(str | None, "The compiler."),
            training=(Any, "Loads with seconds."),
            merged=(Any, "What it was merged from."),
        ),
        listed=True,
    ),
    "profile": Document(
        "profile show",
        Object("", {"against": (Overlap | None, "Its overlap with another one.")}, of=Inspection),
    ),
    "package": Document(
        "package",
        of(
            "A package that was made.",
            run=(str, "The run."),
            variant=(str, "The variant."),
            build=(str, "The build's name in the store."),
            files=(Texts, "The files, the package first."),
            version=(str | None, "Version of a .deb."),
            sha256=(str | None, "Digest of a .deb."),
            program=(str, "Digest of the program in it."),
            forced=(Texts, "In spite of what it was made."),
            differences=(tuple[Values, ...], "From the original."),
            compared=(Mapping[str, int], "How many things of each kind both servers were asked about."),
            plugins=(int, "Loadable plugins tried in both."),
            says=(Texts, "Remarks."),
        ),
    ),
    "verify": Document(
        "verify",
        of(
            "A package that was checked.",
            file=(str, "The package."),
            checked=(Texts, "What holds."),
            verdict=(Values | None, "What it states."),
        ),
    ),
}
