"""Faults that pass a preview and fail on AWS: each class, put back into stack prod, is found before anything is made.

By `slipway check` where the settings show it, by the policy pack where only the program does.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from policies.resources.access import MISSING
from spec.settings import ConfigurationError, load, read_stack
from tests.policies.production import Production, changed
from tests.support.day import TODAY
from tests.support.stacks import FOLDER


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Changed settings, with the path and a part of the rule of the one problem; None removes a key."""

    changes: Mapping[str, Any]
    path: str
    rule: str


@dataclass(frozen=True, kw_only=True)
class Program:
    """A changed property of a resource of the program, with the check that reports it."""

    resource: str
    path: tuple[Any, ...]
    value: Any
    check: str
    more: Mapping[tuple[Any, ...], Any] = field(default_factory=dict)
    """Further properties that make it the case of the rule."""


_RUNTIME: Final = ("spec", "template", "spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
CLASSES: Final[Mapping[str, Settings | Program]] = {
    "a DaemonSet that must run on tainted pools and does not tolerate them": Program(
        resource="addons-early-node-monitoring-agent", path=("configurationValues",), value=MISSING,
        check="daemonset-tolerates-pools/addon"),
    "an identity conditioned on tags that nodes do not carry": Program(
        resource="karpenter-controller-policy", path=("policy",),
        value='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:TerminateInstances","Resource":'
        '"arn:aws:ec2:us-east-1:*:instance/*","Condition":{"StringEquals":{"ec2:ResourceTag/ours":"yes"}}}]}',
        check="identity-instance-tags/tags",
    ),
    "a type in a zone that does not offer it": Settings(changes={"pools.a100.zones": ["us-east-1b"]},
        path="pools.a100.zones", rule="p4de.24xlarge"),
    "a private endpoint without a way in": Settings(changes={"network.peers": None},
        path="cluster.endpoint.privateAccessCidrs", rule="private endpoint"),
    "an https URL without a listener": Settings(changes={"addons.kserve.certificateArn": None},
        path="addons.kserve.certificateArn", rule="no HTTPS listener"),
    "a suspended workload that no queue manages": Settings(changes={"addons.trainingOperator": {"kinds": ["MPIJob"]}},
        path="addons.trainingOperator.kinds.0", rule="this must be"),
    "a pod template whose requests a LimitRange would fill": Program(resource="trainer-runtime-torch-distributed-h100",
        path=(*_RUNTIME, "containers", 0, "resources", "requests"), value=MISSING, check="runtime-sized/cpu"),
    "a gauge summed over replicas": Program(resource="kube-prometheus-stack-rules-alerts",
        path=("spec", "groups", 0, "rules", 0, "expr"), value="sum by (cluster_queue) (kueue_pending_workloads) > 0",
        check="gauge-once/rule"),
    "a job that outlives the drain of its node": Program(resource="pool-gpu-spot-node-pool",
        path=("spec", "template", "spec", "terminationGracePeriod"), value="1h",
        check="karpenter-training-disruption/drain",
        more={("spec", "template", "metadata", "labels", "platform.slipway/role"): "training"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def production() -> Production:
    return Production()


@pytest.mark.parametrize("name", [name for name, one in CLASSES.items() if isinstance(one, Settings)])
def test_check_finds_the_class_once_it_is_put_back(name: str) -> None:
    one = CLASSES[name]
    assert isinstance(one, Settings)
    settings: Any = deepcopy(read_stack("prod", FOLDER))
    for path, value in one.changes.items():
        *above, last = path.split(".")
        node = settings
        for part in above:
            node = node[part]
        if value is None:
            del node[last]
        else:
            node[last] = value
    with pytest.raises(ConfigurationError) as refused:
        load(settings, stack="prod", today=TODAY)
    assert [problem.path for problem in refused.value.problems] == [one.path], str(refused.value)
    assert one.rule in str(refused.value.problems[0])


@pytest.mark.parametrize("name", [name for name, one in CLASSES.items() if isinstance(one, Program)])
def test_the_pack_finds_the_class_once_it_is_put_back(name: str, production: Production) -> None:
    one = CLASSES[name]
    assert isinstance(one, Program)
    assert production.before is not None
    with ExitStack() as changes:
        pair = production.named(one.resource)
        for each in pair:
            changes.enter_context(changed(each, {**one.more, one.path: one.value}))
        assert one.check in production.new_violations({pair[0].type})
