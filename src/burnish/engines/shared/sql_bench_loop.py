"""Runs programs one after the other, again and again, and writes a tick after each whole pass.

Run as a script (``python -I -S sql_bench_loop.py TICKS PID COMMANDS``): TICKS is the file that ticks are appended to, a
JSON line each; PID the server, whose CPU clock each of them holds; COMMANDS a JSON list of command lines. Ends with
the exit code of a program that fails. Standard library only: it shares its core with what it runs.
"""

import json
import os
import shutil
import sys
import time


def server_clock(pid: int) -> float | None:
    """CPU seconds of a process; None when it is gone."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the kernel's clock id, as clock_getcpuclockid(3) makes it
    except OSError:
        return None


def run(words: list[str]) -> tuple[int, float]:
    """(exit code, CPU seconds) of one program."""
    pid = os.posix_spawn(shutil.which(words[0]) or words[0], words, os.environ)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def main(ticks: str, server: int, commands: list[list[str]]) -> int:
    """Passes until one fails; see above."""
    done, client_cpu, began = 0, 0.0, time.monotonic()
    with open(ticks, "a") as sink:  # noqa: PTH123 - nothing that takes time to load
        while True:
            at = time.monotonic()
            latency = {"mean": at - began, "max": at - began, "left_out": 0.0} if done else {}
            tick = {"at": at, "done": done, "errors": 0, "reconnects": 0, "server_cpu": server_clock(server)}
            sink.write(json.dumps({**tick, "client_cpu": client_cpu, "latency": latency}) + "\n")
            sink.flush()
            began = at
            for words in commands:
                code, spent = run(words)
                client_cpu += spent
                if code:
                    return code if code > 0 else 128 - code
            done += 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])))
