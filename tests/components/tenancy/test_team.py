"""Teams: access, identities, namespaces with their limits, and priorities."""

import json
from fnmatch import fnmatchcase
from itertools import product
from typing import Any

import pulumi_aws as aws
import pytest

from components.addons import registry
from components.addons.argo_workflows import KEYS
from components.admission.objects import LARGER, LARGEST
from components.storage.volumes import VolumeSettings, team_volumes
from components.tenancy.namespace import (
    CORE,
    limit_range,
    manifests,
    namespace_manifest,
    priority_quota,
    resource_quota,
)
from components.tenancy.network_policies import SERVES
from components.tenancy.priorities import PRIORITIES, priority_class, workload_priority_class
from components.tenancy.roles import cluster_role_manifest, picker_role_manifest
from components.tenancy.workload_permissions import service_account_manifest, workload_document
from infra.facts import of_teams
from spec.quantities import parse
from spec.settings.checks.names import PROJECT
from spec.settings.checks.teams import RESERVED, WORKLOAD_ROLE
from spec.settings.teams import CLAIMS_GIB, MemberRole, PriorityName, Team
from tests.components.tenancy.samples import LANGUAGE, TEAMS, VISION, platform, pools, record
from tests.support.context import storage_outputs
from tests.support.mocks import REGION, STACK, Recording, Registered, run
from tests.support.stacks import platform_of, recorded

NAMESPACE = "kubernetes:core/v1:Namespace"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
VOLUME = "kubernetes:core/v1:PersistentVolume"
RECOMMENDER: dict[str, Any] = {"project": "ranking", "costCenter": "ml", "gpus": {"a100": {"nominalQuota": 2}}}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record()


def test_a_team_has_its_namespaces_or_one_with_its_name(recording: Recording) -> None:
    names = sorted(resource.inputs["metadata"]["name"] for resource in recording.of(NAMESPACE).values())
    assert names == ["language", "vision-serving", "vision-training"]


def test_a_member_has_an_access_entry_with_a_group_bound_in_all_namespaces(recording: Recording) -> None:
    entries = {
        resource.inputs["principalArn"]: resource.inputs["kubernetesGroups"]
        for resource in recording.of(aws.eks.AccessEntry).values()
    }
    assert entries["arn:aws:iam::111122223333:role/vision-lead"] == ["slipway:vision:admin"]
    bound = [
        (resource.inputs["metadata"]["namespace"], subject["name"])
        for resource in recording.of("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").values()
        for subject in resource.inputs["subjects"]
    ]
    for namespace in ("vision-training", "vision-serving"):
        for (group,) in entries.values():
            assert (namespace, group) in bound


def test_each_namespace_has_a_pod_identity_association(recording: Recording) -> None:
    associations = recording.of(aws.eks.PodIdentityAssociation)
    where = sorted(
        (resource.inputs["namespace"], resource.inputs["serviceAccount"]) for resource in associations.values()
    )
    assert where == [("language", "workload"), ("vision-serving", "workload"), ("vision-training", "workload")]
    role = recording.of(aws.iam.Role)["space-language-role"]
    assert '"aws:RequestTag/kubernetes-namespace":["language"]' in role.inputs["assumeRolePolicy"]


def test_every_object_depends_on_its_namespace(recording: Recording) -> None:
    spaces = {resource.inputs["metadata"]["name"]: resource for resource in recording.of(NAMESPACE).values()}
    inside = [resource for resource in recording if resource.inputs.get("metadata", {}).get("namespace") in spaces]
    assert len(inside) > 30
    for member in inside:
        assert recording.waits(member, spaces[member.inputs["metadata"]["namespace"]]), member


def test_a_claim_depends_on_its_volume(recording: Recording) -> None:
    volumes, claims = recording.of(VOLUME), recording.of(CLAIM)
    assert volumes
    for name, volume in volumes.items():
        assert recording.waits(claims[name.removesuffix("-volume")], volume)


def data(recording: Recording) -> list[Registered]:
    return [resource for kind in (NAMESPACE, CLAIM, VOLUME) for resource in recording.of(kind).values()]


@pytest.mark.parametrize(
    ("protect", "team", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (False, {"retain": True}, True),
        (True, {"retain": False}, False),
        (True, {"retired": True}, False),
        (True, {"retain": True, "retired": True}, False),
    ],
)
def test_data_is_protected_until_the_team_is_retired(protect: bool, team: dict[str, Any], expected: bool) -> None:
    recording = record({"language": {**LANGUAGE, **team}}, environment={"protect": protect})
    assert {resource.protect for resource in data(recording)} == {expected}
    protected = {resource.type for resource in recording if resource.protect}
    assert protected == ({NAMESPACE, CLAIM, VOLUME} if expected else set())


def test_a_retired_team_can_only_read_and_its_queue_is_drained() -> None:
    recording = record({"vision": {**VISION, "gpus": {"a100": {"nominalQuota": 4}}, "retired": True}})
    roles = {
        resource.inputs["roleRef"]["name"]
        for resource in recording.of("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").values()
    }
    assert roles == {"slipway-team-view"}
    assert (
        recording.one("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue").inputs["spec"]["stopPolicy"] == "HoldAndDrain"
    )


def test_workflow_steps_can_report_results_if_workflows_are_enabled() -> None:
    kind = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"
    with_argo = record({"language": LANGUAGE}, addons={"kueue": {}, "argoWorkflows": {}})
    bound = [name for name in with_argo.of(kind) if "workflows" in name]
    assert bound == ["space-language-binding-workflows"]
    assert [name for name in record({"language": LANGUAGE}).of(kind) if "workflows" in name] == []


def test_a_picker_of_a_model_finds_pods_of_its_namespace_where_models_are_served() -> None:
    ours = platform(TEAMS, addons={"kueue": {}, "endpointPicker": {}})
    settings, facts = ours.teams["vision"], of_teams(ours)
    found = {
        namespace: [manifest for key, manifest in manifests(namespace, "vision", settings, facts) if "picker" in key]
        for namespace in settings.namespaces_of("vision")
    }
    served = {name for name, space in settings.namespaces_of("vision").items() if space.purpose in SERVES}
    assert served
    assert {namespace for namespace, objects in found.items() if objects} == served < set(found)
    for namespace in served:
        account, bound = found[namespace]
        name = account["metadata"]["name"]
        assert bound["subjects"] == [{"kind": "ServiceAccount", "name": name, "namespace": namespace}]
        assert bound["roleRef"]["name"] == picker_role_manifest()["metadata"]["name"]
    assert {verb for rule in picker_role_manifest()["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}


def seen(recording: Recording) -> dict[str, Any]:
    return {resource.urn: (resource.inputs, resource.depends_on, resource.protect) for resource in recording}


def test_adding_a_team_changes_no_other_resources() -> None:
    before, after = seen(record()), seen(record({**TEAMS, "recommender": RECOMMENDER}))
    assert before.items() <= after.items()
    added = sorted(urn.rpartition("::")[2] for urn in after.keys() - before.keys())
    assert len(added) > 20
    assert [name for name in added if "recommender" not in name] == []


def test_without_teams_there_are_no_team_resources() -> None:
    types = {resource.type for resource in record({})}
    assert not any(kind.startswith("slipway:") for kind in types)


def test_the_settings_checks_measure_the_real_role_name(recording: Recording) -> None:
    role = recording.of(aws.iam.Role)[WORKLOAD_ROLE.format(namespace="vision-training")]
    assert role.outputs["name"].startswith(f"{PROJECT}-{STACK}-{role.name}-")


def test_namespaces_of_add_ons_are_reserved() -> None:
    ours = {addon.namespace.name for addon in registry.REGISTRY.values()} - {"kube-system"}
    assert ours <= RESERVED


def team(**more: Any) -> Team:
    return platform({"vision": {**VISION, "gpus": {"a100": {"nominalQuota": 4}}, **more}}).teams["vision"]


def hard(settings: Team, namespace: str = "vision-training") -> dict[str, str]:
    space = settings.namespaces_of("vision")[namespace]
    manifest: dict[str, str] = resource_quota(namespace, space, settings, pools())["spec"]["hard"]
    return manifest


def test_every_gpu_resource_has_a_quota_and_it_is_zero_without_a_share() -> None:
    limits = hard(team())
    assert limits["requests.nvidia.com/mig-1g.5gb"] == "28"
    assert limits["requests.nvidia.com/gpu"] == "0"
    assert "requests.vpc.amazonaws.com/efa" not in limits


def test_a_namespace_with_a_fraction_has_that_fraction_of_the_quota() -> None:
    whole, half = hard(team()), hard(team(), "vision-serving")
    assert (whole["requests.nvidia.com/mig-1g.5gb"], half["requests.nvidia.com/mig-1g.5gb"]) == ("28", "14")
    assert (whole["requests.storage"], half["requests.storage"]) == ("1Ti", "512Gi")


def test_load_balancers_are_forbidden_and_objects_are_limited() -> None:
    limits = hard(team(pods=50))
    assert (limits["services.loadbalancers"], limits["services.nodeports"], limits["pods"]) == ("0", "0", "50")
    assert limits["requests.vpc.amazonaws.com/pod-eni"] == limits["count/resourceclaims.resource.k8s.io"] == "0"
    assert limits["count/pods"] == "500"


def counts(settings: Team, namespace: str = "vision-training") -> dict[str, str]:
    """What the quotas of a namespace count together."""
    found = [one for _, one in manifests(namespace, "vision", settings, of_teams(platform(TEAMS)))]
    return {key: text for one in found if one["kind"] == "ResourceQuota" for key, text in one["spec"]["hard"].items()}


@pytest.mark.parametrize("role", MemberRole)
def test_every_kind_that_a_member_can_create_is_counted(role: MemberRole) -> None:
    limits = counts(team())
    for rule in cluster_role_manifest(role)["rules"]:
        for group, resource in product(rule["apiGroups"], rule["resources"]):
            if "create" in rule["verbs"] and "/" not in resource:
                names = {resource, f"count/{resource}"} if not group else {f"count/{resource}.{group}"}
                assert [0 < parse(limits[name]) <= 5000 for name in names & {*limits}], (group, resource)


def test_all_objects_of_a_namespace_are_a_third_of_etcd() -> None:
    sizes, limits = {kind.resource: most for kind, most in LARGER.items()}, counts(team())
    plurals = {
        name: name.removeprefix("count/").partition(".")[0] for name in limits if name in CORE or "count/" in name
    }
    total = sum(parse(limits[name]) * sizes.get(plural, LARGEST) for name, plural in plurals.items())
    assert total < (8 << 30) / 3


def test_a_team_may_have_another_number_of_objects() -> None:
    limits = counts(
        team(objects={"count/deployments.apps": 300, "configmaps": 7, "count/trainjobs.trainer.kubeflow.org": 1})
    )
    assert (limits["count/deployments.apps"], limits["configmaps"]) == ("300", "7")
    assert (limits["count/statefulsets.apps"], limits["count/rayclusters.ray.io"]) == ("100", "100")
    assert (limits["count/trainjobs.trainer.kubeflow.org"], limits["count/rayjobs.ray.io"]) == ("1", "500")


def test_kinds_of_add_ons_are_counted_once_add_ons_are_there_and_nothing_waits_for_it() -> None:
    """The quota controller counts a kind 30 s after its CRD; of a quota that is older it does so once in 5 min."""
    found = recorded("dev")
    late = [one for one in found.of_type("kubernetes:core/v1:ResourceQuota") if one.name.endswith("-addons")]
    releases = {one.urn for one in found.of_type("kubernetes:helm.sh/v3:Release") if ":Software$" in one.urn}
    assert [releases <= {*one.options.dependencies} for one in late] == [True] * len(platform_of("dev").teams)
    assert not {one.urn for one in late} & {urn for one in found for urn in one.options.dependencies}


def test_cpu_limits_have_no_quota() -> None:
    assert not any(name.startswith("limits.") for name in hard(team()))


def test_pods_of_priorities_that_a_team_may_not_use_are_refused() -> None:
    assert priority_quota("vision", team()) is None
    manifest = priority_quota("vision", team(priorities=["experiment", "interactive"]))
    assert manifest is not None
    assert manifest["spec"]["hard"] == {"pods": "0"}
    (expression,) = manifest["spec"]["scopeSelector"]["matchExpressions"]
    assert expression["values"] == ["production-inference", "production-training"]


def test_default_requests_fit_the_largest_node_and_contain_no_gpu() -> None:
    (container,) = limit_range("vision", team(), pools())["spec"]["limits"]
    assert container["default"]["cpu"] == container["max"]["cpu"]
    assert set(container["max"]) == {"cpu", "memory"}
    assert set(container["defaultRequest"]) == {"cpu", "memory"}


def test_a_namespace_has_labels_for_team_cost_center_and_pod_security() -> None:
    space = team().namespaces_of("vision")["vision-training"]
    ours = platform(TEAMS)
    facts = of_teams(ours)
    manifest = namespace_manifest("vision-training", "vision", ours.teams["vision"], space, facts.job_usd["vision"])
    labels = manifest["metadata"]["labels"]
    assert labels["platform.slipway/team"] == "vision"
    assert labels["platform.slipway/project"] == "perception"
    assert labels["platform.slipway/cost-center"] == "ml-vision"
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"
    assert labels["pod-security.kubernetes.io/warn"] == "restricted"


def test_the_settings_checks_know_the_storage_requests_of_claims() -> None:
    def build() -> int:
        settings = VolumeSettings(team="vision", region=REGION)
        volumes = team_volumes("vision", storage_outputs(), settings).values()
        claims = [each for each in volumes if each["kind"] == "PersistentVolumeClaim"]
        return sum(int(each["spec"]["resources"]["requests"]["storage"].removesuffix("Gi")) for each in claims)

    assert run(build).returned <= CLAIMS_GIB


BUCKETS = {purpose: f"arn:aws:s3:::slipway-{purpose}" for purpose in ("raw", "checkpoints", "models", "state")}
KEY = "arn:aws:kms:us-east-1:111122223333:key/00000000-0000-4000-8000-000000000000"


def statements(team: str = "vision", workflows_in: str | None = None) -> list[dict[str, Any]]:
    text = workload_document(team, BUCKETS, KEY, "s3.us-east-1.amazonaws.com", workflows_in=workflows_in)
    document: list[dict[str, Any]] = json.loads(text)["Statement"]
    return document


def allowed(action: str, resource: str, team: str = "vision", workflows_in: str | None = None) -> bool:
    return any(
        action in each["Action"] and any(fnmatchcase(resource, pattern) for pattern in each["Resource"])
        for each in statements(team, workflows_in)
    )


@pytest.mark.parametrize(
    ("action", "resource", "expected"),
    [
        ("s3:GetObject", f"{BUCKETS['raw']}/vision/images/1", True),
        ("s3:PutObject", f"{BUCKETS['raw']}/vision/images/1", False),
        ("s3:PutObject", f"{BUCKETS['checkpoints']}/vision/run/1", True),
        ("s3:DeleteObject", f"{BUCKETS['models']}/vision/m", True),
        ("s3:GetObject", f"{BUCKETS['models']}/language/m", False),
        ("s3:GetObject", f"{BUCKETS['models']}/vision2/m", False),
        ("s3:GetObject", BUCKETS["models"], False),
        ("s3:DeleteBucket", BUCKETS["models"], False),
    ],
)
def test_pods_of_a_team_have_access_only_to_its_prefix(action: str, resource: str, expected: bool) -> None:
    assert allowed(action, resource) is expected


def test_listing_is_limited_to_the_prefix() -> None:
    (listing,) = [each for each in statements() if "s3:ListBucket" in each["Action"]]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["vision/", "vision/*"]}}
    assert sorted(listing["Resource"]) == sorted(arn for name, arn in BUCKETS.items() if name != "state")


@pytest.mark.parametrize(
    ("resource", "workflows_in", "expected"),
    [
        ("argo/vision-train/run/step/main.log", "vision-train", True),
        ("argo/vision-train/run/step/main.log", None, False),
        ("argo/vision-serve/run/step/main.log", "vision-train", False),
        ("argo/vision-train2/run/step/main.log", "vision-train", False),
        ("federated/costs", "vision-train", False),
        ("vision/x", "vision-train", False),
    ],
)
@pytest.mark.parametrize("action", ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"])
def test_steps_write_the_artifacts_of_their_own_namespace(
    action: str, resource: str, workflows_in: str | None, expected: bool
) -> None:
    assert allowed(action, f"{BUCKETS['state']}/{resource}", workflows_in=workflows_in) is expected


def test_argo_writes_artifacts_to_an_allowed_prefix() -> None:
    key = KEYS.replace("{{workflow.namespace}}", "vision-train")
    assert allowed("s3:PutObject", f"{BUCKETS['state']}/{key}", workflows_in="vision-train")


def test_steps_can_list_only_their_own_artifacts() -> None:
    (listing,) = [each for each in statements(workflows_in="vision-train") if each["Sid"] == "ListArtifacts"]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["argo/vision-train/*"]}}
    assert listing["Resource"] == [BUCKETS["state"]]


def test_the_key_can_only_be_used_through_s3() -> None:
    (key,) = [each for each in statements() if any(action.startswith("kms:") for action in each["Action"])]
    assert key["Resource"] == [KEY]
    assert key["Condition"] == {"StringEquals": {"kms:ViaService": ["s3.us-east-1.amazonaws.com"]}}
    assert key["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]


def test_the_service_account_mounts_no_api_token() -> None:
    assert service_account_manifest("vision")["automountServiceAccountToken"] is False


HIGHEST_OF_USERS = 1_000_000_000
"""kubernetes.io, "Pod Priority and Preemption"."""


def test_priorities_have_distinct_values_in_the_order_of_the_settings() -> None:
    values = [PRIORITIES[name].value for name in PriorityName]
    assert values == sorted(set(values), reverse=True)
    assert min(values) > 0
    assert max(values) < HIGHEST_OF_USERS


@pytest.mark.parametrize("name", PriorityName)
def test_both_classes_have_the_same_name_and_value(name: PriorityName) -> None:
    pods, queued = priority_class(name), workload_priority_class(name)
    assert pods["metadata"] == queued["metadata"] == {"name": str(name)}
    assert pods["value"] == queued["value"]
    assert pods["globalDefault"] is False


def test_only_inference_preempts_pods() -> None:
    preempting = [name for name in PriorityName if priority_class(name)["preemptionPolicy"] != "Never"]
    assert preempting == [PriorityName.PRODUCTION_INFERENCE]
