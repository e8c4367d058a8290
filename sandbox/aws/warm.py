"""Loading moto's services and the schemas of their types in advance, so that the first stack does not wait for them.

Loading schemas matters only for the first run on a machine, which reads them from the SDK (`schema`); afterwards
all of them take 10 ms.
"""

from __future__ import annotations

import logging
import threading

from sandbox.aws.client import Aws, Clients
from sandbox.aws.limits.operations import OPERATIONS
from sandbox.aws.schema import schema
from sandbox.rpc.errors import ProviderError

LOG = logging.getLogger(__name__)
_LOADED = (("ec2", "describe_vpcs"), ("iam", "list_roles"), ("eks", "list_clusters"), ("sqs", "list_queues"))


def warm(clients: Clients, region: str) -> threading.Thread:
    """Start loading in the background; it takes 1.2 s on two cores, nearly all of it for EC2's images and offerings.

    On a machine's first run, which reads the schemas from the SDK, it takes 2.8 s (2026-11).
    """
    thread = threading.Thread(target=_load, args=(clients, region), name="warm", daemon=True)
    thread.start()
    return thread


def _load(clients: Clients, region: str) -> None:
    aws = Aws(clients, region)
    try:
        for service, operation in _LOADED:
            aws.call(service, operation)
    except ProviderError:
        LOG.exception("loading in advance failed; the first stack will load what it needs")
    for type_token in OPERATIONS:
        schema(type_token)
