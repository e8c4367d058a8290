"""When a pod starts that its queue has admitted: the steps on a node that is launched for it, each with its source."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from spec.catalog.document import load
from spec.pools.pool_spec import PoolSpec
from spec.quantities import duration

_STEPS: Final[dict[str, Any]] = load("starts.yaml")["steps"]
_NODE: Final = ("cpu", "gpu", "reboot")  # steps from EC2's launch until the node takes pods


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step, as `starts.yaml` has it."""

    name: str
    title: str
    usual: int  # seconds
    source: str
    date: date  # of its newest measurement
    shorter: Mapping[str, str]  # setting of the pool that takes it away, or shortens it, by its provisioner
    measured: Sequence[int] = ()  # least and most seconds that others report; empty where `usual` is assumed


def steps(spec: PoolSpec) -> list[Step]:
    """What a pod waits for on a new node of a pool, in order; the AMI has the driver."""
    return [Step(name=name, **_STEPS[name]) for name in _names(spec)]


def _names(spec: PoolSpec) -> Iterator[str]:
    yield "scan" if spec.managed else "batch"
    yield "gpu" if spec.gpu else "cpu"
    if spec.mig is not None and spec.mig.profiles and spec.gpu is not None and spec.gpu.mig == "reboot":
        yield "reboot"
    if not spec.settings.parallel_image_pull:
        yield "image"


def launch_seconds(spec: PoolSpec) -> float:
    """Seconds from EC2's launch of a node of a pool until it takes pods."""
    return float(sum(one.usual for one in steps(spec) if one.name in _NODE))


def estimate(pools: Sequence[PoolSpec]) -> str:
    """When a pod starts on one of some pools once its queue has admitted it, on the one that takes longest."""
    new = [one for one in pools if one.scales]
    soon = "seconds after its queue admits it on a node that has room and its image"
    if not new:
        return f"{soon}: the nodes of {', '.join(one.name for one in pools)} always run"
    spec = max(new, key=lambda one: sum(each.usual for each in steps(one)))
    every = steps(spec)
    parts = ", ".join(f"{one.title} {duration(one.usual)}" for one in every)
    shorter = dict.fromkeys(f"pools.{spec.name}.{one.shorter[spec.settings.provisioner]}" for one in every)
    total = duration(sum(one.usual for one in every))
    return f"{soon}, on a new one of {spec.name} after some {total} ({parts}); shorter by {', '.join(shorter)}"
