"""Reading a stack's state."""

import pytest

from slipway.engine.state import StackResource, counts, parse
from spec.errors import SlipwayError
from tests.slipway.engine.fake import exported, resource

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"


def test_protected_resources_and_pending_operations_are_read() -> None:
    state = parse(
        exported(
            resource(VPC, "network-vpc", protect=True),
            resource(SUBNET, "network-private-a"),
            pending=[{"type": "creating", "resource": resource(SUBNET, "network-private-b")}],
        )
    )
    assert [one.name for one in state.protected] == ["network-vpc"]
    assert state.pending == (f"creating urn:pulumi:dev::slipway::{SUBNET}::network-private-b",)


def test_counts_are_by_service_and_kind_without_components_and_providers() -> None:
    state = parse(
        exported(
            {"urn": "urn:pulumi:dev::slipway::pulumi:pulumi:Stack::slipway-dev", "type": "pulumi:pulumi:Stack"},
            {"urn": "urn:pulumi:dev::slipway::slipway:network:Network::network", "type": "slipway:network:Network"},
            resource("pulumi:providers:aws", "aws"),
            resource(VPC, "network-vpc"),
            resource(SUBNET, "network-private-a"),
            resource(SUBNET, "network-private-b"),
            resource("kubernetes:core/v1:Namespace", "team"),
        )
    )
    assert counts(state) == {"ec2": {"Subnet": 2, "Vpc": 1}, "kubernetes": {"Namespace": 1}}
    assert list(counts(state)) == ["ec2", "kubernetes"]


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        (VPC, "ec2 Vpc"),
        ("kubernetes:karpenter.sh/v1:NodePool", "kubernetes NodePool"),
        ("kubernetes:helm.sh/v3:Release", "kubernetes Release"),
        ("pulumi:providers:aws", "provider aws"),
        ("slipway:network:Network", "slipway Network"),
    ],
)
def test_a_type_token_is_shown_as_service_and_kind(token: str, kind: str) -> None:
    assert StackResource(urn="urn:pulumi:dev::slipway::x::y", type=token).kind == kind


@pytest.mark.parametrize("document", ['{"version": 3, "deployment": {}}', '{"version": 3, "deployment": null}'])
def test_a_stack_that_was_never_brought_up_is_empty(document: str) -> None:
    assert parse(document).resources == ()


@pytest.mark.parametrize("document", ["", "[]", "{}", '{"deployment": {"resources": [{"type": "x"}]}}', "error: no"])
def test_a_document_that_is_not_an_export_is_refused(document: str) -> None:
    with pytest.raises(SlipwayError, match="not a stack's state"):
        parse(document)
