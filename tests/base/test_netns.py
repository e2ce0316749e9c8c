"""Two namespaces and a cable: laid, limited, removed, also when whoever laid it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from burnish.base import netns, process, system, warden
from burnish.base.errors import InfrastructureError
from burnish.cli.common import app


@pytest.fixture(scope="module")
def _possible() -> None:
    reason = netns.lacking()
    if reason is not None:
        pytest.skip(reason)


def soon(what: Callable[[], bool], seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return what()


def argvs(rate: str = "", delay: str = "") -> list[str]:
    return [" ".join(step.argv) for step in netns.steps("s", "c", rate, delay)]


def test_the_cable_begins_and_ends_in_our_own_namespaces() -> None:
    result = argvs()
    assert result[:3] == [
        "ip netns add s",
        "ip netns add c",
        "ip link add veth0 netns s type veth peer name veth0 netns c",
    ]
    assert all(words.startswith(("ip -n s ", "ip -n c ")) for words in result[3:]), "nothing in the host's own network"
    assert "ip -n s address add 10.0.0.1/30 dev veth0" in result
    assert "ip -n c address add 10.0.0.2/30 dev veth0" in result


def test_limits_are_set_at_both_ends() -> None:
    rate = "tbf rate 100mbit burst 12500 latency 400ms"
    limited = [words for words in argvs("100mbit") if words.startswith("tc ")]
    assert limited == [f"tc -n {name} qdisc add dev veth0 root {rate}" for name in "sc"]
    both = [words for words in argvs("100mbit", "1ms") if words.startswith("tc -n s")]
    assert both == [
        "tc -n s qdisc add dev veth0 root handle 1: netem delay 1ms",
        f"tc -n s qdisc add dev veth0 parent 1:1 handle 10: {rate}",
    ]


@pytest.mark.parametrize(("rate", "size"), [("64kbit", 3028), ("100mbit", 12_500), ("2.5gbit", 312_500)])
def test_a_burst_is_a_millisecond_or_two_frames(rate: str, size: int) -> None:
    assert netns.burst(rate) == size


def test_only_names_of_ours_have_an_owner() -> None:
    assert warden.owner_of("burnish-123-abc-1s") == 123
    assert warden.owner_of("burnish-vpn") == 0
    assert warden.owner_of("other-123-abc") == 0


def test_without_its_tools_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "find_programs", lambda names: dict.fromkeys(names, Path("/nowhere/ip")))
    assert "install iproute2, or take transport=tcp" in str(netns.lacking())


def test_a_refusal_names_the_part_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netns, "steps", lambda *_: [netns.Step("tbf", ("sh", "-c", "echo no such qdisc; exit 2"))])
    assert netns.lacking("1mbit") == (
        "no tbf: no such qdisc; the kernel needs CONFIG_NET_SCH_TBF (modprobe sch_tbf), or leave rate= out"
    )
    with pytest.raises(InfrastructureError, match="no tbf: no such qdisc"):
        netns.Cable("1mbit").up()


@pytest.mark.usefixtures("_possible")
def test_one_end_reaches_the_other_and_nothing_else() -> None:
    before = {path.name for path in Path("/sys/class/net").iterdir()}
    cable = netns.Cable()
    cable.up()
    try:
        inside = process.run([*cable.for_client, "ip", "-o", "-4", "address"]).output
        assert [line.split()[3] for line in inside.splitlines()] == ["10.0.0.2/30"]
        assert not process.run([*cable.for_client, "ip", "route", "get", "192.0.2.1"]).ok, "no way out"
        assert process.run([*cable.for_client, "ip", "route", "get", netns.ADDRESS]).ok
        answer = (
            f"import socket; s=socket.create_server(('{netns.ADDRESS}', 0)); print(s.getsockname()[1], flush=True);"
        )
        answer += "s.accept()[0].sendall(b'hello')"
        server = process.start([*cable.for_server, sys.executable, "-c", answer])
        assert server.stdout is not None
        port = server.stdout.readline().decode().strip()
        ask = f"import socket; print(socket.create_connection(('{netns.ADDRESS}', {port}), 10).recv(9).decode())"
        assert process.run([*cable.for_client, sys.executable, "-c", ask]).output == "hello"
        process.stop(server)
        server.stdout.close()
        assert {path.name for path in Path("/sys/class/net").iterdir()} == before, "the host has no new device"
    finally:
        cable.down()
        cable.down()
    assert not warden.namespaces(process.run_id())


@pytest.mark.usefixtures("_possible")
def test_a_program_keeps_its_pid_in_there() -> None:
    """Its CPU clock is read, and its cores are set, by that number."""
    cable = netns.Cable()
    cable.up()
    try:
        inside = process.start([*cable.for_server, sys.executable, "-c", "import os; print(os.getpid())"])
        assert inside.stdout is not None
        assert int(inside.stdout.readline()) == inside.pid
        process.stop(inside)
        inside.stdout.close()
    finally:
        cable.down()


LAYS = """
import sys, time
from burnish.base import netns
cable = netns.Cable()
cable.up()
print(cable.server, flush=True)
time.sleep(600)
"""


@pytest.mark.usefixtures("_possible")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_run_that_is_killed(how: signal.Signals) -> None:
    env = {key: value for key, value in os.environ.items() if key != process.RUN_VARIABLE}
    with subprocess.Popen([sys.executable, "-c", LAYS], stdout=subprocess.PIPE, env=env) as run:
        assert run.stdout is not None
        name = run.stdout.readline().decode().strip()
        assert name in warden.namespaces()
        run.send_signal(how)
    assert soon(lambda: not [namespace for namespace in warden.namespaces() if warden.owner_of(namespace) == run.pid])


@pytest.fixture
def prefix(monkeypatch: pytest.MonkeyPatch) -> str:
    """Of names that runs of the tests beside these do not sweep."""
    mine = f"burnish{os.getpid()}-"
    monkeypatch.setattr(warden, "NAMESPACE", mine)
    return mine


@pytest.mark.usefixtures("_possible")
def test_what_even_the_warden_left_is_swept_and_nothing_else(prefix: str) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, alive = f"{prefix}{ended.pid}-0123456789ab-1s", f"{prefix}{os.getppid()}-0123456789ab-1s"
    foreign = f"{prefix}test-{os.getpid()}"
    used = f"{prefix}{ended.pid}-0123456789ab-2s"
    names = (left, alive, foreign, used)
    for name in names:
        assert process.run(["ip", "netns", "add", name]).ok
    inhabitant = process.start(["ip", "netns", "exec", used, "sleep", "60"])
    try:
        assert soon(lambda: bool(process.capture(["ip", "netns", "pids", used]).split()))
        swept = netns.sweep()
        assert left in swept
        assert not {alive, foreign, used} & set(swept)
        assert set(names) & {path.name for path in Path(warden.FOLDER).iterdir()} == {alive, foreign, used}
    finally:
        process.stop(inhabitant)
        if inhabitant.stdout is not None:
            inhabitant.stdout.close()
        for name in (alive, foreign, used):
            netns.remove(name)


@pytest.mark.usefixtures("_possible")
def test_burnish_clean_removes_what_a_killed_run_left(prefix: str) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = f"{prefix}{ended.pid}-0123456789ab-1s"
    assert process.run(["ip", "netns", "add", left]).ok
    done = CliRunner().invoke(app, ["clean"], catch_exceptions=False)
    assert done.exit_code == 0
    assert left not in warden.namespaces()
    assert f"removed network namespace {left}" in " ".join(done.stderr.split())
