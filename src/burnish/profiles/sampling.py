"""Profiles from branch records (LBR): perf samples a server under load, and the compiler's tool makes the profile.

Only some processors and hypervisors provide branch records; `burnish.bench.host` finds out by trying.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError, UnavailableError
from burnish.base.workbench import Workbench
from burnish.toolchain import counts
from burnish.toolchain.toolchains import Toolchain

EVENT = "cycles:u"
BRANCHES = "any,u"
PATIENCE_S = 60.0
"""Seconds that perf may take to write its data."""


@dataclass
class Sampler:
    """Samples a server with perf, once for each training workload.

    Attributes:
        folder: where the samples are written.
        files: the samples so far.
    """

    folder: Path
    files: list[Path] = field(default_factory=list)

    @contextlib.contextmanager
    def watching(self, pids: Sequence[int]) -> Iterator[None]:
        """Samples these processes, and processes that they start, until the block ends."""
        data = self.folder / f"{len(self.files)}.perf"
        log = self.folder / f"{len(self.files)}.log"
        argv = ["perf", "record", "-q", "-e", EVENT, "-j", BRANCHES, "-o", str(data)]
        with log.open("wb") as sink:
            perf = process.start([*argv, "-p", ",".join(map(str, pids))], stdout=sink.fileno())
            try:
                yield
            finally:
                process.stop(perf, patience=PATIENCE_S, first=signal.SIGINT)
        if not data.is_file() or not data.stat().st_size:
            raise InfrastructureError("perf record wrote no branch records", log=log)
        self.files.append(data)


def sample_tool(toolchain: Toolchain) -> Path:
    """The tool that makes a compiler's profile from perf's samples: llvm-profgen of clang's version, or create_gcov.

    Raises:
        UnavailableError: it is not installed; names its package.
    """
    if toolchain.family == "gcc":
        path = shutil.which("create_gcov")
        if path is None:
            raise UnavailableError(f"{toolchain.name}: sampled needs create_gcov; apt install autofdo")
        return Path(path)
    return _beside(toolchain.profdata, "llvm-profgen", f"apt install llvm-{toolchain.major}")


def perf2bolt(toolchain: Toolchain) -> Path:
    """BOLT's reader of perf's samples; an `UnavailableError` if it is not installed."""
    return _beside(toolchain.bolt, "perf2bolt", f"apt install bolt-{toolchain.major}")


def _beside(tool: Path | None, name: str, remedy: str) -> Path:
    # Debian's llvm-N tools are links to plain names in one folder.
    for place in (tool, tool.resolve()) if tool else ():
        if (place.parent / name).is_file():
            return place.parent / name
    raise UnavailableError(f"no {name} beside {tool or 'the toolchain'}; {remedy}")


def compiler_profile(
    toolchain: Toolchain, program: Path, samples: Sequence[Path], target: Path, bench: Workbench, name: str
) -> None:
    """Makes the compiler's profile from all samples; each training workload is weighted by its number of samples."""
    tool = sample_tool(toolchain)
    made = []
    for number, data in enumerate(samples):
        out = target.parent / f"{target.stem}-{number}{target.suffix}"
        words: list[str | Path]
        if toolchain.family == "gcc":
            words = [tool, f"--binary={program}", f"--profile={data}", f"--gcov={out}", "-gcov_version=2"]
        else:
            script = data.with_suffix(".script")
            _script(data, script, bench, name)
            words = [tool, f"--binary={program}", f"--perfscript={script}", f"--output={out}", "--format=extbinary"]
        bench.run("samples", words).check(f"{name}: making a profile of the samples")
        made.append(out)
    if len(made) == 1:
        made[0].rename(target)
        return
    if toolchain.family == "gcc":
        merge_gcc_samples(made, [1] * len(made), target, bench, name)
    else:
        merging: list[str | Path] = [str(toolchain.profdata), "merge", "--sample", *made, "-o", target]
        bench.run("merge", merging).check(f"{name}: merging sampled profiles")
    for path in made:
        path.unlink()


def _script(data: Path, target: Path, bench: Workbench, name: str) -> None:
    """Writes perf's samples to a file, as the text that llvm-profgen reads."""
    argv: list[str | Path] = ["perf", "script", "--show-mmap-events", "-F", "ip,brstack", "-i", data]
    bench.run("perf script", argv, log=target).check(f"{name}: reading perf's samples")
    # The first line is the command, as in every log.
    lines = target.read_text(encoding="utf-8", errors="replace").partition("\n")[2]
    target.write_text(lines, encoding="utf-8")


def bolt_profile(
    toolchain: Toolchain, program: Path, samples: Sequence[Path], target: Path, bench: Workbench, name: str
) -> None:
    """Makes BOLT's profile from all samples."""
    tool = perf2bolt(toolchain)
    texts = []
    for data in samples:
        out = data.with_suffix(".fdata")
        words: list[str | Path] = [tool, "-p", data, "-o", out, program]
        bench.run("perf2bolt", words).check(f"{name}: making BOLT's profile of the samples")
        texts.append((out.read_text(encoding="utf-8", errors="replace"), 1))
    target.write_text(counts.weighted_fdata(texts), encoding="utf-8")


def merge_gcc_samples(files: Sequence[Path], weights: Sequence[int], target: Path, bench: Workbench, name: str) -> None:
    """autofdo's merger has no weights, so a part is named as often as its weight."""
    tool = shutil.which("profile_merger")
    if tool is None:
        raise InfrastructureError(f"{name}: gcc's sampled profiles are merged by profile_merger; apt install autofdo")
    repeated = [path for path, weight in zip(files, weights, strict=True) for _ in range(weight)]
    words: list[str | Path] = [tool, "-gcov_version=2", f"-output_file={target}", *repeated]
    bench.run("merge", words).check(f"{name}: merging sampled profiles")
