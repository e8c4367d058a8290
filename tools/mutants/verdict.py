"""Whether tests notice a mutant: the module's own, those near it, or any."""

from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Final

from tools.mutants.copies import Copy
from tools.mutants.selection import Selection
from tools.mutants.source import Mutant
from tools.mutants.trial import Runner, Trial

LIMIT_SECONDS: Final = 30.0
LIMIT_TIMES: Final = 4.0
"""A mutant has as long as its tests take without it, so many times, and some seconds for a busy machine."""
BASELINE_SECONDS: Final = 1800.0
_PASSED: Final = 0
_NOTHING_COLLECTED: Final = 5
_BAD_USAGE: Final = 4  # exit codes of pytest 9.1 (docs.pytest.org, "Exit codes")


class Verdict(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMEOUT = "timeout"
    SURVIVED = "survived"
    ERROR = "error"


@dataclass(frozen=True)
class Result:
    """A mutant and what became of it."""

    mutant: Mutant  # the change
    verdict: Verdict  # what became of it
    stage: str = ""  # which tests came last: the ones that noticed it, or all
    seconds: float = 0.0  # of the runs with it
    output: str = ""  # the end of what pytest printed, where it did not pass


class BaselineError(Exception):
    """Tests that fail without any mutant say nothing about one."""


class Evaluation:
    """Evaluates mutants, each in a copy that nobody else uses meanwhile."""

    def __init__(self, selection: Selection, runner: Runner) -> None:
        self._selection = selection
        self._runner = runner
        self._limits: dict[tuple[str, ...], float | None] = {}
        self._locks: defaultdict[tuple[str, ...], Lock] = defaultdict(Lock)
        self._lock = Lock()

    def of(self, mutant: Mutant, copy: Copy) -> Result:
        """Run tests until one fails: first those that should notice a change of the mutant's module."""
        seconds = 0.0
        stage = ""
        for stage, tests in self._selection.stages(mutant.path).items():
            try:
                limit = self._limit(tests, copy)
            except BaselineError as error:
                return Result(mutant, Verdict.ERROR, stage, seconds, str(error))
            if limit is None:
                continue
            with copy.changed(mutant):
                trial = self._runner.run(copy, tests, limit)
            seconds += trial.seconds
            if trial.code != _PASSED:
                return Result(mutant, _verdict_of(trial), stage, seconds, trial.output)
        return Result(mutant, Verdict.SURVIVED, stage, seconds)

    def _limit(self, tests: tuple[str, ...], copy: Copy) -> float | None:
        """Seconds that a run of these tests may take; None where pytest collects none. Measured once."""
        with self._lock:
            lock = self._locks[tests]
        with lock:
            if tests not in self._limits:
                self._limits[tests] = _limit_of(self._runner.run(copy, tests, BASELINE_SECONDS))
            return self._limits[tests]


def _verdict_of(trial: Trial) -> Verdict:
    if trial.code is None:
        return Verdict.TIMEOUT
    return Verdict.ERROR if trial.code == _BAD_USAGE else Verdict.KILLED


def _limit_of(baseline: Trial) -> float | None:
    if baseline.code == _NOTHING_COLLECTED:
        return None
    if baseline.code != _PASSED or " passed" not in baseline.output:
        msg = f"the tests do not pass without the mutant: fix them first\n{baseline.output}"
        raise BaselineError(msg)
    return LIMIT_SECONDS + LIMIT_TIMES * baseline.seconds
