"""Answers about pods for which Karpenter's own core launches nodes, or does not."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from sandbox.kubernetes.objects import Object, Ref
from sandbox.nodes import ec2
from sandbox.nodes.ec2 import Ec2, Refusal
from sandbox.nodes.instances import Instances
from slipway.why.answer import Answer, Layer
from slipway.why.collect import collect
from slipway.why.explain import explain
from tests.sandbox.elastic import Elastic, elastic_plane
from tests.sandbox.test_elastic import GATES, pools
from tests.slipway.why.objects import DEV, POOL
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
MIG: Final = "nvidia.com/mig-1g.5gb"


@pytest.fixture(scope="module")
def elastic(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Elastic]:
    with elastic_plane(tmp_path_factory.mktemp("why"), shared, GATES) as started:
        for name in ("a100", "cpu", "gpu-spot"):
            started.pool(pools()[name])
        yield started


def pod(name: str, pool: str, requests: dict[str, str]) -> Object:
    container = {"name": "main", "image": "a:1", "resources": {"requests": requests, "limits": requests}}
    spec = {"containers": [container], "nodeSelector": {POOL: pool}, "tolerations": [{"operator": "Exists"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def until(elastic: Elastic, name: str, layer: Layer, cause: str = "", *, stack: bool = True) -> Answer:
    """The answer, once it names a layer and says this of the cause; else the last one."""
    end = time.monotonic() + SECONDS
    while True:
        subject = elastic.client.get(Ref("v1", "Pod", name, "default"))
        assert subject is not None
        answer = explain(collect(elastic.client, subject, DEV if stack else None))
        if (answer.part.layer is layer and cause in answer.part.cause) or time.monotonic() > end:
            return answer
        time.sleep(0.2)


def test_a_pod_waits_for_its_node_and_then_runs(elastic: Elastic, monkeypatch: pytest.MonkeyPatch) -> None:
    register, asked = Instances._register, threading.Event()

    def later(instances: Instances, claim: Object) -> None:
        """The instance takes until somebody has asked why the pod waits."""
        asked.wait(SECONDS)
        register(instances, claim)

    monkeypatch.setattr(Instances, "_register", later)
    elastic.client.create(pod("first", "a100", {MIG: "50"}), "test")
    # Not before the pool is ready, which the same layer says.
    waits = until(elastic, "first", Layer.NODE, "a100-")
    assert waits.part.layer is Layer.NODE, waits
    assert "a100-" in waits.part.cause
    asked.set()
    runs = until(elastic, "first", Layer.RUNS)
    assert runs.part.layer is Layer.RUNS, runs


def test_a_pool_at_its_limit_is_named_with_its_maximum(elastic: Elastic) -> None:
    elastic.client.create(pod("second", "a100", {MIG: "50"}), "test")
    answer = until(elastic, "second", Layer.POOL_LIMIT)
    assert answer.part.layer is Layer.POOL_LIMIT, answer
    assert answer.part.numbers == {"pool": "a100", "limit": "1"}


@pytest.mark.parametrize("stack", [True, False])
def test_capacity_that_ec2_refuses_is_named_with_its_error(elastic: Elastic, stack: bool) -> None:
    ec2.write(elastic.home, Ec2((Refusal(),)))
    name = f"large-{stack}".lower()
    elastic.client.create(pod(name, "cpu", {"cpu": "14"}), "test")
    answer = until(elastic, name, Layer.EC2_CAPACITY, stack=stack)
    ec2.write(elastic.home, Ec2())
    assert answer.part.layer is Layer.EC2_CAPACITY, answer


@pytest.mark.parametrize("stack", [True, False])
@pytest.mark.parametrize(
    ("key", "value"),
    [("topology.kubernetes.io/zone", "us-east-1f"), ("kubernetes.io/arch", "arm64"), ("example.com/rack", "7")],
)
def test_what_no_pool_has_is_said_to_be_so(elastic: Elastic, key: str, value: str, stack: bool) -> None:
    name = f"{value}-{stack}".lower()
    manifest = pod(name, "cpu", {"cpu": "1"})
    manifest["spec"]["nodeSelector"][key] = value
    elastic.client.create(manifest, "test")
    # Without the stack only Karpenter's event says so, after the scheduler's.
    end = time.monotonic() + SECONDS
    answer = until(elastic, name, Layer.SCHEDULER, stack=stack)
    while not answer.part.never and time.monotonic() < end:
        time.sleep(0.2)
        answer = until(elastic, name, Layer.SCHEDULER, stack=stack)
    assert answer.part.never, answer.text()
    assert key in answer.part.cause
    assert "wait" not in answer.part.fix


def test_spot_that_is_refused_everywhere_is_not_waited_for(elastic: Elastic) -> None:
    """The second pod's event does not name the pool: Karpenter leaves out one whose types EC2 has all refused."""
    ec2.write(elastic.home, Ec2((Refusal(),)))
    answers = []
    for name in ("spot-first", "spot-second"):
        elastic.client.create(pod(name, "gpu-spot", {"nvidia.com/gpu": "1"}), "test")
        answers.append(until(elastic, name, Layer.EC2_CAPACITY))
    ec2.write(elastic.home, Ec2())
    for answer in answers:
        assert answer.part.layer is Layer.EC2_CAPACITY, answer.text()
        assert "autoscaler" not in answer.part.fix
