"""Values of the load balancer controller."""

from __future__ import annotations

import pulumi_aws as aws

from components.addons.load_balancer_controller import LoadBalancerController
from spec.settings.addons.ingress import LoadBalancerController as Settings
from tests.support.context import seen_parts

RELEASE = "aws-load-balancer-controller"


def test_it_is_told_what_the_metadata_service_would_tell() -> None:
    values = seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]
    assert (values["clusterName"], values["region"]) == ("slipway-test", "us-east-1")
    assert values["vpcId"].startswith("vpc-")


def test_its_certificate_does_not_change_with_every_rendering() -> None:
    assert seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]["keepTLSSecret"] is True


def test_services_of_the_whole_cluster_do_not_depend_on_it() -> None:
    values = seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]
    assert values["enableServiceMutatorWebhook"] is False


def test_nothing_is_open_to_the_internet_unless_it_says_so() -> None:
    assert (
        seen_parts(lambda: LoadBalancerController(Settings())).values[RELEASE]["defaultLoadBalancerScheme"]
        == "internal"
    )


def test_the_role_is_for_the_service_account_that_the_chart_makes() -> None:
    seen = seen_parts(lambda: LoadBalancerController(Settings()))
    association = seen.recording.one(aws.eks.PodIdentityAssociation).inputs
    assert association["serviceAccount"] == seen.values[RELEASE]["serviceAccount"]["name"]
    assert association["namespace"] == "kube-system"


def test_web_acls_are_switched_on_together_with_their_rights() -> None:
    for on in (True, False):
        seen = seen_parts(lambda on=on: LoadBalancerController(Settings(webAcl=on)))  # type: ignore[misc]
        document = seen.recording.one(aws.iam.RolePolicy).inputs["policy"]
        assert seen.values[RELEASE]["enableWafv2"] is on
        assert ("wafv2:AssociateWebACL" in document) is on
