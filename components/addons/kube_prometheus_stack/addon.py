"""kube-prometheus-stack as Helm releases, with the platform's alerts, monitors and dashboards."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from components.addons.kube_prometheus_stack.alertmanager import SERVICE_ACCOUNT, publish
from components.addons.kube_prometheus_stack.values import CRDS_ONLY, NAMESPACE, values
from components.base.addon import AddOn, AddOnContext, ChartRelease, Namespace, Parts, Permissions
from components.base.iam import Inline
from components.observability import dashboards, efa, monitors, rules
from components.observability.notifications import topic_arn
from spec.catalog.charts import KUBE_PROMETHEUS_STACK
from spec.settings.addons.cost import Opencost
from spec.settings.addons.observability import KubePrometheusStack as Settings

RELEASE: Final = "kube-prometheus-stack"
CRDS: Final = f"{RELEASE}-crds"
"""Release with only the chart's CRDs, so that add-ons with a monitor don't depend on Prometheus (docs/adr/0048)."""


class KubePrometheusStack(AddOn[Settings]):
    """Metrics, alerts and dashboards. Its namespace is privileged because node-exporter reads from the host."""

    name: ClassVar[str] = "kube-prometheus-stack"
    namespace: ClassVar[Namespace] = Namespace(name=NAMESPACE, enforce="privileged")

    def parts(self, context: AddOnContext) -> Parts:
        """Two releases of one chart; rules and monitors, which need its CRDs, and dashboards."""
        topic = topic_arn(context.platform)
        permissions = (
            [
                Permissions(
                    service_account=SERVICE_ACCOUNT,
                    policy=Inline(document=publish(topic, context)),
                    role="alertmanager",
                )
            ]
            if topic
            else []
        )
        chart_values = values(self.settings, context, topic=topic)
        return Parts(
            permissions=permissions,
            before=dashboards.manifests(NAMESPACE),
            releases=[
                ChartRelease(ref=KUBE_PROMETHEUS_STACK, release_name=CRDS, values=CRDS_ONLY, crds_only=True),
                ChartRelease(
                    ref=KUBE_PROMETHEUS_STACK, release_name=RELEASE, values=chart_values, skip_crds=True, volumes=True
                ),
            ],
            objects=self._objects(context),
        )

    def _objects(self, context: AddOnContext) -> dict[str, dict[str, Any]]:
        exporter = efa.manifest(NAMESPACE, context.pools)
        ruled = rules.manifests(
            NAMESPACE,
            self.settings.alerts,
            context.pools,
            opencost=context.platform.addons.has(Opencost),
            budgets={name: team.budget_usd for name, team in context.platform.teams.items() if team.budget_usd},
        )
        watched = monitors.manifests(NAMESPACE, efa=exporter is not None)
        return {**ruled, **watched, **({"efa-exporter": exporter} if exporter else {})}
