"""Two promises that are kept by force: a pytest plugin.

A module that is imported for its tests renders no stack and starts no process. Every worker of pytest-xdist imports
every module: a stack takes seconds each time. What a test needs, a fixture or a cached function makes when it runs. And
a test of the tier `fast` (tests/tiers.py) starts no process.
"""

import os
import subprocess
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

import pytest

from slipway.render.monitor import Monitor

RENDER: Final = "renders a program"
PROCESS: Final = "starts a process"
_COSTLY: Final = (
    (Monitor, "__init__", RENDER),
    (subprocess.Popen, "__init__", PROCESS),
    (os, "fork", PROCESS),
    (os, "posix_spawn", PROCESS),
)
_refused: Final[dict[str, str]] = {}
"""What is refused at the moment, and why."""


def _guarded(original: Callable[..., Any], what: str) -> Callable[..., Any]:
    @wraps(original)
    def checked(*arguments: Any, **options: Any) -> Any:
        if what in _refused:
            pytest.fail(f"{what} {_refused[what]}")
        return original(*arguments, **options)

    return checked


for _owner, _name, _what in _COSTLY:
    setattr(_owner, _name, _guarded(getattr(_owner, _name), _what))


@contextmanager
def refused(reason: str, *kinds: str) -> Iterator[None]:
    """Fails what is of these kinds in the block, for a reason."""
    before = dict(_refused)
    _refused.update(dict.fromkeys(kinds, reason))
    try:
        yield
    finally:
        _refused.clear()
        _refused.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Watches imports of modules, and what they give to `parametrize`."""
    reason = "while it is imported: do it in a fixture or a cached function, so that only its tests wait for it"
    with refused(reason, RENDER, PROCESS):
        return (yield)


def _watched(item: pytest.Item) -> Generator[None, object, object]:
    """Watches a test of the tier `fast`; not what ends after the last one of a worker, which is another test's."""
    if not item.get_closest_marker("fast"):
        return (yield)
    with refused("in a test of the tier `fast`: take its file out of FAST in tests/tiers.py", PROCESS):
        return (yield)


pytest_runtest_setup = pytest.hookimpl(wrapper=True, specname="pytest_runtest_setup")(_watched)
pytest_runtest_call = pytest.hookimpl(wrapper=True, specname="pytest_runtest_call")(_watched)
