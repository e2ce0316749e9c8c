"""Branch samples: a stand-in for perf samples a real server of the fake engine; the real llvm-profgen and clang follow.

Hosts that give branch records are rare (virtual machines don't), so what perf would print is made from the program's
own code: the loop of fake_work, jumped back to again and again.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.builds.stages import Compile, PackageFlags, stages
from burnish.model.recipe import Recipe, Variant
from burnish.profiles import audit, sampling
from burnish.profiles.collecting import function_counts
from burnish.profiles.sampling import perf2bolt, sample_tool
from burnish.profiles.stages import Train
from burnish.toolchain.toolchains import Toolchain
from profiling import Shop

PERF = """#!{python}
import os, signal, subprocess, sys, re
words = sys.argv[1:]
if words[0] == "record":
    assert "any,u" in words and "-p" in words, words
    signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGINT}})
    open({ready!r}, "w").close()
    pid = words[words.index("-p") + 1]
    exe = os.readlink(f"/proc/{{pid}}/exe")
    maps = [line.split() for line in open(f"/proc/{{pid}}/maps") if line.split()[-1] == exe and "x" in line.split()[1]]
    start, end = (int(part, 16) for part in maps[0][0].split("-"))
    offset = int(maps[0][2], 16)
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", exe], capture_output=True, text=True).stdout
    body = code.split("<fake_work>:")[1].split("\\n\\n")[0]
    jumps = re.findall(r"^ +([0-9a-f]+):\\s+j\\w+ +([0-9a-f]+) <fake_work", body, re.M)
    source, target = next((int(a, 16), int(b, 16)) for a, b in jumps if int(b, 16) < int(a, 16))
    headers = subprocess.run(["readelf", "-lW", exe], capture_output=True, text=True).stdout
    first = next(line.split() for line in headers.splitlines() if "LOAD" in line and " R E " in line)
    base = start - int(first[2], 16) // 4096 * 4096
    signal.sigwait({{signal.SIGINT}})
    stack = f"0x{{base + source:x}}/0x{{base + target:x}}/P/-/-/1 " * 16
    with open(words[words.index("-o") + 1], "w") as out:
        place = f"[0x{{start:x}}(0x{{end - start:x}}) @ 0x{{offset:x}} 08:01 1 0]"
        out.write(f"PERF_RECORD_MMAP2 {{pid}}/{{pid}}: {{place}}: r-xp {{exe}}\\n")
        out.write(f" {{base + source:x}} {{stack}}\\n" * 500)
elif words[0] == "script":
    sys.stdout.write(open(words[words.index("-i") + 1]).read())
"""


def shop_of(root: Path, toolchain: Toolchain) -> tuple[Shop, tuple[Compile, Train, Compile]]:
    here = Shop(root, toolchain)
    chain = stages(
        Variant("v", Recipe(toolchain="clang", pgo=True, sampled=True), "for a test of sampling"),
        spec=here.builder.engine.spec,
        source="source",
        toolchain=toolchain,
        package=PackageFlags(("-O2", "-g"), (), ()),
        features="full",
        with_tools=False,
        bolt=None,
        profile_place=str(here.builder.profile_place),
        training=(("fake_mix", 0.5),),
        lbr=True,
    )
    ordinary, train, final = chain
    assert isinstance(ordinary, Compile)
    assert isinstance(train, Train)
    assert isinstance(final, Compile)
    return here, (ordinary, train, final)


def put_perf(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    perf = folder / "perf"
    perf.write_text(script)
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{process.environment(None)['PATH']}")


def test_from_samples_to_a_build(clang: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        sample_tool(clang)
    except UserError:
        pytest.skip("no llvm-profgen")
    ready = tmp_path / "ready"
    put_perf(tmp_path / "bin", PERF.format(python=sys.executable, ready=str(ready)), monkeypatch)

    def stop(perf: subprocess.Popen[bytes], **how: Any) -> int:
        while not ready.exists() and perf.poll() is None:
            time.sleep(0.01)  # half a second of training may be over before this perf has begun
        return process.stop(perf, **how)

    monkeypatch.setattr(sampling, "process", SimpleNamespace(start=process.start, stop=stop))
    here, (ordinary, train, final) = shop_of(tmp_path / "shop", clang)
    here.make(ordinary)
    profile = here.make(train)
    assert profile.about["kind"] == "clang-samples"
    assert profile.about["sampled"]
    found = function_counts("clang-samples", profile.folder, clang)
    assert max(found, key=lambda name: found[name]) == "fake_work"
    built = here.make(final)
    assert re.match(r"\d+ hot functions, 0 mismatching, 0 missing \(0\.0%", built.about["audit"])
    assert f"-fprofile-sample-use={here.builder.profile_place}" in built.about["flags"]["c"]


def test_perf_that_gives_nothing(clang: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_perf(tmp_path / "bin", "#!/bin/sh\necho no branch stack >&2\nexit 1\n", monkeypatch)
    here, (ordinary, train, _) = shop_of(tmp_path / "shop", clang)
    here.make(ordinary)
    with pytest.raises(InfrastructureError, match="perf record wrote no branch records"):
        here.make(train)


def test_tools_that_are_not_there_are_named_with_their_package(
    gcc: Toolchain, clang: Toolchain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="sampled needs create_gcov; apt install autofdo"):
        sample_tool(gcc)
    bare = Toolchain(**{**vars(clang), "profdata": tmp_path / "llvm-profdata", "bolt": None})
    with pytest.raises(UserError, match=rf"no llvm-profgen beside .*; apt install llvm-{clang.major}"):
        sample_tool(bare)
    with pytest.raises(UserError, match=rf"no perf2bolt .*; apt install bolt-{clang.major}"):
        perf2bolt(bare)


def test_an_audit_of_samples_is_by_clangs_own_report() -> None:
    said = "of functions' profile are invalid and ({}) of samples are discarded due to function hash mismatch.\n"
    log = f"(0/3) {said.format('0/1000')}(1/3) {said.format('300/600')}"
    hot = frozenset("abcdefghij")
    assert not audit.audit_samples(log, hot).acceptable
    assert audit.audit_samples(log, hot).unmatched == 5
    assert audit.audit_samples(log.splitlines()[0], hot).acceptable
    assert audit.audit_samples("", hot).acceptable
