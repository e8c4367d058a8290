"""Objects made from the cases by one to four changes each, of the kinds that rules read: the same for each seed."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from slipway.why.podsets import podsets
from tests.components.admission.cases import ACCEPTED, DENIED
from tests.components.admission.samples import GPU, GPU_TAINT, POOL, QUEUE, SLICE, Object, pool_taint

Change = Callable[[Object, random.Random], None]
POOLS: Final = ("cpu", "h100", "a100", "spot", "turns", "system", "none")
DEADLINES: Final = ("activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "parallelism", "replicas")
LABELS: Final = (QUEUE, "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/managed", "platform.slipway/team")
VOLUMES: Final[tuple[Object, ...]] = (
    {"emptyDir": {}},
    {"hostPath": {"path": "/"}},
    {"nfs": {"server": "a", "path": "/"}},
    {},
)


def _spec(manifest: Object, rng: random.Random) -> Object:
    found = [one.spec for one in podsets(manifest)]
    chosen: Any = rng.choice(found) if found else {}
    return chosen if isinstance(chosen, dict) else {}


def _select(manifest: Object, rng: random.Random) -> None:
    _spec(manifest, rng)["nodeSelector"] = rng.choice([{POOL: rng.choice(POOLS)}, {}, {"role": "x"}])


def _tolerate(manifest: Object, rng: random.Random) -> None:
    taints = [GPU_TAINT, {"operator": "Exists"}, pool_taint(rng.choice(POOLS))]
    _spec(manifest, rng)["tolerations"] = rng.sample(taints, rng.randint(0, 3))


def _request(manifest: Object, rng: random.Random) -> None:
    amount = {rng.choice((GPU, SLICE, "cpu", "vpc.amazonaws.com/efa")): rng.choice(("1", 2, "7", "99"))}
    for container in _spec(manifest, rng).get("containers") or ():
        container["resources"] = {"limits": amount} | ({"requests": amount} if rng.random() < 0.5 else {})


def _image(manifest: Object, rng: random.Random) -> None:
    for container in _spec(manifest, rng).get("containers") or ():
        container["image"] = rng.choice(("a", "a:latest", "a:1", "r.io:5000/a"))


def _host(manifest: Object, rng: random.Random) -> None:
    spec = _spec(manifest, rng)
    spec[rng.choice(("hostPID", "hostIPC"))] = rng.random() < 0.7
    spec["volumes"] = [{"name": "d", **rng.choice(VOLUMES)}]


def _priority(manifest: Object, rng: random.Random) -> None:
    _spec(manifest, rng)["priorityClassName"] = rng.choice(("experiment", "urgent", "system-node-critical"))


def _bound(manifest: Object, rng: random.Random) -> None:
    holders = [each for each in _holders(manifest) if set(each) & set(DEADLINES)] or [manifest.setdefault("spec", {})]
    holder, field = rng.choice(holders), rng.choice(DEADLINES)
    if rng.random() < 0.4:
        holder.pop(field, None)
    elif field in holder:
        holder[field] = rng.choice((0, 1, 21, 101, 10**7))


def _label(manifest: Object, rng: random.Random) -> None:
    labels = manifest["metadata"].setdefault("labels", {})
    labels[rng.choice(LABELS)] = rng.choice(("default", "vision", "urgent", "true", "experiment"))
    if rng.random() < 0.3:
        labels.pop(QUEUE, None)


def _holders(value: Any) -> Iterator[Object]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _holders(each)
    elif isinstance(value, list):
        for each in value:
            yield from _holders(each)


CHANGES: Final[tuple[Change, ...]] = (_select, _tolerate, _request, _image, _host, _priority, _bound, _label)


def changed(count: int, seed: int) -> Iterator[Object]:
    """Objects of all kinds that the cases have."""
    rng = random.Random(seed)  # noqa: S311 - the same objects in each run
    bases = [one for cases in ACCEPTED.values() for one in cases.values()]
    bases += [one for cases in DENIED.values() for one, _ in cases.values()]
    for _ in range(count):
        manifest = copy.deepcopy(rng.choice(bases))
        for change in rng.sample(CHANGES, rng.randint(1, 4)):
            change(manifest, rng)
        yield manifest
