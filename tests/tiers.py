"""How long each test may take, and in which tier it is, by its place: a pytest plugin.

A test that hangs fails at its deadline with the stacks of all threads, fixtures included, and the run goes on
(pytest-timeout, by a signal). One that swallows that, or hangs after it has failed, ends with its process: a worker of
pytest-xdist, which is replaced (pytest's own `faulthandler_timeout`). The deadline of all others is in pyproject.toml.
Deadlines are for hangs, on machines that are busy: they are longer than what a test itself waits for.

`make test-fast` runs the tier `fast`: tests that start no process, which tests/guards.py enforces in every run, and
that take 80 to 90 s together on two idle cores. `python -m tests.tiers` prints its folders: nothing else is imported.
`make test` runs all but those of tests/slow.yaml (`--rest none`), `make test-all` all. CI adds a quarter of that rest,
by its commit (`make test REST=1`), so that nothing is proven by a schedule alone.
"""

from collections.abc import Mapping
from itertools import compress
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Final

import pytest

from spec import strict_yaml
from tests.support.cases import beside

DATA: Final = beside(__file__)
ROOT: Final = Path(__file__).resolve().parents[1]
SANDBOX_SECONDS: Final = 900
"""A control plane or an engine: tests wait up to 240 s, for a controller."""
SECONDS: Final = MappingProxyType({"tests/e2e": 1800, "tests/rehearsal": 1800})
"""Whole stacks, by folder: tests give an update of one with the charts of all add-ons up to 900 s."""


FAST: Final = (
    *(f"tests/{folder}" for folder in ("components", "deploy", "infra", "policies", "spec", "support")),
    *(f"tests/slipway/{folder}" for folder in ("cost", "fit", "quickstarts", "render", "report")),
    *(f"tests/slipway/{folder}" for folder in ("teardown", "trial", "verify", "why")),
)
"""Folders of the tier `fast`: 5,017 tests, 161 s of CPU with two workers (2026-11-23)."""
STARTING: Final = frozenset(DATA["starting"])
"""Files in these folders whose tests start processes."""


SLOW: Final[Mapping[str, int]] = MappingProxyType(
    strict_yaml.read((ROOT / "tests/slow.yaml").read_text(encoding="utf-8"))
)
"""Seconds of what `make test` leaves out, by folder, file or `file::test` below tests/."""
QUARTERS: Final = 4


def quarters(seconds: Mapping[str, int]) -> dict[str, int]:
    """The quarter, from 1, of each row: the longest first, into the quarter that is the shortest then."""
    filled = dict.fromkeys(range(1, QUARTERS + 1), 0)
    found = {}
    for name, length in sorted(seconds.items(), key=lambda row: (-row[1], row[0])):
        found[name] = min(filled, key=lambda quarter: (filled[quarter], quarter))
        filled[found[name]] += length
    return found


QUARTER_OF: Final[Mapping[str, int]] = MappingProxyType(quarters(SLOW))


def quarter(path: PurePath, test: str = "") -> int | None:
    """The quarter in which a file or a test of it is; None if it is in `make test`."""
    inside = path.relative_to("tests") if path.is_relative_to("tests") else path
    names = (f"{inside.as_posix()}::{test}", *(place.as_posix() for place in (inside, *inside.parents)))
    return next((QUARTER_OF[name] for name in names if name in QUARTER_OF), None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that chooses among the tests of tests/slow.yaml."""
    choices = ("all", "none", *map(str, range(1, QUARTERS + 1)))
    text = "which of the tests that `make test` leaves out to run, too: all, none, or a quarter (default: all)"
    parser.addoption("--rest", choices=choices, default="all", help=text)


def _left_out(config: pytest.Config, path: Path, test: str = "") -> bool:
    rest = config.getoption("--rest")
    found = quarter(path.relative_to(ROOT), test) if rest != "all" and path.is_relative_to(ROOT) else None
    return found is not None and str(found) != rest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Doesn't import what it will not run."""
    return True if _left_out(config, collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out single tests."""
    left_out = [_left_out(config, item.path, item.name.partition("[")[0]) for item in items]
    config.hook.pytest_deselected(items=list(compress(items, left_out)))
    items[:] = [item for item, out in zip(items, left_out, strict=True) if not out]


def fast(path: PurePath) -> bool:
    """Whether the tests of a file are in the tier `fast`, if they don't have the marker `sandbox`."""
    return any(path.is_relative_to(folder) for folder in FAST) and path.as_posix() not in STARTING


def seconds(path: PurePath, *, sandbox: bool) -> int | None:
    """The deadline of a test, if it has another one than most.

    Args:
        path: Its file, from the top of the tree.
        sandbox: Whether it has the marker `sandbox`.
    """
    found = [limit for folder, limit in SECONDS.items() if path.is_relative_to(folder)]
    return max([*found, *([SANDBOX_SECONDS] if sandbox else [])], default=None)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Sets the deadline, unless the test names its own, and the tier."""
    path = item.path.relative_to(ROOT) if item.path.is_relative_to(ROOT) else item.path
    sandbox = item.get_closest_marker("sandbox") is not None
    limit = seconds(path, sandbox=sandbox)
    if limit is not None and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(limit))
    if fast(path) and not sandbox:
        item.add_marker(pytest.mark.fast)


if __name__ == "__main__":
    print(*FAST)
