"""What it costs to share builds with other hosts, and how much time it saves.

    python benchmarks/artefacts.py STORE [URL]

Takes the builds, profiles and data sets of a store (``~/.local/share/burnish/store``; it is only read), pushes them
to a new folder, or to URL, pushes them again, and fetches them; twice, of which the quicker counts. With ``s3`` for
URL, a stand-in for S3 is started in a process of its own (``pip install s3fs 'moto[server]'``), which keeps everything
in memory: so what the client costs, not what a real store gives. Prints a Markdown table; nothing is asserted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from burnish.artefacts import open_artefacts, packing
from burnish.record.store import Entry, Store

ROUNDS = 2


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds that it takes, and CPU seconds of this process."""
    began, used = time.monotonic(), time.process_time()
    action()
    return time.monotonic() - began, time.process_time() - used


def stand_in(held: ExitStack) -> str:
    """A server that speaks S3, with one bucket; returns the URL."""
    port = "5599"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    held.callback(server.wait)
    held.callback(server.terminate)
    os.environ |= {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    import fsspec  # noqa: PLC0415 - an optional package

    for _ in range(60):
        try:
            fsspec.filesystem("s3", skip_instance_cache=True).mkdir("bench")
            break
        except Exception:  # it is not up yet
            time.sleep(0.5)
    return "s3://bench/burnish"


def measure(entry: Entry, url: str, scratch: Path) -> tuple[int, list[tuple[float, float]]]:
    """Bytes of a packed entry, and the least that it took to: pack it for its digest alone, push, push again, fetch."""
    artefacts = open_artefacts(url)
    best = [(1e9, 1e9)] * 4
    for number in range(ROUNDS):
        key, into = f"{entry.key}-{number}", scratch / entry.key
        for held in artefacts.held():
            artefacts.discard(held.kind, held.key)
        for blob in artefacts.far.found("blobs"):
            artefacts.far.remove(blob.path)
        seconds = [
            timed(lambda: packing.pack(entry.folder)),
            timed(lambda key=key: artefacts.push(entry.kind, key, entry.folder)),
            timed(lambda key=key: artefacts.push(entry.kind, key, entry.folder)),
            timed(lambda key=key, into=into: artefacts.fetch(entry.kind, key, into)),
        ]
        shutil.rmtree(into)
        best = [min(pair) for pair in zip(best, seconds, strict=True)]
    return packing.pack(entry.folder).size, best


def main(place: Path, url: str | None) -> None:
    """Prints what it took."""
    with ExitStack() as held:
        scratch = Path(held.enter_context(tempfile.TemporaryDirectory(dir=Path.cwd())))
        far = stand_in(held) if url == "s3" else url or str(scratch / "far")
        print("| entry | MB | made in s | digest | push | again | fetch | made / fetched |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for entry in Store(place).entries("builds", "profiles", "datasets"):
            size, best = measure(entry, far, scratch)
            about = entry.about
            words = [
                about.get("engine"),
                about.get("toolchain") or about.get("dataset"),
                "BOLT" * bool(about.get("bolt")),
            ]
            words += ["instrumented" * bool(about.get("instrumented"))]
            spent = float(about.get("seconds") or 0.0)
            cells = [f"{wall:.2f} s, CPU {cpu:.2f} s ({size / 1e6 / wall:.0f} MB/s)" for wall, cpu in best]
            print(
                f"| {entry.kind.removesuffix('s')}: {' '.join(str(word) for word in words if word)} "
                f"| {size / 1e6:.0f} | {spent:.0f} | {' | '.join(cells)} | {spent / best[3][0]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
