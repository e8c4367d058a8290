"""What runs are measured with: the clock, the processor time of child processes and of the whole machine."""

import os
import platform
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from tests.bench.timing import Cpu, Stopwatch


class BenchError(Exception):
    """Something could not be measured: a command failed, or a binary is missing."""


def stopwatch(more: Cpu = lambda: 0.0) -> Stopwatch:
    """Counts this process, children that ended, and what `more` returns for processes that are still running."""
    return Stopwatch(lambda: own_seconds() + more(), busy_seconds, time.perf_counter, processors())


def processors() -> int:
    """Logical processors."""
    return psutil.cpu_count() or 1


def own_seconds() -> float:
    """Processor time of this process and of all its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def busy_seconds() -> float:
    """Processor time that the machine has spent on anything."""
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # A guest's time is in `user` already (proc_stat(5)).
    return float(sum(times) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0))


def describe() -> dict[str, object]:
    """The machine in words, for comparing two runs."""
    memory = psutil.virtual_memory().total >> 30
    return {"processors": processors(), "memory GiB": memory, "system": platform.platform(), "load": os.getloadavg()}


def run(
    argv: Sequence[str], *, directory: Path, environment: Mapping[str, str], expect: int = 0, seconds: float = 600.0
) -> str:
    """Run a command to its end; what it printed, on both streams.

    Raises:
        BenchError: It can't be started, takes too long, or ends with another exit code than `expect`.
    """
    command = " ".join(argv)
    try:
        done = subprocess.run(
            argv, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"`{command}`: {error}"
        raise BenchError(msg) from error
    if done.returncode != expect:
        output = "\n".join(done.stdout.strip().splitlines()[-15:])
        msg = f"`{command}` ended with code {done.returncode}, not {expect}:\n{output}"
        raise BenchError(msg)
    return done.stdout
