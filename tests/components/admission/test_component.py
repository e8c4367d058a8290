"""Admission rules as resources: which are declared, and their dependencies."""

from typing import Any

import pulumi

from components.admission import Admission, AdmissionArgs
from spec.settings.admission import Action
from spec.settings.admission import Admission as Settings
from tests.components.admission.samples import CONTEXT
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import cluster_outputs

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = f"{POLICY}Binding"
RULES = {
    "gpu-pool",
    "gpu-limits",
    "job-bounds",
    "spot-checkpoint",
    "spot-eviction",
    "ray-cluster",
    "queue-name",
    "image-tag",
    "host-access",
    "scale-bounds",
    "controller-reference",
    "gpu-queue",
    "queue-start",
    "queue-metadata",
    "priority-class",
    "node-selection",
    "volume-sources",
    "external-ips",
    "ingress-scope",
    "trigger-scope",
    "monitor-files",
    "monitor-scope",
    "workflow-locks",
    "workflow-scope",
    "device-variables",
    "object-size",
    "team-labels",
}


def record(*, queues: bool = True, **settings: Any) -> Recording:
    def build() -> None:
        aws, kubernetes = providers()
        args = AdmissionArgs(
            settings=Settings.model_validate(settings), pools=CONTEXT.pools, queues=queues, cluster=cluster_outputs(aws)
        )
        Admission("admission", args, pulumi.ResourceOptions(providers=[aws, kubernetes]))

    return run(build)


def test_every_rule_is_a_policy_with_its_binding() -> None:
    recording = record()
    assert {name.removeprefix("admission-") for name in recording.of(POLICY)} == RULES
    assert {name.removeprefix("admission-").removesuffix("-binding") for name in recording.of(BINDING)} == RULES
    assert not recording.default_provider_users


def test_a_disabled_rule_declares_no_resource() -> None:
    recording = record(imageTag=Action.OFF)
    names = {*recording.of(POLICY), *recording.of(BINDING)}
    assert names
    assert not any("image-tag" in name for name in names)


def test_actions_are_those_of_the_settings() -> None:
    actions = {
        name: one.inputs["spec"]["validationActions"]
        for name, one in record(imageTag=Action.WARN, jobBounds=Action.AUDIT).of(BINDING).items()
    }
    assert actions["admission-image-tag-binding"] == ["Warn", "Audit"]
    assert actions["admission-job-bounds-binding"] == ["Audit"]
    assert actions["admission-gpu-pool-binding"] == ["Deny"]


def test_the_maximum_number_of_replicas_comes_from_the_settings() -> None:
    policy = record(maxReplicas=7).of(POLICY)["admission-scale-bounds"].inputs["spec"]
    assert "at most 7" in policy["validations"][0]["messageExpression"]


def test_policies_depend_only_on_the_cluster_and_are_deleted_with_it() -> None:
    recording = record()
    for name, one in (recording.of(POLICY) | recording.of(BINDING)).items():
        assert one.deleted_with, name
        assert not any("admission-" in urn.rpartition("::")[2] for urn in one.depends_on), name
