"""How far starts of loads that commit scatter where a host's own runs don't tell: from the project's records."""

from __future__ import annotations

from functools import lru_cache

from pydantic import Field

from burnish.catalogue.edge import ROOT, Entry, Reason, read_toml, validated
from burnish.model.scatter import Scatter

FILE = "committing.toml"


class Committing(Entry):
    """How far starts of a load scatter, as it stands in the file; `records` are in docs/results."""

    reason: Reason
    engine: str
    throughput: float = Field(gt=0, lt=1)
    capacity: float = Field(gt=0, lt=1)
    df: int = Field(gt=0)
    seconds: float = Field(gt=0)
    records: tuple[str, ...] = Field(min_length=1)

    @property
    def scatter(self) -> Scatter:
        """The figures, with their source in words."""
        source = f"{self.df} degrees of freedom in {len(self.records)} records of docs/results"
        return Scatter(self.throughput, self.capacity, self.df, self.seconds, source)


def shipped(engine: str, workload: str) -> Scatter | None:
    """The scatter of a load's starts on an engine, interleaved, data on a disk; None if it is not known."""
    known = entries().get(workload)
    return known.scatter if known is not None and known.engine == engine else None


@lru_cache(maxsize=1)
def entries() -> dict[str, Committing]:
    """All entries by the load's name."""
    return {name: validated(Committing, value, f"{FILE}: {name}") for name, value in read_toml(ROOT / FILE).items()}
