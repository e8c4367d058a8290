"""The shutdown of a node whose instance EC2 takes back.

A kubelet with a graceful node shutdown ends its pods (kubernetes.io, "Node Shutdowns"). Nodes of AL2023 have it from
Kubernetes 1.34 on (awslabs/amazon-eks-ami, nodeadm/internal/kubelet/config.go, `withVersionToggles`); pods of other
nodes are running in the API until the pod garbage collector finds that their node is gone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.errors import ApiError
from slipway.sandbox.kubernetes.objects import Object, Ref

MANAGER: Final = "slipway-sandbox-kubelet"
MESSAGE: Final = "Pod was terminated in response to imminent node shutdown."
"""Message of the pods, whose reason is Terminated (kubernetes v1.36, pkg/kubelet/nodeshutdown)."""
_IMAGE: Final = "al2023@"
_SINCE: Final = (1, 34)
_TERMINATED: Final = 143


def graceful(node_class: Mapping[str, Any], kubernetes: str) -> bool:
    """Whether nodes of a class and a Kubernetes version, `1.36`, shut down gracefully."""
    terms = node_class["spec"].get("amiSelectorTerms") or ()
    major, minor = (int(part) for part in kubernetes.split(".")[:2])
    return (major, minor) >= _SINCE and any(str(term.get("alias") or "").startswith(_IMAGE) for term in terms)


def shut_down(client: KubeClient, name: str, *, graceful: bool) -> None:
    """End a node's pods, if it is graceful, and its kubelet. Raises ApiError."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    if graceful:
        pods = client.discovery.find("v1", "Pod")
        for pod in list(client.list(pods, fields=f"spec.nodeName={name},status.phase=Running")):
            try:
                client.apply(ended(pod, now), MANAGER, force=True, subresource="status")
            except ApiError as error:
                # Its job or its Deployment has removed it meanwhile.
                if not error.not_found:
                    raise
    reference = Ref("v1", "Node", name).as_object()
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    ready = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "node is shutting down"}
    client.apply(
        {**reference, "status": {"conditions": [{**ready, **times}]}}, MANAGER, force=True, subresource="status"
    )


def ended(pod: Object, now: str) -> Object:
    """The status of a pod that a node's shutdown ended."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": MESSAGE}
    not_ready = [{"type": each, "status": "False", "reason": "PodFailed"} for each in ("ContainersReady", "Ready")]
    return {
        **Ref("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"]).as_object(),
        "status": {
            "phase": "Failed",
            "reason": "Terminated",
            "message": MESSAGE,
            "conditions": [{**each, "lastTransitionTime": now} for each in (condition, *not_ready)],
            "containerStatuses": [
                {
                    **{key: one[key] for key in ("name", "image", "imageID", "restartCount")},
                    "ready": False,
                    "started": False,
                    "state": {"terminated": {"exitCode": _TERMINATED, "reason": "Error", "finishedAt": now}},
                }
                for one in statuses
            ],
        },
    }
