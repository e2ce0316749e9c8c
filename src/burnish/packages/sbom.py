"""The bill of materials of a packaged program, in CycloneDX, by the library cyclonedx-python-lib; pure."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from burnish import __version__
from burnish.packages.chosen import Chosen
from burnish.packages.statements import Subject


def sbom(subject: Subject, chosen: Chosen, libraries: Sequence[str]) -> str:
    """The bill of materials as JSON: the program, its source, what it was trained with and what it is linked with.

    It has no moment and no random number of its own, so that the same package is made twice.

    Args:
        subject: the packaged program.
        chosen: how it came about.
        libraries: shared libraries that it needs, and those that it has linked in.
    """
    # A twentieth of the time that the command line takes to begin, and only packages need it.
    from cyclonedx.model import HashAlgorithm, HashType, Property  # noqa: PLC0415
    from cyclonedx.model.bom import Bom  # noqa: PLC0415
    from cyclonedx.model.component import Component, ComponentType  # noqa: PLC0415
    from cyclonedx.output.json import JsonV1Dot5  # noqa: PLC0415

    making = chosen.making
    name, version, _ = making.source
    program = Component(
        name=subject.name,
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref="program",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=subject.sha256)],
        properties=[
            Property(name="burnish:variant", value=chosen.variant),
            Property(name="burnish:build", value=making.key),
        ],
    )
    parts = [
        Component(
            name=file, version=version, type=ComponentType.FILE, bom_ref=f"source:{file}", group=name,
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)],
        )
        for file, sha256 in making.archives
    ]  # fmt: skip
    parts += [
        Component(
            name=patch.file, type=ComponentType.FILE, bom_ref=f"patch:{patch.file}",
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=patch.sha256)],
        )
        for patch in making.patches
    ]  # fmt: skip
    parts += [
        Component(name=library, type=ComponentType.LIBRARY, bom_ref=f"library:{library}") for library in libraries
    ]
    bom = Bom(components=parts)
    bom.metadata.component = program
    bom.metadata.timestamp = datetime.fromisoformat(chosen.result.ended or chosen.result.begun)
    bom.metadata.tools.components.add(
        Component(name="burnish", version=__version__, type=ComponentType.APPLICATION, bom_ref="burnish")
    )
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, f"urn:burnish:{subject.sha256}")
    bom.register_dependency(program, parts)
    return JsonV1Dot5(bom).output_as_string(indent=1) + "\n"
