"""What hook Jobs of a chart would do while it is installed.

They run as all Jobs do here: their pods are scheduled and end, and nothing runs in them. CRDs are applied in their
place, because custom resources are checked by them; certificates are made when a pod waits for one
(`slipway.sandbox.nodes.certificates`). All other hook Jobs are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from slipway.sandbox.kubernetes import crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm.chart import Chart
from slipway.sandbox.kubernetes.helm.preview import HOOK, Rendered
from slipway.sandbox.kubernetes.objects import Object

MANAGER: Final = "slipway-sandbox"
CERTGEN: Final = "kube-webhook-certgen"
"""Image of the Jobs of charts that make the certificate of a webhook (kubernetes/ingress-nginx, images)."""


def perform(client: KubeClient, chart: Chart, rendered: Rendered, *, upgrade: bool) -> list[str]:
    """Perform what others need before the release is installed or upgraded; returns what was done, and what was not."""
    done = []
    for job in _jobs(rendered.hooks, "pre-upgrade" if upgrade else "pre-install"):
        if _makes_certificate(job):
            continue
        if "crd" in _name(job) and chart.crds:
            for crd in chart.crds:
                crds.install(client, crd, MANAGER)
            done.append(f"CRDs of the chart applied, as hook Job {_name(job)} would")
        else:
            done.append(f"hook Job {_name(job)} ran without effect")
    for job in _jobs(rendered.hooks, "post-upgrade" if upgrade else "post-install"):
        if not _makes_certificate(job):
            done.append(f"hook Job {_name(job)} ran without effect")
    return done


def _jobs(hooks: Sequence[Object], event: str) -> Iterator[Object]:
    for hook in hooks:
        events = [each.strip() for each in hook["metadata"]["annotations"][HOOK].split(",")]
        if hook["kind"] == "Job" and event in events:
            yield hook


def _makes_certificate(job: Object) -> bool:
    return any(CERTGEN in container["image"] for container in job["spec"]["template"]["spec"]["containers"])


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
