"""A small trace on stack dev, its plan, and events of the engine about it."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from slipway.replay import jobs, plan
from slipway.replay.fold import Fold
from slipway.replay.plan import Options, Plan
from slipway.replay.result import Result
from slipway.replay.text import Source
from tests.support.stacks import platform_of, recorded

TRACE: Final = """\
job,team,class,submitted,duration,pods,cpu,memory,gpus,gpu_type
train,language,training,0,3600,2,4,32Gi,1,H100
notebook,vision,interactive,60,7200,1,2,4Gi,0.25,
sweep,language,experiment,120,600,1,4,32Gi,1,H100
data,research,batch,300,1800,1,3,8Gi,0,
huge,vision,training,400,60,1,4,8Gi,1,B200
"""
EVENTS: Final = Path(__file__).with_name("events.ndjson")


def planned(trace: str = TRACE, stack: str = "dev", options: Options | None = None) -> Plan:
    """The plan of a CSV on a shipped stack."""
    found = jobs.read(Source("trace.csv", trace))
    return plan.make(found, platform_of(stack), recorded(stack), options or Options())


def events() -> list[dict[str, Any]]:
    """The recorded events."""
    return [json.loads(line) for line in EVENTS.read_text(encoding="utf-8").splitlines()]


@cache
def result(until: int | None = None) -> Result:
    """The result of the recorded events, of all or of the first ones."""
    fold = Fold(planned(), stack="dev", source="trace.csv", form="csv")
    for event in events()[:until]:
        fold.add(event)
    return fold.result()
