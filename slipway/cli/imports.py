"""`slipway import [FILES...]`: what a cluster has, as a folder that the sandbox makes a cluster of."""

import argparse
import json
import secrets

from sandbox.assembly import ANY_REGION
from sandbox.aws.client import DEFAULT_ACCOUNT, credentials
from sandbox.aws.existing_cluster import control_plane
from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from sandbox.kubernetes.helm.chart import Charts
from slipway.account.context import reachable, session
from slipway.cli import cluster, offline
from slipway.cli.output import Progress
from slipway.cli.sandbox import settled
from slipway.imported.copy import NAME, Copy
from slipway.imported.folder import Folder, facts_of, require_new, summary
from slipway.imported.keep import Names
from slipway.imported.sources import of_cluster, of_files
from spec.catalog import kubernetes
from spec.errors import EXIT_FAILURE, fail, refuse


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print what is in it."""
    if options.files and (options.context or options.sandbox):
        refuse("a cluster is imported from files, or by --context or --sandbox: leave one out")
    require_new(options.out)
    folder = Folder(Names(secrets.token_bytes(32) if options.anonymous else b""))
    if options.files:
        folder.add(of_files(options.files))
    else:
        client = cluster.only_in_sandbox() if options.sandbox else _client(options.context)
        try:
            folder.version = cluster.served_by(client)
            folder.add(of_cluster(client, folder.unread))
        except (ApiError, UnreachableError) as error:
            fail(f"the cluster can't be read: {error}", error)
    facts = folder.write(options.out)
    print(json.dumps(facts, indent=2) if options.json else "\n".join([*summary(facts), f"written to {options.out}"]))
    return 0


def start(options: argparse.Namespace) -> int:
    """Start the sandbox with the cluster of a folder; 1 if some of its objects are refused there."""
    facts, folder = facts_of(options.source), Folder(Names())
    folder.add(of_files([options.source]))
    objects = [one for each in folder.objects.values() for one in each]
    sandbox = offline.start(Progress())
    if cluster.client_of(sandbox.kubeconfig, NAME) is not None:
        refuse(f"the sandbox has a cluster {NAME} already: `slipway sandbox stop` deletes it, with all else there")
    regions = (
        (one["metadata"].get("labels") or {}).get("topology.kubernetes.io/region")
        for one in objects
        if one["kind"] == "Node"
    )
    region, endpoint = next(filter(None, regions), ANY_REGION), sandbox.variables["AWS_ENDPOINT_URL"]
    client = session(region, credentials(endpoint, DEFAULT_ACCOUNT, region), endpoint)
    subnets = sorted(client("ec2").describe_subnets()["Subnets"], key=lambda one: one["AvailabilityZone"])[:2]
    version = next((one for one in kubernetes.VERSIONS if one == facts.get("version")), kubernetes.DEFAULT)
    with reachable():
        control_plane(client, NAME, [one["SubnetId"] for one in subnets], version)
    made = cluster.client_of(sandbox.kubeconfig, NAME)
    assert made is not None  # noqa: S101 - it is active
    copy = Copy(made, objects, Progress())
    copy.install(Charts(sandbox.charts))
    settled()
    print(f"{copy.put():,} objects are in cluster {NAME}, Kubernetes {version}: `slipway why --sandbox` asks it")
    for why, count in copy.refused.most_common():
        print(f"  not created: {count:,} {why}")
    return EXIT_FAILURE if copy.refused else 0


def _client(name: str | None) -> KubeClient:
    """A client of a context of the kubeconfig, by default of the current one."""
    known = {one.name: one for one in cluster.contexts()}
    wanted = name or next(iter(known), "")
    if wanted not in known:
        names = ", ".join(known) or "none: set KUBECONFIG, or name files"
        refuse(f"--context: it must be one of the kubeconfig, {names} (given: {wanted or 'none'}). Name another one.")
    return known[wanted].client()
