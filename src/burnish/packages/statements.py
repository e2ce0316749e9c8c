"""Provenance and verdict of a packaged program as in-toto statements (v1), provenance with SLSA's predicate; pure.

Sources: https://in-toto.io/Statement/v1 and https://slsa.dev/provenance/v1. Both statements have the same subjects, so
that whoever trusts the digest of a program can look up how it was made and what was measured of it. What a statement
names besides is a resource descriptor, which must have a URI or a digest: packages and tools have package URLs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from burnish import __version__
from burnish.builds.reproducer import Making
from burnish.engines.steps import Command
from burnish.packages.chosen import Chosen
from burnish.packages.differences import Difference
from burnish.report.result import Row

STATEMENT = "https://in-toto.io/Statement/v1"
SLSA = "https://slsa.dev/provenance/v1"
VERDICT = "urn:burnish:verdict:v1"
BUILD_TYPE = "urn:burnish:build:v1"

PROVENANCE_FILE = "provenance.intoto.json"
VERDICT_FILE = "verdict.intoto.json"
SBOM_FILE = "sbom.cdx.json"


@dataclass(frozen=True)
class Subject:
    """A file that statements are about: its name, and its hex SHA-256."""

    name: str
    sha256: str

    def value(self) -> dict[str, Any]:
        """As in a statement."""
        return {"name": self.name, "digest": {"sha256": self.sha256}}


@dataclass(frozen=True)
class Made:
    """How a program became what is packaged.

    Attributes:
        stripped: whether symbols and debug information were removed from the measured program.
        base: name, version and SHA-256 of the distribution's package that it was put into; None: of none.
        forced: objections that were overruled.
        differences: to the distribution's server.
    """

    stripped: bool = False
    base: tuple[str, str, str] | None = None
    forced: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()


def provenance(subjects: Iterable[Subject], chosen: Chosen, made: Made) -> dict[str, Any]:
    """The SLSA provenance: what the program was made from, by which commands, with which tools."""
    making, result = chosen.making, chosen.result
    return _statement(
        subjects,
        SLSA,
        {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "engine": making.engine,
                    "source": list(making.source),
                    "variant": chosen.variant,
                    "recipe": dict(chosen.found.recipe or {}),
                    "features": result.features,
                    "command": result.definition.get("command"),
                },
                "internalParameters": {
                    "build": making.key,
                    "root": making.root,
                    "measured": making.sha256,
                    "stripped": made.stripped,
                    "forced": list(made.forced),
                    "flags": chosen.found.entry.about.get("flags", {}),
                    "effective": chosen.found.entry.about.get("effective", ""),
                    "trained": list(chosen.row.trained),
                    "commands": [list(step.argv) for step in making.steps if isinstance(step, Command)]
                    + [list(words) for step in making.after for words in step.commands],
                },
                "resolvedDependencies": [*_dependencies(making), *_base(made)],
            },
            "runDetails": {
                "builder": {"id": f"urn:burnish:{__version__}", "version": {"burnish": __version__}},
                "metadata": {
                    "invocationId": result.name,
                    "startedOn": result.begun,
                    **({"finishedOn": result.ended} if result.ended else {}),
                },
            },
        },
    )


def _dependencies(making: Making) -> list[dict[str, Any]]:
    """Source, patches, profiles, tools and packages, each with its digest or its version."""
    name, version, kind = making.source
    uri = package_url(name, version, source=True) if kind == "debian" else _url("generic", name, version)
    found: list[dict[str, Any]] = [
        {"uri": uri, "name": file, "digest": {"sha256": sha256}, "annotations": {"role": "source"}}
        for file, sha256 in making.archives
    ]
    if not found:
        found.append({"uri": uri, "name": name, "annotations": {"role": "source", "kind": kind}})
    found += [
        {
            "name": patch.file,
            "digest": {"sha256": patch.sha256},
            "annotations": {"role": "patch", "reverted": patch.reverted},
        }
        for patch in making.patches
    ]
    found += [
        {"name": file, "digest": {"sha256": sha256}, "annotations": {"role": "profile", "profile": profile.key}}
        for profile in making.profiles
        for file, sha256 in profile.files
    ]
    tools = [*making.programs, *making.makers, *(tool for step in making.after for tool in step.programs)]
    found += [
        {
            "uri": _url("generic", tool.path.rpartition("/")[2], _number(tool.version)),
            "name": tool.path,
            "annotations": {"role": "tool", "version": tool.version},
        }
        for tool in dict.fromkeys(tools)
    ]
    found += [
        {"uri": package_url(package, version), "name": package, "annotations": {"role": "build package"}}
        for package, version in making.packages
    ]
    return found


def _base(made: Made) -> list[dict[str, Any]]:
    if made.base is None:
        return []
    name, version, sha256 = made.base
    digest = {"sha256": sha256}
    return [
        {
            "uri": package_url(name, version),
            "name": name,
            "digest": digest,
            "annotations": {"role": "repackaged", "version": version},
        }
    ]


def package_url(name: str, version: str, *, source: bool = False) -> str:
    """Package URL (purl) of a package of Debian's: ``pkg:deb/debian/bison@2:3.8.2%2Bdfsg-1``."""
    return _url("deb/debian", name, version) + ("?arch=source" if source else "")


def _url(kind: str, name: str, version: str) -> str:
    return f"pkg:{kind}/{quote(name, safe='')}" + (f"@{quote(version, safe=':')}" if version else "")


def _number(line: str) -> str:
    """The version's number in the line in which a program tells it; '' where there is none."""
    found = re.search(r"\d+(\.\d+)+", line)
    return found[0] if found else ""


def verdict(subjects: Iterable[Subject], chosen: Chosen, made: Made) -> dict[str, Any]:
    """What was measured of the program and tested with it, and how it differs from the distribution's."""
    result, row = chosen.result, chosen.row
    return _statement(
        subjects,
        VERDICT,
        {
            "run": result.name,
            "variant": chosen.variant,
            "baseline": result.baseline,
            "source": result.source,
            "host": result.host,
            "finishedOn": result.ended,
            "gate": row.gate,
            "identity": row.identity,
            "marks": {"weakensSecurity": row.weakens_security, "changesResults": row.changes_results,
                      "narrowsPortability": row.narrows_portability},
            "needs": row.needs,
            "trainedOn": list(row.trained),
            "conditions": list(result.definition.get("conditions") or ()),
            "verdicts": [_cell(cell) | {"quoted": cell in chosen.verdicts}
                         for cell in (*result.rows, *result.confirmations) if cell.candidate == chosen.variant],
            "forced": list(made.forced),
            "differences": [asdict(one) | {"weight": str(one.weight)} for one in made.differences],
        },
    )  # fmt: skip


def _cell(row: Row) -> dict[str, Any]:
    ratios = {
        name: {"ratio": one.interval.ratio, "low": one.interval.low, "high": one.interval.high,
               "level": one.interval.level}
        for name, one in row.quantities.items()
        if one.interval
    }  # fmt: skip
    return {
        "workload": row.workload,
        "role": row.role,
        "design": row.design,
        "placement": row.placement,
        "verdict": row.verdict,
        "starts": row.starts,
        "headline": row.headline,
        "ratios": ratios,
    }


def _statement(subjects: Iterable[Subject], kind: str, predicate: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "_type": STATEMENT,
        "subject": [subject.value() for subject in subjects],
        "predicateType": kind,
        "predicate": dict(predicate),
    }


def text(statement: Mapping[str, Any]) -> str:
    """A statement as JSON, the same for the same content."""
    return json.dumps(statement, indent=1, ensure_ascii=True, sort_keys=True, default=str) + "\n"


def subjects_of(statement: Mapping[str, Any]) -> Sequence[Subject]:
    """The subjects of a statement that was read from a file; those without a SHA-256 are left out."""
    listed = statement.get("subject")
    return [
        Subject(str(one.get("name", "")), str(one["digest"]["sha256"]))
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get("digest"), dict) and "sha256" in one["digest"]
    ]
