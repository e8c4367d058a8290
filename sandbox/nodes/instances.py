"""The instances that Karpenter launches, to the shutdown of those that EC2 takes back."""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sandbox.errors import SandboxError
from sandbox.files import write_atomically
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import Follower, Watch
from sandbox.nodes import ec2, health
from sandbox.nodes.groups import GROUP, Selectors, Subnet
from sandbox.nodes.karpenter import machine_of
from sandbox.nodes.machine import types
from sandbox.nodes.spec import NodeSpec, Taint, node

LOG = logging.getLogger(__name__)
MANAGER: Final = "slipway-sandbox-ec2"
CLAIMS: Final = "/apis/karpenter.sh/v1/nodeclaims"
CLASSES: Final = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
NODES: Final = "/api/v1/nodes"
CATALOGS: Final = "ec2"
"""Folder of the sandbox's home with what EC2 sells, a file for each region."""
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
POOL: Final = "karpenter.sh/nodepool"
IMAGE: Final = "sandbox.slipway/ami-hash"
"""Annotation of a NodeClaim: its AMI, which the sandbox's Karpenter compares with that of its class."""
INTERRUPTION: Final = "sandbox.slipway/spot-interruption"
"""Annotation of a Node: when EC2 takes its Spot instance back (RFC 3339)."""
UNREGISTERED: Final = Taint("karpenter.sh/unregistered", "NoExecute")
"""A kubelet registers with this taint, which Karpenter removes (karpenter v1.14.1, pkg/apis/v1/taints.go)."""


class Instances(Follower):
    """Follows the NodeClaims of one cluster."""

    def __init__(
        self,
        client: KubeClient,
        kubernetes: str,
        home: Path,
        subnets: Callable[[Selectors], list[Subnet]],
        ended: Callable[[str], None] = lambda _: None,
        repairs: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`kubernetes` is the version of nodes, `home` the sandbox's; `subnets` finds those that a class selects;
        `ended` gets the name of a node of a group whose instance EC2 has ended, when another would be ready; `repairs`
        says of a group's name whether EKS replaces its unhealthy nodes."""
        self._client = client
        self._kubernetes = kubernetes
        self._home = home
        self._subnets = subnets
        self._ended = ended
        self._repairs = repairs
        self._lock = threading.Lock()
        self._timers: dict[str, threading.Timer] = {}
        self._watches = (
            Watch(client, CLASSES, self._class),
            Watch(client, CLAIMS, self._claim),
            Watch(client, NODES, self._node),
        )

    def stop(self) -> None:
        """End, with what was to happen later."""
        super().stop()
        with self._lock:
            timers = list(self._timers.values())
        for timer in timers:
            timer.cancel()

    def _class(self, change: str, node_class: Object) -> None:
        """Write the subnets that a class selects into its status, for Karpenter's provider, as AWS's does by itself."""
        found = self._subnets(node_class["spec"].get("subnetSelectorTerms") or ())
        listed = [{"id": one.id, "zone": one.zone, "zoneID": one.zone_id} for one in found]
        if change == "DELETED" or listed == ((node_class.get("status") or {}).get("subnets") or []):
            return
        directory = self._home / CATALOGS
        directory.mkdir(exist_ok=True)
        for region in {one.region for one in found}:
            write_atomically(directory / f"{region}.json", json.dumps(types(region)))
        reference = Ref("karpenter.k8s.aws/v1", "EC2NodeClass", node_class["metadata"]["name"]).as_object()
        self._client.apply({**reference, "status": {"subnets": listed}}, MANAGER, force=True, subresource="status")

    def _claim(self, change: str, claim: Object) -> None:
        name, uid = claim["metadata"]["name"], claim["metadata"]["uid"]
        if change == "DELETED":
            self._cancel(uid)
            self._client.delete(Ref("v1", "Node", name))
        elif (
            condition(claim, "Launched").get("status") == "True"
            and condition(claim, "Registered").get("status") != "True"
        ):
            launched = _time(condition(claim, "Launched")["lastTransitionTime"])
            self._at(uid, launched.timestamp() + ec2.read(self._home).launch_seconds, lambda: self._register(claim))
        elif condition(claim, "Registered").get("status") == "True":
            self._compare(claim)

    def _compare(self, claim: Object) -> None:
        """After an upgrade a class selects another AMI, unless it names one by ID (Karpenter, "Drift", AMIs)."""
        there = self._client.get(Ref("v1", "Node", claim["metadata"]["name"])) or {}
        version = ((there.get("status") or {}).get("nodeInfo") or {}).get("kubeletVersion", f"v{self._kubernetes}.")
        if version.startswith(f"v{self._kubernetes}.") or not claim["metadata"]["annotations"].get(IMAGE):
            return
        name = claim["spec"]["nodeClassRef"]["name"]
        node_class = self._client.get(Ref("karpenter.k8s.aws/v1", "EC2NodeClass", name)) or {"spec": {}}
        if not any("id" in one for one in node_class["spec"].get("amiSelectorTerms") or ()):
            reference = Ref.of({**claim, "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim"})
            self._client.merge(reference, {"metadata": {"annotations": {IMAGE: ""}}})

    def _register(self, claim: Object) -> None:
        """What the kubelet does first, unless the instance is gone by now."""
        live = self._client.get(Ref.of({**claim, "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim"}))
        if live is None or live["metadata"].get("deletionTimestamp"):
            return
        reference = live["spec"]["nodeClassRef"]
        node_class = self._client.get(Ref("karpenter.k8s.aws/v1", "EC2NodeClass", reference["name"]))
        wanted = node(node_of(live, node_class, self._kubernetes))
        self._client.ensure(wanted, MANAGER)
        status = {**Ref.of(wanted).as_object(), "status": wanted["status"]}
        self._client.apply(status, MANAGER, force=True, subresource="status")

    def _node(self, change: str, found: Object) -> None:
        deadline = (found["metadata"].get("annotations") or {}).get(INTERRUPTION)
        uid = found["metadata"]["uid"]
        if change == "DELETED":
            self._cancel(uid)
        elif deadline:
            self._at(uid, _time(deadline).timestamp(), lambda: self._reclaim(found))
        elif (broken := health.to_repair(found)) and self._repairs(found["metadata"].get("labels", {}).get(GROUP, "")):
            self._at(uid, broken, lambda: self._reclaim(found))

    def _reclaim(self, found: Object) -> None:
        """The instance ends, by EC2 or by EKS that repairs a group; its Node goes, as the cloud controller manager sees
        to it."""
        ref = Ref("v1", "Node", found["metadata"]["name"])
        if self._client.get(ref) is None:
            return
        reference = found["metadata"].get("labels", {}).get(POOL, "")
        pool = self._client.get(Ref("karpenter.sh/v1", "NodePool", reference)) if reference else None
        shut_down(self._client, ref.name, graceful=self._graceful(pool))
        self._client.delete(ref)
        if not reference:
            time.sleep(ec2.read(self._home).launch_seconds)
            self._ended(ref.name)

    def _graceful(self, pool: Object | None) -> bool:
        if pool is None:
            return False
        name = pool["spec"]["template"]["spec"]["nodeClassRef"]["name"]
        node_class = self._client.get(Ref("karpenter.k8s.aws/v1", "EC2NodeClass", name))
        return node_class is not None and graceful(node_class, self._kubernetes)

    def _at(self, uid: str, moment: float, act: Callable[[], None]) -> None:
        """Act once at a moment; further calls for the same object change nothing."""

        def run() -> None:
            try:
                act()
            except (SandboxError, ApiError) as error:
                LOG.warning("%s", error)

        with self._lock:
            if uid not in self._timers:
                timer = threading.Timer(max(0.0, moment - time.time()), run)
                timer.daemon = True
                self._timers[uid] = timer
                timer.start()

    def _cancel(self, uid: str) -> None:
        with self._lock:
            timer = self._timers.pop(uid, None)
        if timer is not None:
            timer.cancel()


def node_of(claim: Mapping[str, Any], node_class: Mapping[str, Any] | None, kubernetes: str) -> NodeSpec:
    """The node of a launched NodeClaim; it has the claim's name, where AWS has a DNS name."""
    labels = {str(key): str(value) for key, value in (claim["metadata"].get("labels") or {}).items()}
    machine = machine_of(labels[INSTANCE_TYPE], node_class, {})
    taints = [*(claim["spec"].get("taints") or ()), *(claim["spec"].get("startupTaints") or ())]
    return NodeSpec(
        name=claim["metadata"]["name"],
        owner=f"nodepool/{labels.get(POOL, '')}",
        instance_type=machine.name,
        arch=machine.arch,
        kubernetes=kubernetes,
        capacity=machine.capacity(labels),
        allocatable=machine.allocatable(labels),
        labels=labels,
        taints=(*(Taint(each["key"], each["effect"], each.get("value") or "") for each in taints), UNREGISTERED),
        zone=labels.get(ZONE, ""),
        instance_id=claim["status"]["providerID"].rpartition("/")[2],
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


# The shutdown of a node whose instance EC2 takes back.
#
# A kubelet with a graceful node shutdown ends its pods (kubernetes.io, "Node Shutdowns"). Nodes of AL2023 have it from
# Kubernetes 1.34 on (awslabs/amazon-eks-ami, nodeadm/internal/kubelet/config.go, `withVersionToggles`); pods of other
# nodes are running in the API until the pod garbage collector finds that their node is gone.

KUBELET: Final = "slipway-sandbox-kubelet"
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
                client.apply(ended(pod, now), KUBELET, force=True, subresource="status")
            except ApiError as error:
                # Its job or its Deployment has removed it meanwhile.
                if not error.not_found:
                    raise
    reference = Ref("v1", "Node", name).as_object()
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    ready = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "node is shutting down"}
    client.apply(
        {**reference, "status": {"conditions": [{**ready, **times}]}}, KUBELET, force=True, subresource="status"
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
