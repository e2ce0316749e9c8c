"""A machine is told from every other one, and what tells it is not revealed."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.bench.host import UNKNOWN, read_host
from burnish.bench.identity import KEPT, identifies, machine_id

UUID = "4c4c4544-0042-3510-8052-b7c04f384e32"
SERIAL = ".7BX5QM2.CNFCP0069N00A4."
CPU = "A CPU 6/143/8"


def firmware(root: Path, **texts: str) -> Path:
    folder = root / "sys/class/dmi/id"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text + "\n")
    return root


def test_the_firmware_names_the_machine_without_revealing_it(tmp_path: Path) -> None:
    root = firmware(tmp_path / "one", product_uuid=UUID.upper(), board_serial=SERIAL)
    found = machine_id(root, tmp_path, CPU)
    assert found == machine_id(root, None, CPU)
    assert found == machine_id(firmware(tmp_path / "again", product_uuid=UUID), tmp_path, CPU)
    assert found != machine_id(firmware(tmp_path / "two", product_uuid=UUID.replace("b7", "b8")), tmp_path, CPU)
    assert found != UNKNOWN
    assert found not in UUID
    assert not (tmp_path / KEPT).exists()


def test_a_home_or_firmware_on_another_processor_is_another_machine(tmp_path: Path) -> None:
    root = firmware(tmp_path / "root", product_uuid=UUID)
    assert machine_id(root, tmp_path, CPU) != machine_id(root, tmp_path, "A CPU 6/173/1")
    bare = tmp_path / "bare"
    assert machine_id(bare, tmp_path, CPU) != machine_id(bare, tmp_path, "A CPU 6/173/1")


def test_without_firmware_the_home_keeps_an_id(tmp_path: Path) -> None:
    homes = [tmp_path / "a", tmp_path / "b"]
    for home in homes:
        home.mkdir()
    found = [machine_id(tmp_path, home, CPU) for home in homes]
    assert found == [machine_id(tmp_path, home, CPU) for home in homes]
    assert len({*found, UNKNOWN}) == 3
    kept = homes[0] / KEPT
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text().strip() not in found[0]
    assert [path.name for path in homes[0].iterdir()] == [KEPT]


def test_a_home_on_a_file_system_without_links_keeps_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    found = machine_id(tmp_path, tmp_path, CPU)
    assert found == machine_id(tmp_path, tmp_path, CPU) != UNKNOWN
    assert stat.S_IMODE((tmp_path / KEPT).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEPT]


def test_without_firmware_and_home_it_is_unknown(tmp_path: Path) -> None:
    assert machine_id(tmp_path, None, CPU) == UNKNOWN
    assert machine_id(tmp_path, tmp_path / "gone", CPU) == UNKNOWN
    (tmp_path / KEPT).write_text("nonsense")
    assert machine_id(tmp_path, tmp_path, CPU) == UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00000000-0000-0000-0000-000000000000",
        "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "03000200-0400-0500-0006-000700080009",
        "To Be Filled By O.E.M.",
        "To be filled by O.E.M.",
        "Default string",
        "Not Specified",
        "None",
        "123456789",
        "System Serial Number",
        "................",
    ],
)
def test_placeholders_identify_nothing(tmp_path: Path, text: str) -> None:
    assert not identifies(text)
    root = firmware(tmp_path / "root", product_uuid=text, board_serial=text)
    assert machine_id(root, None, CPU) == UNKNOWN
    both = firmware(tmp_path / "both", product_uuid=text, board_serial=SERIAL)
    assert machine_id(both, None, CPU) != UNKNOWN


@given(st.uuids(version=4))
def test_random_ids_identify(uuid: object) -> None:
    assert identifies(str(uuid))


def test_the_host_facts_have_it(tmp_path: Path) -> None:
    assert read_host(root=tmp_path, programs=False).machine == UNKNOWN
    facts = read_host(root=tmp_path, programs=False, home=tmp_path)
    assert facts.machine == read_host(root=tmp_path, programs=False, home=tmp_path).machine != UNKNOWN
    cpuinfo = tmp_path / "proc/cpuinfo"
    cpuinfo.parent.mkdir()
    cpuinfo.write_text("model name\t: A CPU\ncpu family\t: 6\nmodel\t\t: 143\nstepping\t: 8\n")
    assert read_host(root=tmp_path, programs=False, home=tmp_path).machine != facts.machine
