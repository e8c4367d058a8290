"""`slipway import [FILES...]`: what a cluster has, as a folder that the sandbox makes a cluster of."""

import argparse
import json
import secrets
from collections.abc import Iterator
from typing import Any

from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from slipway.cli import cluster
from slipway.imported.folder import Writer, facts_of, summary
from slipway.imported.keep import Names
from slipway.imported.sources import of_cluster, of_files
from spec.errors import fail, refuse


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print what is in it."""
    if options.files and (options.context or options.sandbox):
        refuse("a cluster is imported from files, or by --context or --sandbox: leave one out")
    writer = Writer(Names(secrets.token_bytes(32) if options.anonymous else b""))
    if options.files:
        writer.write(of_files(options.files), options.out)
    else:
        client = cluster.only_in_sandbox() if options.sandbox else _client(options.context)
        try:
            answer = client.get_path("/version")
            # What a server emulates is what it serves; EKS writes a minor version of 35 as `35+`.
            writer.version = f"1.{str(answer.get('emulationMinor') or answer['minor']).rstrip('+')}"
            writer.write(_placed(client, writer.unread), options.out)
        except (ApiError, UnreachableError) as error:
            fail(f"the cluster can't be read: {error}", error)
    facts = facts_of(options.out)
    print(json.dumps(facts, indent=2) if options.json else "\n".join([*summary(facts), f"written to {options.out}"]))
    return 0


def _placed(client: KubeClient, unread: dict[str, str]) -> Iterator[tuple[str, Any]]:
    return (("the cluster", one) for one in of_cluster(client, unread))


def _client(name: str | None) -> KubeClient:
    """A client of a context of the kubeconfig, by default of the current one."""
    known = cluster.contexts()
    wanted = [one for one in known if name in (None, one.name)]
    if not wanted:
        names = ", ".join(one.name for one in known) or "no kubeconfig is here: set KUBECONFIG, or name files"
        refuse(f"--context: it must be one of the kubeconfig (given: {name or 'none'}). There are: {names}")
    return wanted[0].client()
