"""Settings for tests, with the keys of a stack file."""

import json
from typing import Any, Final

from spec.settings.cluster import Cluster
from spec.settings.environment import Account
from spec.settings.network import Network
from tests.support.mocks import ACCOUNT, REGION

CLUSTER_NAME: Final = "slipway-test"


def account(region: str = REGION) -> Account:
    return Account.model_validate_json(json.dumps({"id": ACCOUNT, "region": region}))


def network(letters: str = "ab", **more: Any) -> Network:
    """A network across some zones; keys as in a stack file."""
    settings = {"cidr": "10.16.0.0/16", "zones": [f"{REGION}{letter}" for letter in letters], **more}
    return Network.model_validate_json(json.dumps(settings))


def cluster(**more: Any) -> Cluster:
    """A cluster with one administrator; keys as in a stack file."""
    admins = {"principalArn": f"arn:aws:iam::{ACCOUNT}:role/platform-admin", "policy": "AmazonEKSClusterAdminPolicy"}
    return Cluster.model_validate_json(json.dumps({"access": {"platform-admins": admins}, **more}))
