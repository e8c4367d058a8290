"""`slipway sandbox capacity|reclaim|expire`: what EC2 and time do to the nodes that Karpenter launches."""

import argparse
import json
from typing import Final

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.nodes import ec2
from sandbox.nodes.ec2 import Ec2, Refusal
from slipway.cli import offline
from slipway.cli.cluster import client_of
from slipway.trial.events import interrupt
from spec import strict_yaml
from spec.catalog import instances
from spec.errors import SlipwayError, fail
from spec.pools.keys import CAPACITY_TYPE

ALL: Final = "all"
CLAIM: Final = ("karpenter.sh/v1", "NodeClaim")


def capacity(options: argparse.Namespace) -> int:
    """Change what EC2 has no capacity for, and show it."""
    sandbox = offline.require_running()
    settings = ec2.read(sandbox.home)
    changed = _changed(settings, options)
    if changed != settings:
        ec2.write(sandbox.home, changed)
    if options.json:
        refused = [
            {"instanceType": one.instance_type, "zone": one.zone, "capacityType": one.capacity_type}
            for one in changed.refused
        ]
        print(json.dumps({"refused": refused, "launchSeconds": changed.launch_seconds}, indent=2))
        return 0
    print("EC2 has no capacity for:" if changed.refused else "EC2 has capacity for every type in every zone")
    for one in changed.refused:
        print(f"  {one.text}")
    print(f"a node registers {changed.launch_seconds:g} s after its launch")
    return 0


def _changed(settings: Ec2, options: argparse.Namespace) -> Ec2:
    if options.launch_seconds is not None:
        settings = Ec2(settings.refused, options.launch_seconds)
    for name in (options.refuse, options.restore):
        if name and name != ALL and instances.find(name) is None:
            near = instances.closest(name)
            fail(f"the catalog has no instance type {name!r}{f': did you mean {near}?' if near else ''}")
    if options.refuse:
        return settings.refuse(_refusal(options.refuse, options))
    return settings.restore(_refusal(options.restore, options)) if options.restore else settings


def _refusal(name: str, options: argparse.Namespace) -> Refusal:
    return Refusal("" if name == ALL else name, options.zone, options.market)


def reclaim(options: argparse.Namespace) -> int:
    """EC2 gives notice that it takes a Spot node back."""
    client, node = _find(options.node)
    if node["metadata"].get("labels", {}).get(CAPACITY_TYPE) != "spot":
        fail(f"node {options.node} is no Spot node of Karpenter: see `kubectl get nodes -L {CAPACITY_TYPE}`")
    deadline = interrupt(client, options.node, options.notice)
    print(f"EC2 takes node {options.node} back at {deadline}, in {options.notice:g} s; Karpenter drains it until then")
    return 0


def expire(options: argparse.Namespace) -> int:
    """A node reaches its `expireAfter`."""
    client, _ = _find(options.node)
    claim = client.get(Ref(*CLAIM, options.node))
    if claim is None:
        fail(f"node {options.node} is not one that Karpenter launched: no other expires")
    # As Karpenter's controller does at the time (karpenter v1.14.1, pkg/controllers/nodeclaim/expiration).
    client.delete(Ref(*CLAIM, options.node))
    grace = claim["spec"].get("terminationGracePeriod")
    print(f"node {options.node} drains, {f'for at most {grace}' if grace else 'without a limit'}")
    return 0


def _find(name: str) -> tuple[KubeClient, Object]:
    """The cluster of a node. Raises SlipwayError."""
    sandbox = offline.require_running()
    document = strict_yaml.one(strict_yaml.text_of(sandbox.kubeconfig))
    for cluster in document.get("clusters") or ():
        client = client_of(sandbox.kubeconfig, cluster["name"])
        node = client.get(Ref("v1", "Node", name)) if client is not None else None
        if client is not None and node is not None:
            return client, node
    msg = f"no cluster of the sandbox has a node {name}: list them with kubectl get nodes"
    raise SlipwayError(msg)
