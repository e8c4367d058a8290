"""Where SLIPWAY_REQUIRE_ALL=1, a skip is a failure, unless tests/allowed_skips.yaml has it: a pytest plugin.

Without it the reason of a skip says which tool is missing, and the rest is tested. CI sets it: a run without Checkov,
promtool, a browser or the sandbox's binaries would be green. It holds for tests, fixtures and whole modules, on every
worker of pytest-xdist: a worker runs these hooks before it sends a report.
"""

import os
from collections.abc import Generator
from typing import Final

import pytest

from tests.allowed_skips import WITHOUT_SAMPLES, allowed

VARIABLE: Final = "SLIPWAY_REQUIRE_ALL"
LIST: Final = "tests/allowed_skips.yaml"


def pytest_configure() -> None:
    """Refuses a value that would switch nothing on."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        msg = f"{VARIABLE} is 1 (a skip is a failure), or 0 or unset (given: {value!r})"
        raise pytest.UsageError(msg)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skips of tests and of their fixtures; expected failures (`xfail`) are none."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _require(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skips of whole modules, while they are imported."""
    report = yield
    if report.skipped:
        _require(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how many tests were skipped because their samples are not here, which is allowed everywhere."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if isinstance(report, pytest.TestReport)]
    if count := sum(_reason(report).startswith(WITHOUT_SAMPLES) for report in skipped):
        terminalreporter.section("not compared with files of other projects")
        terminalreporter.write_line(f"{count} skipped: {WITHOUT_SAMPLES}directory of charts, CRDs and tables")


def _require(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = _reason(report)
    file = report.nodeid.partition("::")[0]
    if os.environ.get(VARIABLE) != "1" or allowed(file, reason):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"skipped where {VARIABLE}=1: {reason}\n"
        f"Provide what is missing; or, where this machine cannot have it, add the skip with its reason to {LIST}."
    )


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What was given to `pytest.skip`: a skip is reported as file, line and `Skipped: <reason>`."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return text.removeprefix("Skipped: ")
