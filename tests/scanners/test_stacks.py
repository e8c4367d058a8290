"""Checkov and our own pack, asked of the same program: on the stacks as they are, and on one that was spoilt.

Both read what `slipway render` gives: the pack the recording, Checkov the Terraform of it.
"""

from __future__ import annotations

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
from slipway.render.recording import Recording
from slipway.render.terraform import document
from slipway.render.terraform.references import local_name
from slipway.render.values import Values
from tests.policies.support import BY_NAME
from tests.scanners.checkov import Verdict, scan
from tests.support.day import TODAY
from tests.support.stacks import NAMES, recorded

SPOILT = "spoilt"


@dataclass(frozen=True, kw_only=True)
class Spoiler:
    """One thing made wrong in the program of prod.

    Attributes:
        resource: Its type and logical name.
        path: The property; `to` replaces it, or None takes it away.
        ours: The check of the pack that must find it.
        theirs: The check of Checkov that must find it.
    """

    resource: tuple[str, str]
    path: tuple[str | int, ...]
    to: Any
    ours: str
    theirs: str


NOT_FOR = {
    # Scratch file systems are encrypted by a key of FSx and take no other (FSx for Lustre User Guide, "Encrypting data
    # at rest", read 2026-11); in prod it is persistent, and Checkov finds nothing there.
    "storage-lustre-files": ("CKV_AWS_190",),
}
CLUSTER = ("aws:eks/cluster:Cluster", "cluster-control-plane")
TEMPLATE = ("aws:ec2/launchTemplate:LaunchTemplate", "pool-system-launch-template")
SPOILERS = (
    Spoiler(
        resource=CLUSTER,
        path=("enabledClusterLogTypes",),
        to=["api"],
        ours="eks-control-plane-logs/types",
        theirs="CKV_AWS_37",
    ),
    Spoiler(
        resource=CLUSTER,
        path=("vpcConfig", "endpointPublicAccess"),
        to=True,
        ours="eks-private-endpoint/public",
        theirs="CKV_AWS_39",
    ),
    Spoiler(
        resource=CLUSTER,
        path=("vpcConfig", "publicAccessCidrs"),
        to=["0.0.0.0/0"],
        ours="eks-no-world-endpoint/anywhere",
        theirs="CKV_AWS_38",
    ),
    Spoiler(
        resource=TEMPLATE,
        path=("metadataOptions", "httpTokens"),
        to="optional",
        ours="node-imdsv2-required/tokens",
        theirs="CKV_AWS_79",
    ),
    Spoiler(
        resource=TEMPLATE,
        path=("metadataOptions", "httpPutResponseHopLimit"),
        to=3,
        ours="node-imds-hop-limit/hops",
        theirs="CKV_AWS_341",
    ),
    Spoiler(
        resource=("aws:kms/key:Key", "storage-key"),
        path=("enableKeyRotation",),
        to=False,
        ours="kms-key-safe/rotation",
        theirs="CKV_AWS_7",
    ),
    Spoiler(
        resource=("aws:efs/fileSystem:FileSystem", "storage-efs-files"),
        path=("encrypted",),
        to=False,
        ours="efs-encrypted-cmk/encrypted",
        theirs="CKV_AWS_42",
    ),
    Spoiler(
        resource=("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "storage-raw-access"),
        path=("blockPublicAcls",),
        to=False,
        ours="s3-public-block/acls",
        theirs="CKV_AWS_53",
    ),
    Spoiler(
        resource=("aws:cloudwatch/logGroup:LogGroup", "cluster-logs"),
        path=("retentionInDays",),
        to=None,
        ours="log-group-retention-cmk/minimum",
        theirs="CKV_AWS_66",
    ),
)


@cache
def violations(stack: str) -> frozenset[tuple[str, str]]:
    """Checks of the pack that something violates, each with the resource, suppressed or not."""
    recording = spoilt() if stack == SPOILT else recorded(stack)
    return frozenset((found.id, found.urn) for found in check(recording, TODAY, Suppressions()))


def changed(properties: Mapping[str, Any], spoiler: Spoiler) -> dict[str, Any]:
    """A copy with what the spoiler does."""
    spoilt: Any = deepcopy(dict(properties))
    *above, last = spoiler.path
    target = spoilt
    for part in above:
        target = target[part]
    assert target.get(last) != spoiler.to
    if spoiler.to is None:
        del target[last]
    else:
        target[last] = spoiler.to
    return dict(spoilt)


@cache
def spoilt() -> Recording:
    recording = recorded("prod")
    resources = dict(recording.resources)
    for spoiler in SPOILERS:
        token, name = spoiler.resource
        (urn,) = [urn for urn, one in resources.items() if (one.type, one.name) == (token, name)]
        found = resources[urn]
        # What an update would give back: rules of a whole stack read outputs.
        inputs, outputs = (changed(values.plain, spoiler) for values in (found.inputs, found.outputs))
        resources[urn] = replace(found, inputs=Values(inputs), outputs=Values(outputs))
    return replace(recording, resources=resources)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, frozenset[Verdict]]:
    documents = {stack: document(recorded(stack)) for stack in NAMES}
    return scan({**documents, SPOILT: document(spoilt())}, tmp_path_factory.mktemp("checkov"))


def advised(stack: str, identity: str) -> bool:
    """Whether a check does not stop a run of the stack, which is so outside prod alone."""
    rule = BY_NAME.get(identity.partition("/")[0])
    return stack != "prod" and rule is not None and rule.levels.of(stack).value != "mandatory"


def unexplained(stack: str, failed: set[Verdict], today: date) -> list[str]:
    """What Checkov finds and neither a reason of the coverage table nor a suppression of the pack explains."""
    ours = [one for one in recorded(stack) if one.type.startswith("aws:")]
    urns: dict[str, list[str]] = {}
    for one in ours:
        # What is said of a bucket may be written in a resource about it, which is where the pack finds it.
        about = [other.urn for other in ours if one.urn in other.options.property_dependencies.get("bucket", ())]
        urns.setdefault(local_name(one.name), []).extend([one.urn, *about])
    answers, suppressions = coverage.coverage(), load_suppressions(pack.identities())
    found = []
    for verdict in sorted(failed):
        answer = answers.get(verdict.check, "")
        matching = [suppressions.find(one.strip(), urn) for one in answer.split(",") for urn in urns[verdict.name]]
        suppressed = any(one is not None and one.until >= today for one in matching)
        # Outside prod the pack may only advise; there it says so itself.
        suppressed |= verdict.check in NOT_FOR.get(verdict.name, ())
        suppressed |= any(advised(stack, one.strip()) for one in answer.split(","))
        if not suppressed and not answer.startswith(coverage.NOT_APPLICABLE):
            found.append(f"{verdict.check} {verdict.name}: {answer or 'not in policies/external_checks.yaml'}")
    return found


@pytest.mark.parametrize("stack", NAMES)
def test_checkov_finds_nothing_but_what_is_suppressed_or_out_of_scope(
    stack: str, verdicts: Mapping[str, frozenset[Verdict]]
) -> None:
    assert verdicts[stack], "Checkov read nothing"
    assert unexplained(stack, {one for one in verdicts[stack] if not one.passed}, TODAY) == []


@pytest.mark.parametrize("spoiler", SPOILERS, ids=lambda one: one.theirs)
def test_what_was_spoilt_is_found_by_both(spoiler: Spoiler, verdicts: Mapping[str, frozenset[Verdict]]) -> None:
    token, name = spoiler.resource
    (one,) = [found for found in spoilt() if (found.type, found.name) == (token, name)]
    theirs = {
        stack: {found.name for found in verdicts[stack] if found.check == spoiler.theirs and not found.passed}
        for stack in (SPOILT, "prod")
    }
    assert local_name(name) in theirs[SPOILT] - theirs["prod"]
    ours = {identity for identity, urn in violations(SPOILT) - violations("prod") if urn in ("", one.urn)}
    assert spoiler.ours in ours
