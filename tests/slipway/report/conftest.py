"""A sample report of `prod` with changes; the program runs once for all tests in this folder."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.render import evaluation
from slipway.render.layout import as_data
from slipway.render.program import record_platform
from slipway.render.recording import Recording
from slipway.report import gather
from slipway.report.advice import Replayed, Scenario
from slipway.report.make import needs_of
from slipway.report.model import Report
from slipway.report.plan.compare import compare
from spec.pricing import Estimate, estimate
from spec.settings import Loaded, load, read_stack
from tests.support.day import TODAY

ROOT: Final = Path(__file__).parents[3]
STACK: Final = "prod"
HOSTILE: Final = '</script><img src=x onerror="alert(1)"> & <b>'


@dataclass(frozen=True)
class SampleReport:
    """A report with its inputs."""

    inputs: gather.Inputs
    report: Report

    @property
    def recording(self) -> Recording:
        return self.inputs.recording

    @property
    def loaded(self) -> Loaded:
        return self.inputs.loaded


@pytest.fixture(scope="session")
def sample() -> SampleReport:
    return _sample()


@cache
def _sample() -> SampleReport:
    loaded = load(read_stack(STACK, ROOT / "stacks"), stack=STACK, today=TODAY)
    recording = record_platform(loaded.platform, stack=STACK)
    now = [as_data(one) for one in recording]
    inputs = gather.Inputs(
        stack=STACK,
        loaded=loaded,
        recording=recording,
        estimate=estimate(loaded.platform, TODAY),
        violations=evaluation.check(recording, TODAY),
        today=TODAY,
        plan=compare(baseline(now), now, needs_of(recording), against="main (0123456789)"),
        before=smaller(loaded),
        commit="0123456",
        data=settings(),
        scenarios=(
            Scenario(
                name="weekend",
                description="A job that hangs ends at its deadline.",
                how="replayed, by the clock: 12 h in 1 s",
                expectations=(("job/next waits at most 7h: next waited 6 h", True),),
            ),
            Scenario(
                name="weekend/no-deadline",
                description="Without a deadline it runs until Monday.",
                how="replayed, by the clock: 2 d 20 h in 0 s",
                expectations=(("job/hangs costs at most 1800 USD: 14,961.71 USD", False),),
            ),
        ),
        replayed=Replayed(jobs="trace.csv (1,000 jobs)", verdict="Nothing is advised."),
    )
    return SampleReport(inputs, gather.report(inputs))


def settings() -> dict[str, Any]:
    """The stack file's settings."""
    data = read_stack(STACK, ROOT / "stacks")
    assert isinstance(data, dict)
    return data


def baseline(now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stack before the change: another EFS mode, a smaller pool, one release less, one bucket more, markup."""
    old = deepcopy([one for one in now if not one["urn"].endswith("::kueue-release")])
    by_name = {one["urn"].rpartition("::")[2]: one for one in old}
    by_name["storage-efs-files"]["inputs"]["performanceMode"] = "maxIO"
    by_name["pool-a100-node-group"]["inputs"]["scalingConfig"]["maxSize"] = 2
    by_name["storage-raw-policy"]["inputs"]["bucket"] = HOSTILE
    removed = deepcopy(by_name["storage-raw"])
    removed["urn"] += "-old"
    removed["options"] = {**removed["options"], "retainOnDelete": False, "protect": False}
    return [*old, removed]


def smaller(loaded: Loaded) -> Estimate:
    """The cost estimate with a third of the nodes of one pool."""
    platform = loaded.platform
    pool = platform.pools["gpu-spot"].model_copy(update={"max": 8})
    return estimate(platform.model_copy(update={"pools": {**platform.pools, "gpu-spot": pool}}), TODAY)


def hostile(report: Report) -> Report:
    """The same report with markup in every text that users can write."""
    return replace(
        report,
        stack=HOSTILE,
        owner=HOSTILE,
        pools=tuple(replace(pool, name=f"{pool.name}{HOSTILE}", taints=(HOSTILE,)) for pool in report.pools),
        teams=tuple(replace(team, project=HOSTILE, namespaces=(HOSTILE,)) for team in report.teams),
        stores=tuple(replace(store, name=HOSTILE, facts=(HOSTILE,)) for store in report.stores),
        advice=replace(
            report.advice, risks=tuple(replace(one, what=HOSTILE, fix=HOSTILE) for one in report.advice.risks)
        ),
        caveats=tuple(replace(caveat, why=HOSTILE, cases=(HOSTILE,)) for caveat in report.caveats),
        evaluation=replace(
            report.evaluation,
            findings=tuple(replace(one, cases=((HOSTILE, HOSTILE),)) for one in report.evaluation.findings),
        ),
    )
