"""The API server of a stack's EKS cluster, with the credentials of the AWS CLI."""

import base64
import json
import subprocess
from typing import Any, Final

from sandbox.kubernetes.client import KubeClient
from spec.errors import fail

TIMEOUT: Final = 60


def connect(eks: Any, cluster: str, region: str) -> KubeClient | None:
    """A client of the cluster, valid for 14 minutes (EKS User Guide, "get-token"); None if there is no such cluster."""
    try:
        described = eks.describe_cluster(name=cluster)["cluster"]
    except eks.exceptions.ResourceNotFoundException:
        return None
    authority = base64.b64decode(described["certificateAuthority"]["data"]).decode()
    return KubeClient(described["endpoint"], authority, _token(cluster, region))


def _token(cluster: str, region: str) -> str:
    argv = ["aws", "eks", "get-token", "--cluster-name", cluster, "--region", region, "--output", "json"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        return str(json.loads(done.stdout)["status"]["token"])
    except OSError as error:
        fail("the AWS CLI is not on PATH: install it, as the kubeconfig of the cluster needs it too", error)
    except (subprocess.SubprocessError, ValueError, KeyError) as error:
        text = (getattr(error, "stderr", None) or str(error)).strip()
        fail(f"`{' '.join(argv)}` gave no token: {text}", error)
