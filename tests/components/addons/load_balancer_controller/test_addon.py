"""Values of the load balancer controller."""

from __future__ import annotations

import pulumi_aws as aws

from components.addons.load_balancer_controller import LoadBalancerController
from spec.settings.addons.ingress import LoadBalancerController as Settings
from tests.support.context import seen_parts

RELEASE = "aws-load-balancer-controller"


def test_region_and_vpc_are_set_because_pods_cannot_reach_the_metadata_service() -> None:
    values = seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]
    assert (values["clusterName"], values["region"]) == ("slipway-test", "us-east-1")
    assert values["vpcId"].startswith("vpc-")


def test_its_certificate_is_kept_across_upgrades() -> None:
    assert seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]["keepTLSSecret"] is True


def test_its_service_mutator_webhook_is_disabled() -> None:
    values = seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]
    assert values["enableServiceMutatorWebhook"] is False


def test_load_balancers_are_internal_by_default() -> None:
    assert (
        seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]["defaultLoadBalancerScheme"]
        == "internal"
    )


def test_the_role_is_for_the_charts_service_account() -> None:
    seen = seen_parts(lambda: LoadBalancerController(Settings()))
    association = seen.recording.one(aws.eks.PodIdentityAssociation).inputs
    assert association["serviceAccount"] == seen.values[RELEASE]["serviceAccount"]["name"]
    assert association["namespace"] == "kube-system"


def test_web_acls_are_enabled_together_with_their_permissions() -> None:
    for on in (True, False):
        seen = seen_parts(lambda on=on: LoadBalancerController(Settings(webAcl=on)))  # type: ignore[misc]
        document = seen.recording.one(aws.iam.RolePolicy).inputs["policy"]
        assert seen.values[RELEASE]["enableWafv2"] is on
        assert ("wafv2:AssociateWebACL" in document) is on
