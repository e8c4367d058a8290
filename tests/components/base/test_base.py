"""IAM documents: deterministic text, narrow trust, one policy per role."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
import yaml
from pulumi_kubernetes.helm.v3 import Release

from components.base.addon import AddOnContext, Namespace
from components.base.iam import (
    Inline,
    Managed,
    Statement,
    account_administration,
    document,
    log_encryption,
    pod_identity_role,
    pod_identity_trust,
    service_trust,
)
from components.base.kubernetes import (
    Location,
    Namespaces,
    ObjectsArgs,
    agreed,
    declare,
    locate,
    manifest,
    release,
    type_token,
)
from components.base.placement import every_toleration, gpu_tolerations, pool_tolerations
from spec.catalog.software import ChartRef
from spec.pools import PoolSpec, resolve_all
from spec.settings.charts import Charts
from tests.components.addons.fakes import addon, settings
from tests.components.pools.samples import SYSTEM, platform
from tests.support.context import POOLS, addon_context
from tests.support.mocks import Recording, providers, run
from tests.support.outputs import cluster_outputs

CLUSTER = "arn:aws:eks:us-east-1:111122223333:cluster/slipway-test"


def test_equal_permissions_have_equal_documents() -> None:
    one = Statement("Read", ["s3:ListBucket", "s3:GetObject"], ["b", "a"])
    other = Statement("Read", ["s3:GetObject", "s3:ListBucket"], ["a", "b"])
    assert document(one) == document(other)


def test_a_document_is_compact_sorted_json() -> None:
    statement = Statement(
        "Deny", ["kms:Decrypt"], ["*"], effect="Deny", conditions={"StringNotEquals": {"aws:SourceAccount": ["2", "1"]}}
    )
    assert document(statement) == (
        '{"Statement":[{"Action":["kms:Decrypt"],"Condition":{"StringNotEquals":{"aws:SourceAccount":["1","2"]}},'
        '"Effect":"Deny","Resource":["*"],"Sid":"Deny"}],"Version":"2012-10-17"}'
    )


def test_statements_keep_their_order() -> None:
    first, second = Statement("B", ["x"]), Statement("A", ["y"])
    assert [part["Sid"] for part in json.loads(document(first, second))["Statement"]] == ["B", "A"]


def test_a_pod_identity_role_trusts_one_service_account_of_one_cluster() -> None:
    (statement,) = json.loads(pod_identity_trust(CLUSTER, "kube-system", "aws-node"))["Statement"]
    assert statement["Principal"] == {"Service": ["pods.eks.amazonaws.com"]}
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]
    assert statement["Condition"] == {
        "StringEquals": {
            "aws:RequestTag/eks-cluster-arn": [CLUSTER],
            "aws:RequestTag/kubernetes-namespace": ["kube-system"],
            "aws:RequestTag/kubernetes-service-account": ["aws-node"],
        }
    }


def test_a_service_may_only_assume_the_role() -> None:
    (statement,) = json.loads(service_trust("FlowLogs", "vpc-flow-logs.amazonaws.com"))["Statement"]
    assert statement == {
        "Action": ["sts:AssumeRole"],
        "Effect": "Allow",
        "Principal": {"Service": ["vpc-flow-logs.amazonaws.com"]},
        "Sid": "FlowLogs",
    }


def test_key_statements_have_specific_principals() -> None:
    statements = (
        account_administration("aws-us-gov", "111122223333"),
        log_encryption("logs.us-east-1.amazonaws.com", "arn:aws:logs:us-east-1:111122223333:log-group:/a"),
    )
    administration, encryption = (statement.render() for statement in statements)
    assert administration["Principal"] == {"AWS": ["arn:aws-us-gov:iam::111122223333:root"]}
    assert encryption["Principal"] == {"Service": ["logs.us-east-1.amazonaws.com"]}
    assert encryption["Condition"]["ArnLike"] == {
        "kms:EncryptionContext:aws:logs:arn": ["arn:aws:logs:us-east-1:111122223333:log-group:/a"]
    }


class _Owner(pulumi.ComponentResource):
    def __init__(self, policy: Managed | Inline) -> None:
        super().__init__("slipway:test:Owner", "it", None, pulumi.ResourceOptions(providers=providers()))
        role = pod_identity_role(
            "it-role",
            cluster_arn=CLUSTER,
            namespace="kube-system",
            service_account="aws-node",
            policy=policy,
            parent=self,
        )
        self.arn, self.ready = role.arn, role.ready
        self.register_outputs({})


def _role(policy: Managed | Inline) -> Recording:
    return run(lambda: _Owner(policy).arn)


@pytest.mark.parametrize(
    ("policy", "kind", "other"),
    [
        (Managed(arn="arn:aws:iam::aws:policy/X"), aws.iam.RolePolicyAttachment, aws.iam.RolePolicy),
        (Inline(document="{}"), aws.iam.RolePolicy, aws.iam.RolePolicyAttachment),
    ],
)
def test_a_role_has_exactly_one_policy(
    policy: Managed | Inline, kind: type[pulumi.Resource], other: type[pulumi.Resource]
) -> None:
    recording = _role(policy)
    assert set(recording.of(kind)) == {"it-role-policy"}
    assert not recording.of(other)
    assert recording.one(kind).inputs["role"] == recording.one(aws.iam.Role).outputs["name"]
    assert recording.default_provider_users == ()


# Kubernetes objects from their manifests.


COHORT = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "platform"}}


@pytest.mark.parametrize(("api_version", "kind", "token"), [
    ("v1", "Namespace", "kubernetes:core/v1:Namespace"),
    ("apps/v1", "Deployment", "kubernetes:apps/v1:Deployment"),
    ("kueue.x-k8s.io/v1beta2", "Cohort", "kubernetes:kueue.x-k8s.io/v1beta2:Cohort"),
])  # fmt: skip
def test_a_kind_has_the_token_of_the_provider(api_version: str, kind: str, token: str) -> None:
    assert type_token(api_version, kind) == token


def test_the_whole_manifest_is_declared() -> None:
    def build() -> None:
        manifest = {**COHORT, "spec": {"parentName": pulumi.Output.from_input("root")}}
        declare("cohort", manifest, pulumi.ResourceOptions(provider=providers()[1]))

    recording = run(build).one("kubernetes:kueue.x-k8s.io/v1beta2:Cohort")
    assert recording.name == "cohort"
    assert recording.inputs == {**COHORT, "spec": {"parentName": "root"}}


@pytest.mark.parametrize("metadata", [{}, {"generateName": "x-"}, {"name": None}, {"name": 7}], ids=str)
def test_a_name_must_be_a_plain_string(metadata: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cohort: a manifest needs metadata\.name as a plain string"):
        declare("cohort", {**COHORT, "metadata": metadata}, pulumi.ResourceOptions())


def test_a_manifest_without_metadata_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs metadata\.name"):
        declare("cohort", {"apiVersion": "v1", "kind": "Namespace"}, pulumi.ResourceOptions())


OURS = Namespace(name="ours", enforce="restricted")
KUBE_SYSTEM = Namespace(name="kube-system", enforce=None)


def recorded(*spaces: Namespace) -> Recording:
    def build() -> dict[str, int]:
        both = providers()
        opts = pulumi.ResourceOptions(providers=both)
        addons = {f"a{n}": addon(settings("S"), f"a{n}", namespace=space) for n, space in enumerate(spaces)}
        made = {key: manifest(one) for key, one in agreed(each.namespace for each in addons.values()).items()}
        namespaces = Namespaces("namespaces", ObjectsArgs(objects=made, cluster=cluster_outputs(both[0])), opts)
        return {name: len(namespaces.of(name)) for name in ("ours", "kube-system")}

    return run(build)


def test_a_shared_namespace_is_declared_once() -> None:
    recording = recorded(OURS, OURS)
    assert list(recording.of("kubernetes:core/v1:Namespace")) == ["namespaces-ours"]
    assert recording.returned["ours"] == 1


def test_a_namespace_of_eks_is_not_declared() -> None:
    recording = recorded(KUBE_SYSTEM)
    assert not recording.of("kubernetes:core/v1:Namespace")
    assert recording.returned["kube-system"] == 0


@pytest.mark.parametrize(
    "other",
    [Namespace(name="ours", enforce="privileged"), Namespace(name="ours", enforce="restricted", labels={"a": "b"})],
    ids=["level", "labels"],
)
def test_add_ons_that_share_a_namespace_must_agree(other: Namespace) -> None:
    with pytest.raises(ValueError, match=r"share the namespace ours and disagree on it: .*restricted.* and "):
        agreed([OURS, other])


def test_warn_and_audit_equal_the_enforced_level() -> None:
    labels = manifest(Namespace(name="ours", enforce="baseline", labels={"team": "ml"}))["metadata"]["labels"]
    assert labels == {
        "team": "ml",
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "baseline",
        "pod-security.kubernetes.io/audit": "baseline",
    }


DAY = date(2026, 9, 1)
IN_REPOSITORY = ChartRef(name="thing", repository="https://charts.example", version="1.2.3", released=DAY, source="s")
OCI = ChartRef(name="thing", repository="oci://registry.example", version="v1.2.3", released=DAY, source="s")


def source(**settings: str) -> Charts:
    return Charts.model_validate_json(json.dumps(settings))


def installed(chart: ChartRef, **more: Any) -> Any:
    def build() -> None:
        opts = pulumi.ResourceOptions(provider=providers()[1])
        release("thing", locate(chart, Charts()), namespace="kube-system", values={"replicas": 2}, opts=opts, **more)

    return run(build).one(Release).inputs


def test_a_chart_of_a_repository_names_it_and_an_oci_chart_does_not() -> None:
    assert installed(IN_REPOSITORY)["repositoryOpts"] == {"repo": "https://charts.example"}
    recording = installed(OCI)
    assert "repositoryOpts" not in recording
    assert (recording["chart"], recording["version"]) == ("oci://registry.example/thing", "v1.2.3")


def test_the_release_name_defaults_to_the_logical_name() -> None:
    assert installed(OCI)["name"] == "thing"
    assert installed(OCI, release_name="other")["name"] == "other"


@pytest.mark.parametrize("chart", [IN_REPOSITORY, OCI])
def test_charts_come_from_a_directory_or_a_registry_at_the_same_version(chart: ChartRef) -> None:
    version = chart.version
    absolute = Location(chart="/opt/charts/thing", version=version)
    assert locate(chart, source(directory="/opt/charts")) == absolute
    mirror = Location(chart="oci://registry.example.com/charts/thing", version=version)
    assert locate(chart, source(registry="oci://registry.example.com/charts")) == mirror


def test_a_relative_directory_begins_at_the_project_whose_program_is_one_folder_below() -> None:
    assert locate(OCI, source(directory="charts")).chart == "../charts/thing"
    project = yaml.safe_load((Path(__file__).parents[3] / "Pulumi.yaml").read_text(encoding="utf-8"))
    assert Path(project["main"]).parts == ("infra",)


# Where pods of add-ons may run.


CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}


def resolved(pools: Mapping[str, Mapping[str, Any]] = POOLS) -> dict[str, PoolSpec]:
    return resolve_all(platform(pools))


def context_of(**parts: Any) -> AddOnContext:
    contexts: list[AddOnContext] = []
    run(lambda: contexts.append(addon_context(**parts)))
    return contexts[0]


def tolerated(pool: PoolSpec, tolerations: list[dict[str, str]]) -> bool:
    """The scheduler's rule (kubernetes.io, "Taints and Tolerations")."""
    return all(
        any(
            each["key"] == taint.key
            and each.get("effect", taint.effect) == taint.effect
            and (each["operator"] == "Exists" or each.get("value", "") == taint.value)
            for each in tolerations
        )
        for taint in pool.taints
    )


def test_controllers_run_only_on_system_pools() -> None:
    placement = context_of().placement
    assert placement["nodeSelector"] == {"platform.slipway/role": "system"}
    assert placement["tolerations"] == [CRITICAL]


def test_controllers_tolerate_every_taint_of_system_pools() -> None:
    taints = {"ours.example/quiet": {"effect": "NoExecute"}, "CriticalAddonsOnly": {"effect": "NoSchedule"}}
    context = context_of(pools={"system": {**SYSTEM, "taints": taints}})
    tolerations = context.placement["tolerations"]
    assert tolerated(context.pools["system"], tolerations)
    assert [each["key"] for each in tolerations] == ["CriticalAddonsOnly", "ours.example/quiet"]


def test_agents_of_gpu_nodes_tolerate_exactly_the_taints_of_gpu_pools() -> None:
    pools = resolved()
    tolerations = gpu_tolerations(pools)
    assert all(tolerated(spec, tolerations) for spec in pools.values() if spec.gpu)
    assert {each["key"] for each in tolerations} == {"nvidia.com/gpu", "platform.slipway/pool", "dedicated"}


def test_a_taint_of_many_pools_is_tolerated_once() -> None:
    tolerations = gpu_tolerations(resolved())
    assert len(tolerations) == len({tuple(sorted(each.items())) for each in tolerations})
    assert len([each for each in tolerations if each["key"] == "nvidia.com/gpu"]) == 1


def test_without_gpu_pools_there_is_no_toleration() -> None:
    assert gpu_tolerations(resolved({})) == []


def test_tolerations_of_named_pools_match_only_those() -> None:
    pools = resolved()
    tolerations = pool_tolerations(pools, ["a100"])
    assert tolerated(pools["a100"], tolerations)
    assert not tolerated(pools["gpu-spot"], tolerations)
    with pytest.raises(KeyError):
        pool_tolerations(pools, ["a101"])


def test_an_agent_of_every_node_tolerates_every_taint() -> None:
    pools = resolved()
    assert all(tolerated(spec, every_toleration(pools)) for spec in pools.values())


def test_the_order_of_pools_is_irrelevant() -> None:
    pools = resolved()
    assert gpu_tolerations(pools) == gpu_tolerations(dict(reversed(list(pools.items()))))
