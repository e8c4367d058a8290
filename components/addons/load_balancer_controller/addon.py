"""The AWS Load Balancer Controller as a Helm release, with permissions on resources with its cluster's tag."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import pulumi

from components.addons.load_balancer_controller.policy import policy
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts, Permissions
from components.base.iam import Inline
from components.base.placement import system_placement
from components.base.sizing import keeps_one, scraped, sized
from spec.catalog.charts import LOAD_BALANCER_CONTROLLER
from spec.settings.addons.ingress import LoadBalancerController as Settings

SERVICE_ACCOUNT: Final = "aws-load-balancer-controller"
INGRESS_CLASS: Final = "alb"


class LoadBalancerController(AddOn[Settings]):
    """The controller. Delete Ingresses and Gateways before it: nothing else removes the load balancers it created."""

    name: ClassVar[str] = "load-balancer-controller"
    namespace: ClassVar[Namespace] = Namespace(name="kube-system", enforce=None)

    def parts(self, context: AddOnContext) -> Parts:
        """Permissions and one release."""
        cluster = context.cluster
        document = policy(
            cluster=cluster.name,
            partition=cluster.partition,
            region=cluster.region,
            account_id=cluster.account_id,
            web_acl=self.settings.web_acl,
        )
        chart_values = values(
            self.settings,
            cluster=cluster.name,
            region=cluster.region,
            vpc_id=context.network.vpc_id,
            placement=system_placement(context),
            monitored=scraped(context),
        )
        return Parts(
            permissions=[
                Permissions(service_account=SERVICE_ACCOUNT, policy=Inline(document=document), role="load-balancers")
            ],
            releases=[ChartRelease(ref=LOAD_BALANCER_CONTROLLER, release_name=SERVICE_ACCOUNT, values=chart_values)],
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
