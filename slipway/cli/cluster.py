"""Clients of clusters: in the sandbox, on AWS, and by the user's own kubeconfig."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

from spec.errors import SlipwayError

if TYPE_CHECKING:
    from slipway.sandbox.kubernetes.client import KubeClient
    from spec.settings import Platform


def client_of(kubeconfig: Path, cluster: str) -> KubeClient | None:
    """The admin's client of a cluster in the sandbox; None if the kubeconfig lacks it."""
    import yaml  # noqa: PLC0415 - `slipway --help` needs none of it

    from slipway.sandbox.kubernetes.client import KubeClient  # noqa: PLC0415 - as above

    try:
        document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    except OSError:
        return None
    for entry in document.get("clusters") or ():
        if entry["name"] == cluster:
            authority = b64decode(entry["cluster"]["certificate-authority-data"]).decode()
            return KubeClient(entry["cluster"]["server"], authority, document["users"][0]["user"]["token"])
    return None


def connect(platform: Platform, *, simulated: bool) -> KubeClient:
    """A client of the stack's cluster: in the sandbox the administrator's, on AWS that of the current credentials.

    Raises:
        SlipwayError: There is no such cluster.
    """
    return of_sandbox(platform) if simulated else of_aws(platform)


def of_sandbox(platform: Platform) -> KubeClient:
    """A client of a stack's cluster in the sandbox.

    Raises:
        SlipwayError: The sandbox does not run, or has no such cluster.
    """
    from slipway.cli import offline  # noqa: PLC0415 - process control, which AWS doesn't need

    sandbox = offline.find_running()
    client = client_of(sandbox.kubeconfig, platform.cluster_name) if sandbox else None
    if client is None:
        command = f"slipway up {platform.environment.name} --sandbox"
        msg = f"the sandbox has no cluster {platform.cluster_name}: run `{command}` first"
        raise SlipwayError(msg)
    return client


def of_aws(platform: Platform) -> KubeClient:
    """A client of a stack's cluster on AWS, with the credentials of the AWS CLI.

    Raises:
        SlipwayError: EKS has no such cluster, or can't be reached.
    """
    from slipway.account.context import reachable, session  # noqa: PLC0415 - boto3 takes 0.3 s
    from slipway.teardown.access import connect  # noqa: PLC0415 - as above

    region = platform.account.region
    with reachable():
        client = connect(session(region)("eks"), platform.cluster_name, region)
    if client is None:
        command = f"slipway up {platform.environment.name}"
        msg = f"EKS has no cluster {platform.cluster_name} in {region}: run `{command}` first"
        raise SlipwayError(msg)
    return client
