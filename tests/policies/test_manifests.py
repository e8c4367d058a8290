"""Rules for workloads on manifests, such as those of rendered charts."""

import json
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from policies.manifests import findings_for_manifests, read, resource, token
from policies.pack import identities
from policies.resources.resource import Resource, Stack
from policies.rule import STRICTEST, Context, ResourceRule
from policies.rules import BY_NAME, RULES
from policies.runner import OF_PLATFORM, findings
from policies.suppressions import Suppressions
from spec.errors import EXIT_REFUSED, SlipwayError
from tests.policies.fixtures import load, plain
from tests.support.day import TODAY

POD: dict[str, Any] = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "serviceAccountName": "controller",
    "containers": [{"name": "manager", "image": "registry.k8s.io/kueue/kueue:v0.19.2",
            "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}, "securityContext": {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}}],
}  # fmt: skip
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "controller"},
    "spec": {"replicas": 2, "template": {"metadata": {"labels": {"app": "x"}}, "spec": POD}},
}


def ids(*manifests: dict[str, Any], namespace: str = "kueue-system") -> set[str]:
    findings = findings_for_manifests(
        manifests, stack="prod", today=TODAY, namespace=namespace, suppressions=Suppressions()
    )
    return {finding.id for finding in findings}


def changed(**pod: Any) -> dict[str, Any]:
    return {**DEPLOYMENT, "spec": {"template": {"spec": {**POD, **pod}}}}


def test_a_good_deployment_passes() -> None:
    assert ids(DEPLOYMENT) == set()


@pytest.mark.parametrize(
    ("pod", "check"),
    [
        ({"hostNetwork": True}, "pod-isolated/host-network"),
        ({"securityContext": {}}, "pod-restricted/non-root"),
        ({"serviceAccountName": None}, "pod-hygiene/token"),
        ({"containers": [{**POD["containers"][0], "image": "someone/x"}]}, "pod-trusted-image/registry"),
        ({"containers": [{**POD["containers"][0], "resources": {}}]}, "pod-sized/memory-limit"),
    ],
)
def test_a_rendered_pod_is_evaluated_like_a_declared_one(pod: dict[str, Any], check: str) -> None:
    assert check in ids(changed(**pod))


def test_objects_without_a_namespace_have_that_of_the_release() -> None:
    agent = {**changed(hostNetwork=True), "kind": "DaemonSet", "metadata": {"name": "efa-exporter"}}
    agent["spec"]["template"]["spec"]["containers"] = [{"image": "public.ecr.aws/docker/library/busybox:1.37.0"}]
    assert "pod-isolated/host-network" not in ids(agent, namespace="monitoring")
    assert "pod-isolated/host-network" in ids(agent, namespace="kube-system")
    assert resource(DEPLOYMENT, "prod", "kueue-system").urn.endswith(
        "::kubernetes:apps/v1:Deployment::kueue-system/controller"
    )


def test_roles_and_credentials_in_manifests_are_found() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "x"}}
    rule = {"apiGroups": ["batch"], "verbs": ["*"], "resources": ["jobs"]}
    assert ids({**role, "rules": [rule]}) == {"rbac-roles-allow/grants"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"token": "hf_" + "x" * 34}}
    assert ids(config) == {"no-plaintext-secrets/credential"}


def test_levels_are_those_of_the_stack() -> None:
    findings = findings_for_manifests([changed(securityContext={})], stack="dev", today=TODAY)
    assert {finding.rule for finding in findings} >= {"pod-restricted"}


UNUSUAL: tuple[dict[str, Any], ...] = (
    {},
    {"kind": "Deployment", "apiVersion": "apps/v1"},
    {"apiVersion": "x/v1", "kind": "New", "spec": [1, {"containers": [2]}]},
)


@pytest.mark.parametrize("document", UNUSUAL)
def test_unusual_documents_do_not_crash_rules(tmp_path: Path, document: dict[str, Any]) -> None:
    (tmp_path / "unusual.yaml").write_text(yaml.safe_dump(document))
    findings_for_manifests(read(tmp_path), stack="prod", today=TODAY)


def test_a_folder_is_read_with_all_its_documents_and_lists(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below/two.yaml").write_text("---\n" + yaml.safe_dump_all([DEPLOYMENT, None, DEPLOYMENT]))
    (tmp_path / "list.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [DEPLOYMENT]}))
    (tmp_path / "notes.txt").write_text("kind: Deployment")
    assert [token(one) for one in read(tmp_path)] == ["kubernetes:apps/v1:Deployment"] * 3


def test_an_invalid_yaml_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("a: [")
    with pytest.raises(SlipwayError, match=r"broken\.yaml: not valid YAML"):
        read(tmp_path)


def test_a_manifest_may_have_a_kind_that_the_program_does_not_declare() -> None:
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {}}
    assert ids(definition) == set()


def test_a_file_is_read_as_a_folder_with_it_alone(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("a: [")
    (file := tmp_path / "one.yaml").write_text("{apiVersion: v1, kind: ConfigMap}")
    assert read(file) == [{"apiVersion": "v1", "kind": "ConfigMap"}]


def test_a_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SlipwayError, match="missing: manifests must be in a file or a folder") as refused:
        read(tmp_path / "missing")
    assert refused.value.exit_code == EXIT_REFUSED


# Programs of others get the rules that are true of any program, and no list of what the platform declares.


PROGRAMS: Final = load(Path(__file__).with_name("foreign.yaml"))[0]
PROVIDER: Final = {"region": "us-west-2"}


def stack_of(program: dict[str, Any]) -> Stack:
    """The resources of a program, below no component of Slipway."""
    found: dict[str, Resource] = {}
    for name, case in program.items():
        (kind,) = (key for key in case if ":" in key)
        urn = f"urn:pulumi:dev::website::{kind}::{name}"
        provider = PROVIDER if kind.startswith("aws:") else {}
        read = partial(plain, case[kind])
        found[name] = Resource(type=kind, name=name, urn=urn, read=read, provider=provider)
    for name, case in program.items():
        for key, taken in case.get("takes", {}).items():
            found[name].sources[key] = tuple(found[one] for one in taken)
    return Stack(tuple(found.values()))


def mandatory(program: dict[str, Any]) -> list[str]:
    """What fails a run, with the strictest levels."""
    stack = stack_of(program)
    lines = []
    for rule in RULES:
        if rule.levels.of(STRICTEST).value != "mandatory":
            continue
        context = Context(settings=rule.defaults(STRICTEST), today=TODAY)
        for subject in stack.resources if isinstance(rule, ResourceRule) else [stack]:
            found = findings(rule, subject, context, Suppressions())
            lines += [f"{one.id} {one.urn.rpartition('::')[2]}: {one.path} {one.value}".strip() for one in found]
    return sorted(lines)


TRUE: Final = {
    "eks-access-entries-only", "eks-control-plane-logs", "eks-deletion-protection", "eks-private-endpoint",
    "eks-private-multi-az", "eks-secrets-cmk", "eks-supported-version", "node-ami-pinned", "nodegroup-desired-ignored",
    "nodegroup-safe-update", "rds-closed", "rds-kept", "rds-parameters", "rds-watched", "s3-kms-bucket-key",
    "s3-no-public-grants", "s3-versioned-lifecycle", "serving-ha", "stateful-protected", "vpc-baseline", "vpc-shape",
}  # fmt: skip
"""Rules that are true of any program: what these leave at the defaults of AWS is so."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_finding_of_another_program_is_false(name: str) -> None:
    assert [line for line in mandatory(PROGRAMS[name]) if line.partition("/")[0] not in TRUE] == []


def test_a_weakness_in_another_program_is_found() -> None:
    everything = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"], "description": "all"}
    opened = {"group": {"aws:ec2/securityGroup:SecurityGroup": {"ingress": [everything]}}}
    assert any(line.startswith("sg-least-open/") for line in mandatory(opened))


def test_lists_bind_what_is_below_a_component_of_the_platform() -> None:
    context = Context(settings={"types": []}, today=TODAY)
    below = Resource(
        type="aws:lambda/function:Function", name="it", read=dict,
        urn="urn:pulumi:dev::website::slipway:queues:Queues$aws:lambda/function:Function::it",
    )  # fmt: skip
    (one,) = findings(BY_NAME["resource-type-reviewed"], below, context, Suppressions())
    assert one.check == "type"


def test_what_binds_the_platform_alone_names_rules_and_checks() -> None:
    assert identities() >= OF_PLATFORM
