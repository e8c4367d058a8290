"""Every typed workload passes all rules: its objects as a member creates them, its pods as their controllers do."""

import copy
import re
import time
from pathlib import Path
from typing import Final

import pytest
import yaml

from components.admission import StackContext, rules
from components.admission.admission import binding, policy
from components.admission.variables import parameters
from components.tenancy.priorities import priority_class
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref
from spec.settings.admission import Action
from spec.settings.teams import PriorityName
from tests.components.admission.actors import EDIT, permissions, request
from tests.components.admission.samples import CONTROLLERS, GPU_TAINT, POOL, job, pool_taint
from tests.components.workloads.samples import GOOD, TARGET, bodies
from tests.components.workloads.test_api_server import pods
from tests.components.workloads.test_crds import FILES, crd
from tests.sandbox.plane import ControlPlane
from tests.support.definitions import define
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox

NAMESPACE: Final = "typed"
PAGE: Final = Path(__file__).parents[3] / "docs/addons/kuberay.md"


@pytest.fixture(scope="module")
def client(shared: Path, plane: ControlPlane) -> KubeClient:
    define(plane.client, [crd(shared / "charts", kind) for kind in FILES if kind != "WorkflowTaskSet"])
    labels = {**TARGET.labels, "typed": "yes"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    accounts = (Ref("v1", "ServiceAccount", name, NAMESPACE).as_object() for name in ("workload", "endpoint-picker"))
    for manifest in (space, *accounts, *map(priority_class, PriorityName), *permissions(NAMESPACE)):
        plane.client.apply(manifest, "test", force=True)
    context = StackContext(pools=TARGET.pools, queues=True, max_replicas=100, controllers=CONTROLLERS)
    plane.client.apply(parameters(rules(context)), "test", force=True)
    for rule in rules(context):
        own, bind = policy(rule), binding(rule, Action.DENY)
        own["metadata"]["name"] = bind["metadata"]["name"] = bind["spec"]["policyName"] = f"typed.{rule.name}"
        bind["spec"]["matchResources"]["namespaceSelector"]["matchLabels"] = {"typed": "yes"}
        plane.client.apply(own, "test")
        plane.client.apply(bind, "test")
    wrong = job(queued=False)
    wrong["metadata"]["namespace"] = NAMESPACE
    end = time.monotonic() + SECONDS
    while not request(plane.client, EDIT, "POST", wrong):
        assert time.monotonic() < end, "the rules are not in effect"
        time.sleep(0.1)
    return plane.client


@pytest.mark.parametrize("name", GOOD)
def test_a_member_creates_every_kind_of_workload_and_controllers_its_pods(client: KubeClient, name: str) -> None:
    for manifest in bodies(GOOD[name]()).values():
        ours = copy.deepcopy(dict(manifest))
        ours["metadata"]["namespace"] = NAMESPACE
        assert request(client, EDIT, "POST", ours) == "", ours["kind"]
        for pod in pods(ours):
            pod["metadata"] |= {"name": "pod", "namespace": NAMESPACE}
            assert request(client, "job controller", "POST", copy.deepcopy(pod)) == "", ours["kind"]


def test_a_member_creates_the_ray_job_of_the_page_and_kuberay_its_pods(client: KubeClient) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    manifest = yaml.safe_load(text.replace("gpu-spot", "spot"))
    manifest["metadata"]["namespace"] = NAMESPACE
    assert request(client, EDIT, "POST", copy.deepcopy(manifest)) == ""
    made = list(pods({"spec": manifest["spec"]}))
    assert len(made) == 3
    for pod in made:
        pod["metadata"] |= {"name": "pod", "namespace": NAMESPACE}
        # What Kueue adds from the pool's flavor when it starts the job.
        pool = pod["spec"]["nodeSelector"][POOL]
        pod["spec"]["tolerations"] = [*pod["spec"].get("tolerations", ()), pool_taint(pool)]
        assert request(client, "KubeRay", "POST", pod) == ""
    head = manifest["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    head |= {"nodeSelector": {POOL: "spot"}, "tolerations": [GPU_TAINT]}
    assert "a head that may run on Spot" in request(client, EDIT, "POST", manifest)
