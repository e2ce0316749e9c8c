"""What a build took from the compiler cache."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CacheUse:
    """Use of the cache by one build.

    Attributes:
        hits: objects taken from the cache.
        misses: objects compiled and added to the cache.
        passed: objects that ccache cannot cache, because it cannot determine their dependencies.
        read: of the objects that were compiled, those whose source clang had read for another build.
    """

    hits: int = 0
    misses: int = 0
    passed: int = 0
    read: int = 0

    @property
    def objects(self) -> int:
        """Number of all compilations."""
        return self.hits + self.misses + self.passed

    @property
    def share(self) -> float:
        """Share of cache hits, 0 to 1."""
        return self.hits / self.objects if self.objects else 0.0

    @property
    def read_share(self) -> float:
        """Of what was compiled, the share whose source had been read before, 0 to 1."""
        compiled = self.misses + self.passed
        return self.read / compiled if compiled else 0.0

    @property
    def words(self) -> str:
        """The use of the cache as part of a sentence."""
        read = f", {self.read} made of sources read before" if self.read else ""
        passed = f", {self.passed} not cacheable" if self.passed else ""
        return f"{self.hits} of {self.objects} objects from the cache{read}{passed}"
