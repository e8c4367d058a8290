"""The result of a replay, as a document: `replay.json`. Its JSON Schema is `result.schema.json` beside this file."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from slipway.replay.text import Source, TraceError
from spec.catalog.document import laid_out
from spec.settings.schema import write_or_check

VERSION: Final = 1
SCHEMA: Final = Path(__file__).with_name("result.schema.json")


class Document(BaseModel):
    """A part of the result: names in camel case, no unknown key, no number that is not finite."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
    )

    def as_json(self) -> str:
        """The whole document."""
        return json.dumps(self.model_dump(by_alias=True), indent=1) + "\n"

    @classmethod
    def schema_text(cls) -> str:
        """Its JSON Schema, as the file has it."""
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **cls.model_json_schema(by_alias=True)}
        return f"{laid_out(schema)}\n"


class Waits(Document):
    """Seconds from submission to the first start; of a job that had not started, to the end of the replay."""

    jobs: int
    unstarted: int
    """Jobs that had not started: their wait is at least that."""
    mean: float
    median: float
    p95: float
    longest: float


class PoolUse(Document):
    """What one pool did, with its fallbacks."""

    name: str
    unit: Literal["GPUs", "CPUs"]
    """What its amounts in the timeline are."""
    most_nodes: int
    """Largest number of nodes at once."""
    ceiling: int
    """Number of nodes that the stack file allows."""
    node_hours: float
    gpu_hours_paid: float
    """From the launch of each node to its removal."""
    gpu_hours_busy: float
    """Allocated to running jobs; a part of a GPU counts as that part."""
    usd: float
    idle_usd: float
    """What no job was using."""
    launches: int
    priced: bool
    """Whether the catalog has a price for all of its nodes."""


class TeamUse(Document):
    """What the jobs of one team did."""

    name: str
    jobs: int
    finished: int
    gpu_hours: float
    usd: float
    preempted: int
    lost_gpu_hours: float
    waits: Waits


class Used(Document):
    """What one job had of one pool."""

    gpu_hours: float
    """A part of a GPU counts as that part; 0 of a CPU pool."""
    usd: float
    """The part of its nodes that it had, without what is idle."""


class Outcome(Document):
    """What became of one job."""

    job: str
    team: str
    job_class: str
    submitted: float
    waited: float
    """Seconds to the first start; of a job that had not started, to the end of the replay."""
    started: bool
    finished: bool
    refused: str
    """Why it can't run; empty if it can."""
    preempted_by: dict[str, int]
    """How often other jobs preempted it, by job."""
    eviction: str
    """Words of its last eviction."""
    lost_gpu_hours: float
    uses: dict[str, Used]
    """By pool."""


class Held(Document):
    """A job that waited long."""

    job: str
    team: str
    job_class: str
    gpus: float
    submitted: float
    waited: float
    started: bool
    layer: str
    """`queue`, `placement` or `node`; empty if no part said anything."""
    message: str
    """Words of the part that held it longest."""
    why: str
    """What `slipway why` says of that message; empty if it doesn't know it."""


class Decided(Document):
    """What decided one part of the replay."""

    part: str
    by: str
    model: bool
    """Whether it is a model of ours, not the code of the project."""


class Jobs(Document):
    """Numbers of jobs."""

    submitted: int
    finished: int
    running: int
    pending: int
    refused: int


class LeftOut(Document):
    """Jobs of a trace that are in no figure: the stack can't run them, the trace doesn't say how long they ran, or they
    were not submitted before the end."""

    jobs: int = 0
    of: int
    """Jobs of the trace, with those."""
    gpu_hours: float = 0.0
    """That they ask for, as the trace has them."""
    of_gpu_hours: float
    unknown: int = 0
    """Jobs whose GPU hours the trace doesn't say."""
    reasons: dict[str, int] = {}

    def __add__(self, other: "LeftOut") -> "LeftOut":
        """Those of two parts of a trace."""
        reasons = dict((Counter(self.reasons) + Counter(other.reasons)).most_common())
        sums = {name: value + getattr(other, name) for name, value in self if name != "reasons"}
        return LeftOut(**sums, reasons=reasons)

    @property
    def amount(self) -> str:
        """How many, with their GPU hours: `100 of 300 jobs, 40 of 80 GPU hours (50.0 %)`."""
        hours = f", {self.gpu_hours:,.1f} of {self.of_gpu_hours:,.1f} GPU hours" if self.of_gpu_hours else ""
        share = f" ({self.gpu_hours / self.of_gpu_hours:.1%})" if self.of_gpu_hours else ""
        return f"{self.jobs:,} of {self.of:,} jobs{hours}{share}"

    @property
    def sentence(self) -> str:
        """What a reader must know before any figure; empty if every job is in them."""
        if not self.jobs:
            return ""
        more = f" and unknown ones of {self.unknown:,}" if self.unknown else ""
        why = [f"{count:,}: {reason}" for reason, count in self.reasons.items()]
        rest = f"; {len(why) - _REASONS} more reasons" if len(why) > _REASONS else ""
        return f"In no figure: {self.amount}{more}. {'; '.join(why[:_REASONS])}{rest}"


_REASONS: Final = 3  # reasons that a sentence has; the document has all


class Timeline(Document):
    """Averages over steps of equal length."""

    step_seconds: float
    pending: dict[str, list[float]]
    """Waiting jobs by team."""
    busy: dict[str, list[float]]
    """GPUs of running jobs by pool; of a CPU pool, CPUs."""
    paid: dict[str, list[float]]
    """GPUs of nodes by pool; of a CPU pool, CPUs."""
    nodes: dict[str, list[float]]
    usd: dict[str, list[float]]
    """USD an hour by pool."""


class TraceFacts(Document):
    """The trace."""

    source: str
    format: str
    jobs: int
    notes: list[str]
    """What was changed."""
    teams: dict[str, str]
    """Team of the stack by team of the trace, where they differ."""


class Happened(Document):
    """The replay of a cluster's own jobs beside what happened to them."""

    jobs: int
    """Jobs that started both times, of which the trace says when."""
    of: int
    mean_wait: float
    """Seconds."""
    replayed_mean_wait: float
    off: float
    """Seconds by which the wait of a job differs, on average."""
    in_order: float
    """Part of the pairs of jobs that start in the same order both times."""
    most_gpus: float
    """GPUs of the jobs that ran at once, at most."""
    replayed_most_gpus: float


class Result(Document):
    """A replay."""

    version: Literal[1] = VERSION
    stack: str
    happened: Happened | None = None
    """How near it is to what happened; None if it is of no week of this cluster."""
    left_out: LeftOut
    trace: TraceFacts
    decided: list[Decided]
    assumptions: list[str]
    start: str
    seconds: float
    """Virtual seconds that were replayed."""
    cut: bool
    """Whether it ended before its jobs."""
    cut_by: str
    """Why it was cut; empty otherwise."""
    jobs: Jobs
    refused: dict[str, int]
    """Jobs that can't run on the stack, by reason."""
    waits: Waits
    by_class: dict[str, Waits]
    teams: list[TeamUse]
    pools: list[PoolUse]
    usd: float
    preemptions: int
    evictions: dict[str, int]
    """Evictions by reason."""
    lost_gpu_hours: float
    longest: list[Held]
    timeline: Timeline
    outcomes: list[Outcome]
    """Every job, also those that were refused."""

    @property
    def gpu_hours_busy(self) -> float:
        """GPU hours of running jobs."""
        return sum(one.gpu_hours_busy for one in self.pools)

    @property
    def gpu_hours_paid(self) -> float:
        """GPU hours of nodes."""
        return sum(one.gpu_hours_paid for one in self.pools)

    @property
    def busy_share(self) -> float | None:
        """GPUs busy of those paid for; None if none were."""
        return self.gpu_hours_busy / self.gpu_hours_paid if self.gpu_hours_paid else None

    @property
    def idle_usd(self) -> float:
        """Cost of what no job used."""
        return sum(one.idle_usd for one in self.pools)

    @property
    def node_hours(self) -> float:
        """Hours of all nodes."""
        return sum(one.node_hours for one in self.pools)


D = TypeVar("D", bound=Document)


def document_of(path: Path, model: type[D], name: str) -> D:
    """A document that a command of this version has written.

    Args:
        model: What it has to be.
        name: How such a file is called.

    Raises:
        TraceError: It is no such document.
    """
    source = Source.of(path)
    document = source.document
    fix = f"Name a {name} that this version has written."
    if not isinstance(document, Mapping) or document.get("version") != VERSION:
        raise TraceError(source.name, "version", f"a {name} has version {VERSION}", "another", fix)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise TraceError(source.name, place, first["msg"], str(first["input"]), fix) from error


def read(path: Path) -> Result:
    """The result of another replay.

    Raises:
        TraceError: It is no result of this version.
    """
    return document_of(path, Result, "replay.json")


def main(arguments: Sequence[str]) -> int:
    """`python -m slipway.replay.result`: write the schema, or with `--check` compare it; the exit code."""
    return write_or_check(arguments, file=SCHEMA, text=Result.schema_text(), module="slipway.replay.result")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
