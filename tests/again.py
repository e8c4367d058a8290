"""What failed is run once more, alone: a pytest plugin that leaves the list for `make test`.

Tests of real controllers wait for what other processes do, on machines that others share: of 10,700 tests one lost a
race in CI (2026-11-23). A second run of a few tells a race from a fault, and both outputs stay: see CONTRIBUTING.md, "A
test that fails once". More than a few are no race.
"""

from typing import Final

import pytest

FILE: Final = "again"
"""Below pytest's own cache: arguments for pytest, a line each."""
MOST: Final = 3
GROUP: Final = "@"


def arguments(failed: list[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """The node IDs to run again; none where something could not be collected, or where it is more than a few.

    pytest-xdist appends the group of a test to its ID, after the brackets of its parameters (3.8, `--dist loadgroup`).
    """
    if not all(isinstance(report, pytest.TestReport) for report in failed):
        return []
    found = set()
    for report in failed:
        head, bracket, tail = report.nodeid.rpartition("]")
        found.add(head + bracket + tail.partition(GROUP)[0])
    return sorted(found) if len(found) <= MOST else []


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Writes the list: an empty one where nothing is to be run again."""
    cache = getattr(config, "cache", None)
    if cache is None:  # with -p no:cacheprovider
        return
    failed = [*terminalreporter.stats.get("failed", []), *terminalreporter.stats.get("error", [])]
    file = cache.mkdir("slipway") / FILE
    file.write_text("".join(f"{line}\n" for line in arguments(failed)), encoding="utf-8")
