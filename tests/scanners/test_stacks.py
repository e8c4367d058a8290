"""Checkov and the policy pack on the same program: on the stacks as they are, and on a misconfigured one.

Both read the result of `slipway render`: the pack the recording, Checkov its Terraform.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Any

import pytest

from policies import coverage, pack
from policies.suppressions import Suppressions
from policies.suppressions import load as load_suppressions
from slipway.render.evaluation import check
from slipway.render.recording import Recording, Values
from slipway.render.terraform import document, local_name
from tests.policies.support import BY_NAME
from tests.scanners.checkov import Verdict, scan
from tests.support.day import TODAY
from tests.support.stacks import NAMES, recorded

MISCONFIGURED = "misconfigured"


@dataclass(frozen=True, kw_only=True)
class Misconfiguration:
    """One misconfiguration of the program of prod.

    Attributes:
        resource: Type and logical name of the resource.
        path: The property; `to` replaces it, or None removes it.
        ours: The check of the pack that must report it.
        theirs: The Checkov check that must report it.
    """

    resource: tuple[str, str]
    path: tuple[str, ...]
    to: Any
    ours: str
    theirs: str


NOT_FOR = {
    # Scratch file systems are encrypted with a key of FSx and accept no other (FSx for Lustre User Guide, "Encrypting
    # data at rest", read 2026-11); in prod it is persistent, and Checkov reports nothing there.
    "storage-lustre-files": ("CKV_AWS_190",)
}
CLUSTER = ("aws:eks/cluster:Cluster", "cluster-control-plane")
TEMPLATE = ("aws:ec2/launchTemplate:LaunchTemplate", "pool-system-launch-template")
KEY = ("aws:kms/key:Key", "storage-key")
FILES = ("aws:efs/fileSystem:FileSystem", "storage-efs-files")
BLOCK = ("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "storage-raw-access")
LOGS = ("aws:cloudwatch/logGroup:LogGroup", "cluster-logs")
MISCONFIGURATIONS = tuple(
    Misconfiguration(resource=resource, path=tuple(path.split(".")), to=to, ours=ours, theirs=theirs)
    for resource, path, to, ours, theirs in (
        (CLUSTER, "enabledClusterLogTypes", ["api"], "eks-control-plane-logs/types", "CKV_AWS_37"),
        (CLUSTER, "vpcConfig.endpointPublicAccess", True, "eks-private-endpoint/public", "CKV_AWS_39"),
        (CLUSTER, "vpcConfig.publicAccessCidrs", ["0.0.0.0/0"], "eks-no-world-endpoint/anywhere", "CKV_AWS_38"),
        (TEMPLATE, "metadataOptions.httpTokens", "optional", "node-imdsv2-required/tokens", "CKV_AWS_79"),
        (TEMPLATE, "metadataOptions.httpPutResponseHopLimit", 3, "node-imds-hop-limit/hops", "CKV_AWS_341"),
        (KEY, "enableKeyRotation", False, "kms-key-safe/rotation", "CKV_AWS_7"),
        (FILES, "encrypted", False, "efs-encrypted-cmk/encrypted", "CKV_AWS_42"),
        (BLOCK, "blockPublicAcls", False, "s3-public-block/acls", "CKV_AWS_53"),
        (LOGS, "retentionInDays", None, "log-group-retention-cmk/minimum", "CKV_AWS_66"),
    )
)


@cache
def violations(stack: str) -> frozenset[tuple[str, str]]:
    """Violated checks of the pack, each with the resource, suppressed or not."""
    recording = misconfigured() if stack == MISCONFIGURED else recorded(stack)
    return frozenset((finding.id, finding.urn) for finding in check(recording, TODAY, Suppressions()))


def changed(properties: Mapping[str, Any], misconfiguration: Misconfiguration) -> dict[str, Any]:
    """A copy of the properties with a misconfiguration."""
    misconfigured: Any = deepcopy(dict(properties))
    *above, last = misconfiguration.path
    target = misconfigured
    for part in above:
        target = target[part]
    assert target.get(last) != misconfiguration.to
    if misconfiguration.to is None:
        del target[last]
    else:
        target[last] = misconfiguration.to
    return dict(misconfigured)


@cache
def misconfigured() -> Recording:
    recording = recorded("prod")
    resources = dict(recording.resources)
    for misconfiguration in MISCONFIGURATIONS:
        token, name = misconfiguration.resource
        (urn,) = [urn for urn, one in resources.items() if (one.type, one.name) == (token, name)]
        resource = resources[urn]
        # Outputs as after an update, because rules of a whole stack read outputs.
        inputs, outputs = (changed(values.plain, misconfiguration) for values in (resource.inputs, resource.outputs))
        resources[urn] = replace(resource, inputs=Values(inputs), outputs=Values(outputs))
    return replace(recording, resources=resources)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, frozenset[Verdict]]:
    documents = {stack: document(recorded(stack)) for stack in NAMES}
    return scan({**documents, MISCONFIGURED: document(misconfigured())}, tmp_path_factory.mktemp("checkov"))


def advisory(stack: str, identity: str) -> bool:
    """Whether a check does not stop a run of the stack, which happens only outside prod."""
    rule = BY_NAME.get(identity.partition("/")[0])
    return stack != "prod" and rule is not None and rule.levels.of(stack).value != "mandatory"


def unexplained(stack: str, failed: set[Verdict], today: date) -> list[str]:
    """Checkov findings that neither a reason in the coverage table nor a suppression explains."""
    ours = [one for one in recorded(stack) if one.type.startswith("aws:")]
    urns: dict[str, list[str]] = {}
    for one in ours:
        # The configuration of a bucket may be in another resource about it, where the pack reports it.
        about = [other.urn for other in ours if one.urn in other.options.property_dependencies.get("bucket", ())]
        urns.setdefault(local_name(one.name), []).extend([one.urn, *about])
    answers, suppressions = coverage.coverage(), load_suppressions(pack.identities())
    lines = []
    for verdict in sorted(failed):
        answer = answers.get(verdict.check, "")
        matching = [suppressions.find(one.strip(), urn) for one in answer.split(",") for urn in urns[verdict.name]]
        suppressed = any(one is not None and one.until >= today for one in matching)
        # Outside prod a rule may be advisory.
        suppressed |= verdict.check in NOT_FOR.get(verdict.name, ())
        suppressed |= any(advisory(stack, one.strip()) for one in answer.split(","))
        if not suppressed and not answer.startswith(coverage.NOT_APPLICABLE):
            lines.append(f"{verdict.check} {verdict.name}: {answer or 'not in policies/external_checks.yaml'}")
    return lines


@pytest.mark.parametrize("stack", NAMES)
def test_checkov_reports_only_suppressed_or_out_of_scope_findings(
    stack: str, verdicts: Mapping[str, frozenset[Verdict]]
) -> None:
    assert verdicts[stack], "Checkov read nothing"
    assert unexplained(stack, {one for one in verdicts[stack] if not one.passed}, TODAY) == []


@pytest.mark.parametrize("misconfiguration", MISCONFIGURATIONS, ids=lambda one: one.theirs)
def test_checkov_and_the_pack_report_a_misconfiguration(
    misconfiguration: Misconfiguration, verdicts: Mapping[str, frozenset[Verdict]]
) -> None:
    token, name = misconfiguration.resource
    (one,) = [resource for resource in misconfigured() if (resource.type, resource.name) == (token, name)]
    theirs = {
        stack: {
            verdict.name
            for verdict in verdicts[stack]
            if verdict.check == misconfiguration.theirs and not verdict.passed
        }
        for stack in (MISCONFIGURED, "prod")
    }
    assert local_name(name) in theirs[MISCONFIGURED] - theirs["prod"]
    ours = {identity for identity, urn in violations(MISCONFIGURED) - violations("prod") if urn in ("", one.urn)}
    assert misconfiguration.ours in ours
