"""The EFA exporter: counters of Elastic Fabric Adapters, which neither node-exporter nor DCGM exports.

Metric names are those of AWS's patched node-exporter (`node_amazonefa_*`), so its dashboards work; that exporter is
published only with the tag `latest` and runs privileged. This one needs neither: a shell script reads the small files
and a web server serves the result. It uses the host network, because the kernel shows the `hw_counters` of an adapter
only in the host's network namespace (Linux, drivers/infiniband/core/sysfs.c; the counters: EC2 User Guide, "Monitor an
Elastic Fabric Adapter on Amazon EC2"; read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from components.base.operator import UNPRIVILEGED, object_with
from components.base.placement import pool_tolerations, sized
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec

NAME: Final = "efa-exporter"
IMAGE: Final = "public.ecr.aws/docker/library/busybox:1.37.0"
"""The official image, mirrored in ECR Public: no rate limits of Docker Hub. Released 2024-09."""
PORT: Final = 9478
PATH: Final = "/metrics.txt"
"""The suffix makes the server send `text/plain`; Prometheus 3 rejects unknown content types."""
SECONDS: Final = 15
ROOT: Final = "/sys/class/infiniband"


def collect(root: str) -> str:
    """Shell script that prints every counter `<device>/ports/<port>/hw_counters/<counter>` below a directory."""
    return f"""\
for file in {root}/*/ports/*/hw_counters/*; do
  [ -r "$file" ] || continue
  IFS=/ read -r device _ port _ counter <<END
${{file#{root}/}}
END
  read -r value < "$file" || continue
  echo "node_amazonefa_$counter{{device=\\"$device\\",port=\\"$port\\"}} $value"
done"""


SCRIPT: Final = f"""\
mkdir -p /tmp/www
httpd -p {PORT} -h /tmp/www
while true; do
{collect(ROOT)} > /tmp/www/metrics.new
mv /tmp/www/metrics.new /tmp/www{PATH}
sleep {SECONDS}
done
"""


def manifest(namespace: str, pools: Mapping[str, PoolSpec]) -> dict[str, Any] | None:
    """The DaemonSet on the EFA pools; None if there are none.

    Args:
        namespace: Its namespace, which must allow host networking.
        pools: All pools by name.
    """
    names = sorted(name for name, pool in pools.items() if pool.efa_count)
    if not names:
        return None
    labels = {"app.kubernetes.io/name": NAME}
    body = {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"rollingUpdate": {"maxUnavailable": "100%"}},
        "template": {"metadata": {"labels": labels}, "spec": _pod(names, pools)},
    }
    return object_with("apps/v1", "DaemonSet", {"name": NAME, "namespace": namespace, "labels": labels}, spec=body)


def _pod(names: list[str], pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": keys.POOL, "operator": "In", "values": names}]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}},
        "tolerations": pool_tolerations(pools, names),
        "hostNetwork": True,
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "exporter",
                "image": IMAGE,
                "command": ["sh", "-c", SCRIPT],
                "ports": [{"name": "metrics", "containerPort": PORT, "hostPort": PORT}],
                "readinessProbe": {"httpGet": {"path": PATH, "port": PORT}},
                "livenessProbe": {"httpGet": {"path": PATH, "port": PORT}, "initialDelaySeconds": SECONDS},
                "resources": sized("10m", "32Mi"),
                "securityContext": {**UNPRIVILEGED, "readOnlyRootFilesystem": True},
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - a volume of its own
            }
        ],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}}],
    }
