"""Of two versions of a server, whether the newer one starts on data that the older one made."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from burnish.base.errors import InfrastructureError, UserError
from burnish.engines.contract import SideSpec
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.study.builds.make import Made
from burnish.study.builds.programs import older
from burnish.study.session import Session
from burnish.study.workshop.launching import launched


def check(
    session: Session, made: Sequence[Made], workload: Workload, condition: Condition, lay: Callable[[Path], None]
) -> None:
    """Starts the newer program once on a copy of the older one's data, as each of its starts would be.

    A server may take over data of certain versions only (MySQL those of the last release of long support before it);
    only the server itself knows which.

    Args:
        session: the study's.
        made: the two programs, of two versions.
        workload: a load with data.
        condition: that of the newer program, prepared.
        lay: puts a clean copy of the older program's data into a folder that is not there.

    Raises:
        UserError: it does not start, in the server's own words.
    """
    maker = older(*made)
    (newer,) = (item for item in made if item is not maker)
    assert newer.built is not None and newer.identity is not None and maker.identity is not None  # noqa: S101, PT018
    names = (newer.variant.name, maker.variant.name)
    place = session.scratch / "older-data"
    shutil.rmtree(place, ignore_errors=True)
    folder = place / "side"
    folder.mkdir(mode=0o700, parents=True)
    with session.bench.step("{} on data of {}".format(*names), "older-data", counts=False):
        lay(place / "data")
        side = session.engine.side(
            SideSpec(
                label=names[0],
                built=launched(newer.built, condition),
                condition=condition,
                workload=workload,
                data=place / "data",
                folder=folder,
                seed=1,
                cores=frozenset(session.host.cores_allowed),
            )
        )
        try:
            side.boot()
        except InfrastructureError as error:
            why = next(iter(side.complaints()), str(error))
            raise UserError(
                f"{names[0]} is {session.spec.title} {newer.identity.version} and {names[1]} is "
                f"{maker.identity.version}, on whose data both are measured; on these {names[0]} does not start: "
                f"{why}; name two versions of which the newer reads the older one's data"
            ) from None
        finally:
            side.stop()
            shutil.rmtree(place, ignore_errors=True)
