"""What every test may use: the marker `sandbox`, and the directory of shared samples.

Tests that share one engine or API server are kept on one worker of pytest-xdist (`--dist loadgroup`): those of whole
stacks on one (group `e2e`), the others on another (`sandbox`), so that two cores are busy and no more. Any other module
is kept together, too.
"""

import atexit
import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sandbox import CHARTS, asked, toolchain
from spec import clock
from tests.sandbox.plane import CLUSTER, ControlPlane, start_plane
from tests.support import ageing, day

# In CI a skip is a failure, unless it is on the list; no test hangs, no import renders a stack, and what failed is run
# once more.
pytest_plugins = ("tests.required", "tests.tiers", "tests.guards", "tests.again")

# The same examples at every run, so that a red run can be repeated; no deadline, since the machines of CI are noisy.
settings.register_profile("slipway", deadline=None, derandomize=True)
settings.load_profile("slipway")

# Before any test is collected: modules load stacks for their parameters.
day.fix()

# No test reaches the network: what names no charts has none.
os.environ[CHARTS] = asked.NONE

# The collector looks again and again at what imports and collection left, none of it garbage: it took 12 of the 49 s
# of CPU of tests/policies and tests/spec (2026-11).
gc.set_threshold(50_000, 20, 50)

# Of Go, for the API servers, etcd and engines that tests start: they live for minutes on machines with memory to spare,
# and a third of an API server's CPU goes into collecting garbage. With 400 instead of 100 the tests of one API server
# (tests/sandbox/cluster, admission, workloads) take 41 s of CPU instead of 44. For the CRDs of all charts an
# API server takes 18 s with the sandbox's own limits, 16 s with 400 and 900 MiB, 12 s and 1.6 GB without a limit (2
# cores, 2026-11).
os.environ.setdefault("GOGC", "400")
os.environ.setdefault("GOMEMLIMIT", "1500MiB")

# At the end of a worker the interpreter looks through a million objects that end with it: 2 s and more (2026-11).
atexit.register(gc.freeze)

# A shell that starts a job in the background has it ignore Ctrl-C, and every child inherits that: tests that press it
# would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SANDBOX_TOOLS = (
    "pulumi",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "etcd",
    "terraform-provider-aws",
)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """`-n auto`: one worker more than processors, since the two groups of `sandbox` wait for a third of their time."""
    count = yield
    return count if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else count + 1


def pytest_itemcollected(item: pytest.Item) -> None:
    """Groups the tests marked `sandbox`, and others by module, so that what a module makes is made on one worker.

    Here, because pytest-xdist reads the groups as soon as all are collected.
    """
    if item.get_closest_marker("sandbox"):
        item.add_marker(pytest.mark.xdist_group("e2e" if "e2e" in item.path.parts else "sandbox"))
    elif not item.get_closest_marker("xdist_group"):
        item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(Path(__file__).parent))))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the tests marked `sandbox`, with the way out, where a binary they need is missing; begins with them.

    They are two groups that take minutes, and a worker that begins with one late ends late: the last half minute of
    four had one of two processors idle (2026-11).
    """
    marked = [item for item in items if item.get_closest_marker("sandbox")]
    items.sort(key=lambda item: item.get_closest_marker("sandbox") is None)
    missing = [name for name in SANDBOX_TOOLS if toolchain.find(name) is None] if marked else []
    for item in marked:
        if missing:
            command = f"python -m sandbox.toolchain ensure {' '.join(missing)}"
            item.add_marker(pytest.mark.skip(reason=f"no {', '.join(missing)} here: run `{command}`, or `make test`"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reports what has become old, on the current day, and fails nothing: see CONTRIBUTING.md, "Dated facts"."""
    if lines := ageing.lines(clock.current()):
        terminalreporter.section("the catalog is ageing")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The API server of all tests that need one and no more: 4 s of CPU to start (2026-11).

    They keep to namespaces and names of their own; the CRDs of charts stay, and a module that needs others
    replaces them (`tests.support.definitions`).
    """
    plane = start_plane(tmp_path_factory.mktemp("plane"))
    try:
        plane.pool.create(CLUSTER)
        yield plane
    finally:
        plane.supervisor.stop_all()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of shared samples (charts, traces, facts), which is not part of this repository."""
    value = os.environ.get("SLIPWAY_SHARED")
    if not value:
        pytest.skip(
            "SLIPWAY_SHARED names no directory of shared samples: this test compares with files outside the tree"
        )
    path = Path(value)
    assert path.is_dir(), f"SLIPWAY_SHARED={value} is not a directory"
    return path
