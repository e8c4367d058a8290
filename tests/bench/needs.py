"""What truly needs what on EKS, whatever a program says: the shortest possible way to a whole platform.

Each resource belongs to one step. The needs of a step are AWS's and Kubernetes's own, so the table knows nothing of how
components are wired. A resource of no step could begin at once. A new wait that is a true need is a new line here, with
its reason; any other is a wait that the program can do without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from slipway.render.recording import RecordedResource, Recording
from spec.catalog import addons
from tests.bench.durations import ADDON, NODE_GROUP, RELEASE, chart_of, duration_of, holds_definitions
from tests.bench.waits import Graph

NETWORK_ADDON: Final = "vpc-cni"
BUILT_ON: Final[Mapping[str, str]] = {"kserve-resources": "cert-manager", "kubeflow-trainer": "jobset"}
"""Charts, and those that they stand on: KServe's pods mount the secret of a Certificate, which cert-manager's pods
issue (KServe, "Kubernetes Deployment Installation Guide", v0.20: cert-manager is a prerequisite); Trainer makes
JobSets, and its manager opens a watch of their kind at the start (Kubeflow Trainer, "Installation", v2.3)."""
STORING: Final = frozenset({"kube-prometheus-stack", "kubecost"})
"""Charts whose pods claim volumes, which a driver has to make."""
FOUNDATIONS: Final = frozenset(BUILT_ON.values())


@dataclass(frozen=True)
class Step:
    """A kind of resource on the way, and the steps that must have ended before it can begin."""

    holds: Callable[[RecordedResource], bool]
    needs: tuple[str, ...] = ()
    why: str = ""


def _type(*tokens: str) -> Callable[[RecordedResource], bool]:
    return lambda resource: resource.type in tokens


def _addon(resource: RecordedResource) -> str:
    return str(resource.inputs.plain.get("addonName")) if resource.type == ADDON else ""


def _stands_without_nodes(resource: RecordedResource) -> bool:
    name = _addon(resource)
    return name in addons.ADDONS and not addons.get(name).needs_nodes


def _is_system(resource: RecordedResource) -> bool:
    labels = resource.inputs.plain.get("labels")
    role = labels.get("platform.slipway/role") if isinstance(labels, Mapping) else None
    return resource.type == NODE_GROUP and role == "system"


def _chart(resource: RecordedResource) -> str:
    return chart_of(resource) if resource.type == RELEASE else ""


def _of_group(*groups: str) -> Callable[[RecordedResource], bool]:
    return lambda resource: str(resource.inputs.plain.get("apiVersion", "")).partition("/")[0] in groups


def _is_elastic(resource: RecordedResource) -> bool:
    return str(resource.inputs.plain.get("apiVersion", "")).startswith(("karpenter.sh/", "karpenter.k8s.aws/"))


STEPS: Final[Mapping[str, Step]] = {
    "vpc": Step(_type("aws:ec2/vpc:Vpc")),
    "subnets": Step(_type("aws:ec2/subnet:Subnet"), ("vpc",)),
    "gateway": Step(_type("aws:ec2/internetGateway:InternetGateway"), ("vpc",)),
    "nat": Step(_type("aws:ec2/natGateway:NatGateway"), ("subnets", "gateway")),
    "key": Step(_type("aws:kms/key:Key")),
    "logs": Step(_type("aws:cloudwatch/logGroup:LogGroup"), ("key",), "they are encrypted with it"),
    "control plane": Step(_type("aws:eks/cluster:Cluster"), ("subnets", "key", "logs"), "EKS makes a group of its own"),
    "access": Step(_type("aws:eks/accessEntry:AccessEntry"), ("control plane",)),
    "rights": Step(_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation"), ("access",)),
    "network add-on": Step(lambda found: _addon(found) == NETWORK_ADDON, ("control plane",)),
    "early add-ons": Step(_stands_without_nodes, ("control plane",), "DaemonSets are ACTIVE with no node"),
    "system nodes": Step(_is_system, ("network add-on", "nat"), "no node is Ready without the CNI, or pulls an image"),
    "nodes": Step(_type(NODE_GROUP), ("network add-on", "nat"), "as above"),
    "scaling tags": Step(_type("aws:autoscaling/tag:Tag"), ("nodes",), "EKS makes the scaling group with the nodes"),
    "late add-ons": Step(_type(ADDON), ("system nodes",), "ACTIVE when their Deployments are"),
    "definitions": Step(
        lambda found: found.type == RELEASE and holds_definitions(found),
        ("rights",),
        "who runs the program has no others",
    ),
    "foundations": Step(
        lambda found: _chart(found) in FOUNDATIONS,
        ("system nodes", "rights", "definitions"),
        "as other charts; some of those stand on them",
    ),
    "charts on charts": Step(
        lambda found: _chart(found) in BUILT_ON,
        ("foundations",),
        "their pods do not come up without",
    ),
    "their objects": Step(
        _of_group("serving.kserve.io", "trainer.kubeflow.org"),
        ("charts on charts",),
        "the webhook for them is in the chart's pods, and refuses while they are not there",
    ),
    "charts with volumes": Step(
        lambda found: _chart(found) in STORING,
        ("late add-ons", "rights", "definitions"),
        "a pod waits for its volume, and that for the driver",
    ),
    "charts": Step(_type(RELEASE), ("system nodes", "rights", "definitions"), "Helm waits for their pods"),
    "node classes": Step(
        lambda found: _is_elastic(found) and not found.type.endswith(":NodePool"),
        ("charts",),
        "they are removed before the controller, which the same dependency alone can say",
    ),
    "elastic pools": Step(_is_elastic, ("node classes",), "a NodePool names its class"),
}


def step_of(resource: RecordedResource) -> str | None:
    """The first step that holds a resource."""
    return next((name for name, step in STEPS.items() if step.holds(resource)), None)


def shortest(recording: Recording) -> Graph:
    """The steps of a program, each as long as its slowest resource, after what they truly need.

    A step without a resource takes no time. What belongs to no step stands for itself, after nothing.
    """
    seconds = dict.fromkeys(STEPS, 0.0)
    after = {name: frozenset(step.needs) for name, step in STEPS.items()}
    for resource in recording:
        name = step_of(resource)
        if name is None:
            seconds[resource.urn], after[resource.urn] = duration_of(resource).seconds, frozenset()
        else:
            seconds[name] = max(seconds[name], duration_of(resource).seconds)
    return Graph(seconds, after)


def is_true(later: RecordedResource, earlier: RecordedResource) -> bool:
    """Whether one resource truly needs the other, by way of any number of steps."""
    start, goal = step_of(later), step_of(earlier)
    if start is None or goal is None:
        return False
    reached: set[str] = set()
    ahead = [*STEPS[start].needs]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += STEPS[name].needs
    return goal in reached
