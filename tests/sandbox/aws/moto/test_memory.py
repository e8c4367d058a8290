"""Moto's memory is the same after it was written and read."""

import threading
from typing import Any

import pytest
from moto.iam.models import get_account_id_from, iam_backends
from moto.kms.models import kms_backends

from sandbox.aws.client import Aws, Clients, keys
from sandbox.aws.moto import memory
from sandbox.errors import SandboxError
from tests.sandbox.aws.samples import SAMPLES, World
from tests.sandbox.conftest import forget


def test_every_object_is_read_as_it_was(world: World) -> None:
    made: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {}
    for token, sample in sorted(SAMPLES.items()):
        objects = world.objects(token)
        inputs = objects.checked(sample.inputs(world))
        made[token] = (*objects.create(inputs), inputs)

    def answer(token: str) -> Any:
        found = world.objects(token).read(*made[token])
        # It follows the clock (moto 5.2.5, rds/models.py, latest_restorable_time).
        return found and {**vars(found), "outputs": {**found.outputs, "latestRestorableTime": None}}

    before = {token: answer(token) for token in made}
    backend = kms_backends[world.aws.account][world.aws.region]
    written = memory.dumped(("more", backend))
    forget(world.aws.account)
    assert answer("aws:ec2/vpc:Vpc") is None
    more, same = memory.load(written)
    assert set(iam_backends[world.aws.account].keys()) == {"aws"}
    assert {token: answer(token) for token in made} == before
    assert None not in before.values()
    # What else was saved refers to the account's own objects.
    assert more == "more"
    assert same is kms_backends[world.aws.account][world.aws.region]


def test_a_session_is_of_its_account_still(clients: Clients, account: str) -> None:
    """In an account without roles and users, the keys of a session alone say which account it is of."""
    aws = Aws(clients, "us-west-2", account)
    key = keys(aws)["AWS_ACCESS_KEY_ID"]
    written = memory.dumped()
    forget(account)
    assert get_account_id_from(key) != account
    memory.load(written)
    assert get_account_id_from(key) == account


def test_what_can_not_be_written_is_named(world: World) -> None:
    with pytest.raises(SandboxError, match=r"something that can't be saved: .*thread"):
        memory.dumped(threading.local())
    assert memory.load(memory.dumped(threading.Lock())).acquire()
