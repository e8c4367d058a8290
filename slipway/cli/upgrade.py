"""`slipway upgrade plan [STACK]`: what an upgrade of Kubernetes breaks, replaces and costs, in order; the way back."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from policies import manifests
from sandbox import CHARTS
from slipway.cli import cluster
from slipway.cli.audit import lines_of
from slipway.cli.check import checked
from slipway.engine.project import find
from slipway.upgrade import world
from slipway.upgrade.plan import plan
from slipway.why import audit
from spec.catalog import kubernetes
from spec.errors import EXIT_FAILURE, SlipwayError, refuse
from spec.settings import Platform


def run(options: argparse.Namespace) -> int:
    """Print the plan; 1 if something is in the way."""
    platform = checked(find(Path.cwd()), options.stack).platform if options.stack else None
    there, unread, served = _cluster(options, platform)
    version = options.source or served or (platform.cluster.version if platform else "")
    if not version:
        refuse(
            "--from: the version of the control plane is needed where no cluster and no stack is named, such as 1.35"
        )
    target = options.to or (kubernetes.next_minor(version) if kubernetes.minor(version) else "")
    for name, one in (("--from", version), ("--to", target)):
        if one not in kubernetes.VERSIONS:
            refuse(f"{name}: a minor version of EKS ({', '.join(kubernetes.VERSIONS)}) is needed (given: {one!r})")
    if target == version:
        refuse(f"--to: another version than the control plane's is needed (given: {target}, which it has)")
    charts = options.dir or (Path(os.environ[CHARTS]) if os.environ.get(CHARTS) else None)
    given: dict[str, Any] = world.of_stack(platform, options.stack, target, charts) if platform else {}
    given["planned"] = [
        *given.get("planned", ()),
        *(one for place in options.manifests for one in manifests.read(place)),
    ]
    given["unread"] = [*unread, *given.get("unread", ())]
    events = [event for name in options.audit for event in audit.events(name, lines_of(name))]
    made = plan(world.World(version=version, target=target, there=there, audit=events, **given))
    print(json.dumps(made.document(), indent=2) if options.json else made.text())
    return EXIT_FAILURE if made.blocked else 0


def _cluster(options: argparse.Namespace, platform: Platform | None) -> tuple[list[world.Object], list[str], str]:
    """Objects of the cluster, what can't be read, and its version: of the sandbox, of the kubeconfig, or of files."""
    if options.objects:
        return [one for place in options.objects for one in manifests.read(place)], [], ""
    try:
        known = [one for one in cluster.contexts() if not platform or one.cluster_name == platform.cluster_name]
        if options.sandbox:
            client = cluster.of_sandbox(platform) if platform else cluster.only_in_sandbox()
        elif known:
            client = known[0].client()
        elif platform is None:
            return [], ["the cluster: there is no kubeconfig, and no --objects"], ""
        else:
            return [], ["the cluster: no kubeconfig here is of it; its nodes, jobs and budgets are not known"], ""
        found, unread = world.of_cluster(client)
        return found, unread, ".".join(client.version().removeprefix("v").split(".")[:2])
    except SlipwayError as error:
        if options.sandbox:
            raise
        return [], [f"the cluster: {error}"], ""
