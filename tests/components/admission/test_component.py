"""Admission rules as resources: which are declared, and their dependencies."""

from typing import Any

import pulumi

from components.admission import Admission, AdmissionArgs, StackContext, rules
from components.admission.together import GROUPS
from infra.boundaries import boundaries
from policies.rules.boundaries import SECURITY_DENIES
from spec.settings import load, read_stack
from spec.settings.admission import Action
from spec.settings.admission import Admission as Settings
from tests.components.admission.samples import CONTEXT
from tests.support.day import TODAY
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import cluster_outputs
from tests.support.stacks import FOLDER, NAMES, platform_of

POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
BINDING = f"{POLICY}Binding"
RULES = {rule.name for rule in rules(CONTEXT)}


def record(*, queues: bool = True, version: str = "1.35", **settings: Any) -> Recording:
    def build() -> None:
        aws, kubernetes = providers()
        given = Settings.model_validate(settings)
        context = StackContext(pools=CONTEXT.pools, queues=queues, max_replicas=given.max_replicas, version=version)
        args = AdmissionArgs(settings=given, context=context, cluster=cluster_outputs(aws))
        Admission("admission", args, pulumi.ResourceOptions(providers=[aws, kubernetes]))

    return run(build)


MEMBERS = {rule for names in GROUPS.values() for rule in names}


def test_every_rule_is_in_one_policy_with_a_binding() -> None:
    recording = record()
    assert len(MEMBERS) == sum(map(len, GROUPS.values()))
    assert {name.removeprefix("admission-") for name in recording.of(POLICY)} == {*GROUPS, *RULES - MEMBERS}
    assert {name.removesuffix("-binding") for name in recording.of(BINDING)} == {*recording.of(POLICY)}


def test_a_rule_that_leaves_its_group_is_bound_before_the_group_goes_without_it() -> None:
    """One that comes back is in the group before its own policy is deleted: the engine deletes last."""
    recording = record(imageTag=Action.WARN)
    needed = {name: {urn.rpartition("::")[2] for urn in one.depends_on} for name, one in recording.of(POLICY).items()}
    assert "admission-image-tag-binding" in needed["admission-objects"]
    assert not any("image_tag" in str(one.inputs["spec"]["variables"]) for one in recording.of(POLICY).values())


MUTATING = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"


def test_defaults_are_declared_from_kubernetes_1_36() -> None:
    older, newer = record(), record(version="1.36")
    assert not older.of(MUTATING)
    assert [*newer.of(MUTATING), *newer.of(f"{MUTATING}Binding")] == [
        "admission-defaults",
        "admission-defaults-binding",
    ]
    shown = newer.of(BINDING)["admission-defaults-shown-binding"].inputs["spec"]
    assert shown["validationActions"] == ["Warn"]
    assert not record(version="1.36", defaults=False).of(MUTATING)


def test_a_rule_that_is_off_fills_in_nothing() -> None:
    def filled(**settings: Any) -> str:
        (facts,) = record(version="1.36", **settings).of("kubernetes:core/v1:ConfigMap").values()
        return str(facts.inputs["data"]["defaults"])

    assert "activeDeadlineSeconds" in filled()
    assert "queue-name" in filled(jobBounds=Action.OFF)
    assert "activeDeadlineSeconds" not in filled(jobBounds=Action.OFF)


def test_a_disabled_rule_declares_no_resource() -> None:
    recording = record(imageTag=Action.OFF)
    assert not any("image-tag" in name for name in (*recording.of(POLICY), *recording.of(BINDING)))
    assert recording.of(POLICY)
    assert not any("image-tag" in str(one.inputs) for one in recording.of(POLICY).values())


def test_actions_are_those_of_the_settings() -> None:
    actions = {
        name: one.inputs["spec"]["validationActions"]
        for name, one in record(imageTag=Action.WARN, jobBounds=Action.AUDIT).of(BINDING).items()
    }
    assert actions["admission-image-tag-binding"] == ["Warn", "Audit"]
    assert actions["admission-job-bounds-binding"] == ["Audit"]
    assert actions["admission-gpus-binding"] == ["Deny"]


def test_the_maximum_number_of_replicas_comes_from_the_settings() -> None:
    (facts,) = record(maxReplicas=7).of("kubernetes:core/v1:ConfigMap").values()
    assert "at most 7" in facts.inputs["data"]["fix.scale-bounds"]


def test_policies_depend_only_on_the_cluster_and_bindings_on_the_parameters() -> None:
    recording = record()
    for name, one in (recording.of(POLICY) | recording.of(BINDING)).items():
        assert one.deleted_with, name
        needed = [urn.rpartition("::")[2] for urn in one.depends_on]
        assert ("admission-parameters" in needed) == name.endswith("-binding"), name
        assert not any(each.startswith("admission-") for each in needed if each != "admission-parameters"), name


def test_the_example_of_kubernetes_1_36_has_defaults_and_the_shipped_stacks_have_none() -> None:
    example = load(read_stack("latest", FOLDER.parent / "examples/stacks"), stack="latest", today=TODAY).platform
    found = {
        name: [kind for kind, _, _ in boundaries(one).objects if kind == MUTATING]
        for name, one in {"latest": example, **{name: platform_of(name) for name in NAMES}}.items()
    }
    # One writes the defaults, one what makes the node monitoring agent wait for DCGM.
    assert found == {"latest": [MUTATING] * 2, **{name: [] for name in NAMES}}


def test_a_team_has_an_action_of_its_own() -> None:
    teams = {"vision": {"jobBounds": Action.AUDIT, "imageTag": Action.OFF}, "language": {"jobBounds": Action.AUDIT}}
    found = {name: one.inputs["spec"] for name, one in record(teams=teams).of(BINDING).items()}
    own = found["admission-job-bounds-binding-audit"]
    everyone = {"key": "platform.slipway/team", "operator": "Exists"}

    def selector(spec: Any) -> Any:
        return spec["matchResources"]["namespaceSelector"]["matchExpressions"]

    assert own["validationActions"] == ["Audit"]
    assert selector(own) == [{"key": everyone["key"], "operator": "In", "values": ["language", "vision"]}]
    others = {"key": everyone["key"], "operator": "NotIn", "values": ["language", "vision"]}
    assert selector(found["admission-job-bounds-binding"]) == [everyone, others]
    assert selector(found["admission-image-tag-binding"]) == [everyone, {**others, "values": ["vision"]}]
    assert "admission-image-tag-binding-off" not in found
    assert selector(found["admission-gpus-binding"]) == [everyone]


def test_the_rules_that_may_warn_are_rules() -> None:
    assert set(SECURITY_DENIES.settings["advice"].values["prod"]) - {"shown-defaults"} < RULES
