"""AWS Load Balancer Controller: load balancers for Ingresses, Services and Gateways.

Its IAM policy: read everything, create with tags, change what has its cluster's tag.

The upstream policy (iam_policy.json of v3.5.0) allows any cluster and every feature. This one allows one cluster, by
the value of the tag `elbv2.k8s.aws/cluster`, and excludes AWS Shield, WAF Classic, Cognito, IAM server certificates,
local zones and capacity reservations of load balancers.
"""

from collections.abc import Sequence
from typing import Any, Final

import pulumi

from components.base.addon import AddOnContext, ChartAddOn, Permissions
from components.base.iam import Conditions, Inline, Statement, document
from components.base.placement import keeps_one, sized
from spec import strict_yaml
from spec.catalog.software import CHARTS
from spec.settings.addons.ingress import LoadBalancerController as Settings

TAG: Final = "elbv2.k8s.aws/cluster"
"""Tag of everything that the controller creates; its value is the name of the cluster."""

READ: Final = strict_yaml.beside(__file__, "reads")["load-balancer-controller"]
WEB_ACL: Final = ("wafv2:AssociateWebACL", "wafv2:DisassociateWebACL", "wafv2:GetWebACL", "wafv2:GetWebACLForResource")
_BALANCERS: Final = ("loadbalancer/app/*/*", "loadbalancer/net/*/*")
_LISTENERS: Final = ("listener/app/*/*/*", "listener/net/*/*/*")
_RULES: Final = ("listener-rule/app/*/*/*", "listener-rule/net/*/*/*")
_GROUPS: Final = ("targetgroup/*/*",)


def policy(*, cluster: str, partition: str, region: str, account_id: str, web_acl: bool) -> str:
    """The policy document for one cluster.

    Args:
        cluster: Name of the cluster.
        partition: AWS partition.
        region: AWS Region.
        account_id: AWS account.
        web_acl: Whether Ingresses may name a web ACL.
    """
    here = f"{region}:{account_id}"
    group = f"arn:{partition}:ec2:{here}:security-group/*"
    elb = f"arn:{partition}:elasticloadbalancing:{here}:"
    web_acls = Statement(
        "AttachWebAcls", WEB_ACL, [f"arn:{partition}:wafv2:{here}:regional/webacl/*/*", f"{elb}loadbalancer/app/*/*"]
    )
    return document(
        Statement("Read", READ, ["*"]),
        Statement("ReadCertificates", ["acm:DescribeCertificate"], [f"arn:{partition}:acm:{here}:certificate/*"]),
        Statement("ReadGroupsOfVpc", ["ec2:GetSecurityGroupsForVpc"], [f"arn:{partition}:ec2:{here}:vpc/*"]),
        Statement(
            "MakeServiceLinkedRole",
            ["iam:CreateServiceLinkedRole"],
            [f"arn:{partition}:iam::{account_id}:role/aws-service-role/elasticloadbalancing.amazonaws.com/*"],
            conditions={"StringEquals": {"iam:AWSServiceName": ["elasticloadbalancing.amazonaws.com"]}},
        ),
        *_security_groups(cluster, group, f"arn:{partition}:ec2:{here}:vpc/*"),
        *_load_balancers(cluster, elb),
        *((web_acls,) if web_acl else ()),
    )


def _asked(cluster: str) -> Conditions:
    """Condition: the request sets the cluster's tag."""
    return {"StringEquals": {f"aws:RequestTag/{TAG}": [cluster]}}


def _owned(cluster: str) -> Conditions:
    """Condition: the resource has the cluster's tag."""
    return {"StringEquals": {f"aws:ResourceTag/{TAG}": [cluster]}}


def _security_groups(cluster: str, group: str, vpc: str) -> list[Statement]:
    return [
        # EC2 checks the tags of the new group; the VPC doesn't have the tag (Service Authorization Reference).
        Statement("MakeSecurityGroupsInVpc", ["ec2:CreateSecurityGroup"], [vpc]),
        Statement("MakeSecurityGroups", ["ec2:CreateSecurityGroup"], [group], conditions=_asked(cluster)),
        Statement(
            "TagNewSecurityGroups",
            ["ec2:CreateTags"],
            [group],
            conditions={
                "StringEquals": {"ec2:CreateAction": ["CreateSecurityGroup"], f"aws:RequestTag/{TAG}": [cluster]}
            },
        ),
        Statement(
            "TagOwnSecurityGroups",
            ["ec2:CreateTags", "ec2:DeleteTags"],
            [group],
            conditions={**_owned(cluster), "Null": {f"aws:RequestTag/{TAG}": ["true"]}},
        ),
        Statement(
            "ChangeOwnSecurityGroups",
            ["ec2:AuthorizeSecurityGroupIngress", "ec2:DeleteSecurityGroup", "ec2:RevokeSecurityGroupIngress"],
            [group],
            conditions=_owned(cluster),
        ),
        # The nodes' security group must allow the load balancers; EKS creates it and tags it with the cluster's name.
        Statement(
            "OpenNodesToLoadBalancers",
            ["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"],
            [group],
            conditions={"StringEquals": {f"aws:ResourceTag/kubernetes.io/cluster/{cluster}": ["owned"]}},
        ),
    ]


def _load_balancers(cluster: str, elb: str) -> list[Statement]:
    def arns(*kinds: tuple[str, ...]) -> list[str]:
        return [f"{elb}{pattern}" for kind in kinds for pattern in kind]

    created = arns(_BALANCERS, _GROUPS)
    creations = ["CreateListener", "CreateLoadBalancer", "CreateRule", "CreateTargetGroup"]
    return [
        Statement(
            "Make",
            ["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"],
            created,
            conditions=_asked(cluster),
        ),
        Statement(
            "TagWhatIsMade",
            ["elasticloadbalancing:AddTags"],
            [*created, *arns(_LISTENERS, _RULES)],
            conditions={
                "StringEquals": {"elasticloadbalancing:CreateAction": creations, f"aws:RequestTag/{TAG}": [cluster]}
            },
        ),
        Statement(
            "TagOwn",
            ["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"],
            [*created, *arns(_LISTENERS, _RULES)],
            conditions={**_owned(cluster), "Null": {f"aws:RequestTag/{TAG}": ["true"]}},
        ),
        Statement(
            "ChangeOwn",
            [
                *_on(
                    "AddListenerCertificates",
                    "CreateListener",
                    "CreateRule",
                    "DeleteListener",
                    "DeleteLoadBalancer",
                    "DeleteRule",
                    "DeleteTargetGroup",
                    "DeregisterTargets",
                    "ModifyListener",
                    "ModifyListenerAttributes",
                    "ModifyLoadBalancerAttributes",
                    "ModifyRule",
                    "ModifyTargetGroup",
                    "ModifyTargetGroupAttributes",
                    "RegisterTargets",
                    "RemoveListenerCertificates",
                    "SetIpAddressType",
                    "SetRulePriorities",
                    "SetSecurityGroups",
                    "SetSubnets",
                    "SetWebAcl",
                )
            ],
            [*created, *arns(_LISTENERS, _RULES)],
            conditions=_owned(cluster),
        ),
    ]


def _on(*actions: str) -> list[str]:
    return [f"elasticloadbalancing:{action}" for action in actions]


SERVICE_ACCOUNT: Final = "aws-load-balancer-controller"
INGRESS_CLASS: Final = "alb"


class LoadBalancerController(ChartAddOn[Settings]):
    """The controller. Delete Ingresses and Gateways before it: nothing else removes the load balancers it created."""

    name = "load-balancer-controller"
    software = CHARTS["aws-load-balancer-controller"]

    def permissions(self, context: AddOnContext) -> Sequence[Permissions]:
        """Permissions on load balancers of the cluster."""
        cluster = context.cluster
        document = policy(
            cluster=cluster.name,
            partition=cluster.partition,
            region=cluster.region,
            account_id=cluster.account_id,
            web_acl=self.settings.web_acl,
        )
        inline = Inline(document=document)
        return (Permissions(service_account=SERVICE_ACCOUNT, policy=inline, role="load-balancers"),)

    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values for this cluster."""
        return values(
            self.settings,
            cluster=context.cluster.name,
            region=context.cluster.region,
            vpc_id=context.network.vpc_id,
            placement=context.placement,
            monitored=context.monitored,
        )


def values(
    settings: Settings,
    *,
    cluster: str,
    region: str,
    vpc_id: pulumi.Input[str],
    placement: dict[str, Any],
    monitored: bool,
) -> dict[str, Any]:
    """Values of the chart (3.5.0) that differ from its defaults.

    Args:
        settings: Settings of the add-on.
        cluster: Name of the cluster, the value of the tag on its load balancers.
        region: AWS Region; pods can't reach the instance metadata service to get it.
        vpc_id: The VPC, for the same reason.
        placement: `nodeSelector` and `tolerations` of its pods.
        monitored: Whether Prometheus is installed.
    """
    return {
        "replicaCount": settings.replicas,
        "clusterName": cluster,
        "region": region,
        "vpcId": vpc_id,
        "serviceAccount": {"create": True, "name": SERVICE_ACCOUNT},
        "resources": sized("50m", "256Mi"),
        **placement,
        **({"podDisruptionBudget": {"minAvailable": 1}} if keeps_one(settings.replicas) else {}),
        # The chart generates the webhook's certificate when rendered; an upgrade keeps the existing one.
        "keepTLSSecret": True,
        # This webhook fails closed for every Service of the cluster. A Service requests a load balancer with
        # `loadBalancerClass: service.k8s.aws/nlb` instead.
        "enableServiceMutatorWebhook": False,
        "ingressClass": INGRESS_CLASS,
        # Pods have VPC addresses, so traffic goes to them directly and not through another node.
        "defaultTargetType": "ip",
        # Nothing is exposed to the internet unless its Ingress says so.
        "defaultLoadBalancerScheme": "internal",
        "enableShield": False,
        "enableWaf": False,
        "enableWafv2": settings.web_acl,
        "serviceMonitor": {"enabled": monitored},
    }
