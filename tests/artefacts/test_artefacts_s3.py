"""Artefacts in S3, as moto's server speaks it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.artefacts import far, open_artefacts
from burnish.artefacts.artefacts import TakenError
from burnish.artefacts.far import UnreachableError

pytest.importorskip("s3fs", reason="no s3fs and moto")
server = pytest.importorskip("moto.server", reason="no s3fs and moto")

URL = "s3://shared/burnish"


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The endpoint of a server in this process, with one bucket."""
    import fsspec

    running = server.ThreadedMotoServer(port=0, verbose=False)
    running.start()
    endpoint = "http://{}:{}".format(*running.get_host_and_port())
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        fsspec.filesystem("s3").mkdir("shared")
        yield endpoint
    running.stop()


def entry(folder: Path, content: str) -> Path:
    folder.mkdir()
    (folder / "server").write_text(content * 10_000)
    return folder


def test_there_and_back_first_wins_and_room(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(far, "PAUSES_S", (0.0, 0.0))
    artefacts, other = open_artefacts(URL), open_artefacts(URL, limit=10**9)
    assert not artefacts.has("builds", "k1")
    digest = artefacts.push("builds", "k1", entry(tmp_path / "a", "program"))
    assert other.has("builds", "k1")
    assert other.push("builds", "k1", tmp_path / "a") == digest
    assert other.fetch("builds", "k1", tmp_path / "into")
    assert (tmp_path / "into/server").read_text() == "program" * 10_000
    with pytest.raises(TakenError):
        other.push("builds", "k1", entry(tmp_path / "b", "another"))
    folders, won = [entry(tmp_path / f"w{number}", f"writer{number}") for number in range(4)], []

    def write(number: int) -> None:
        try:
            open_artefacts(URL).push("builds", "k2", folders[number])
            won.append(number)
        except TakenError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = won
    assert artefacts.fetch("builds", "k2", tmp_path / "second")
    assert (tmp_path / "second/server").read_text().startswith(f"writer{winner}")
    assert [(held.name, wrong) for held, wrong in artefacts.check()] == [("builds/k1", ""), ("builds/k2", "")]
    assert all(held.used > 1.6e9 for held in artefacts.held())
    artefacts.far.remove(f"blobs/{digest[:2]}/{digest}")
    assert not artefacts.fetch("builds", "k1", tmp_path / "into")
    with pytest.raises(UnreachableError, match=r"^s3://nowhere/x: .*bucket"):
        open_artefacts("s3://nowhere/x").push("builds", "k1", tmp_path / "a")
