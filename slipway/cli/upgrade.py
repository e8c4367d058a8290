"""`slipway upgrade plan [STACK]`: what an upgrade of Kubernetes breaks, replaces and costs, in order; the way back."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

from policies import manifests
from sandbox import CHARTS
from slipway.account.context import reachable, session
from slipway.cli import cluster, offline
from slipway.cli.audit import lines_of
from slipway.cli.check import checked
from slipway.engine.project import find
from slipway.upgrade import world
from slipway.upgrade.plan import plan, text
from slipway.why import audit
from spec.catalog import kubernetes
from spec.errors import EXIT_FAILURE, SlipwayError, refuse
from spec.settings import Platform


def run(options: argparse.Namespace) -> int:
    """Print the plan; 1 if something is in the way."""
    platform = checked(find(Path.cwd()), options.stack).platform if options.stack else None
    there = _there(options, platform)
    version = options.source or there.pop("served", "") or (platform.cluster.version if platform else "")
    target = options.to or (kubernetes.next_minor(version) if kubernetes.minor(version) else "")
    for name, one in (("--from", version), ("--to", target)):
        if one not in kubernetes.VERSIONS or (name, one) == ("--to", version):
            known = ", ".join(each for each in kubernetes.VERSIONS if name == "--from" or each != version)
            refuse(f"{name}: the version of a control plane is needed, one of {known} (given: {one or 'nothing'})")
    charts = options.dir or (Path(os.environ[CHARTS]) if os.environ.get(CHARTS) else None)
    given: dict[str, Any] = world.of_stack(platform, options.stack, target, charts) if platform else {}
    for key, more in there.items():
        given[key] = [*more, *given.get(key, ())] if isinstance(more, list) else more
    given["planned"] = [
        *given.get("planned", ()),
        *(one for place in options.manifests for one in manifests.read(place)),
    ]
    events = [event for name in options.audit for event in audit.events(name, lines_of(name))]
    made = plan(world.World(version=version, target=target, audit=events, **given))
    print(json.dumps(made, indent=2) if options.json else text(made))
    return EXIT_FAILURE if made["blocked"] else 0


def _there(options: argparse.Namespace, platform: Platform | None) -> dict[str, Any]:
    """What is known of the cluster: in the sandbox, of the kubeconfig, or of files; `served` is its version."""
    if options.objects:
        return {"there": [one for place in options.objects for one in manifests.read(place)]}
    try:
        known = [one for one in cluster.contexts() if not platform or one.cluster_name == platform.cluster_name]
        if options.sandbox:
            client = cluster.of_sandbox(platform) if platform else cluster.only_in_sandbox()
        elif known:
            client = known[0].client()
        else:
            return {
                "unread": [
                    "nodes, jobs, budgets of the cluster: no kubeconfig here is of it, and no --objects is given"
                ]
            }
        objects, unread = world.of_cluster(client)
        free = None
        if platform:
            running = offline.find_running() if options.sandbox else None
            with reachable():
                aws = running.client(platform) if running else session(platform.account.region)
                free = world.free_addresses(aws, platform.cluster_name)
        return {"there": objects, "unread": unread, "served": cluster.served_by(client), "free": free}
    except SlipwayError as error:
        if options.sandbox:
            raise
        return {"unread": [f"the cluster: {error}"]}
