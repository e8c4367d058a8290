"""The order of a `destroy` on AWS, and what stops it before anything is removed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from sandbox.kubernetes.client import KubeClient, UnreachableError
from slipway.engine.invocation import Operation, Request
from slipway.teardown.destroy import EXIT_LEFT, Teardown
from slipway.teardown.inside import Emptied
from slipway.teardown.leftovers import BALANCER, INSTANCE, INTERFACE, TEMPLATE, VOLUME, Leftover, LeftoverSearch
from spec.errors import SlipwayError
from tests.spec.settings.stack import loaded

PLATFORM: Final = loaded({"pools.cpu.disruption.terminationGracePeriod": "1h30m"}).platform
REQUEST: Final = Request(operation=Operation.DESTROY, stack="test", yes=True)
HELD: Final = Leftover(INTERFACE, "eni-1")
KINDS: Final = (INSTANCE, BALANCER, INTERFACE, VOLUME, TEMPLATE)


@dataclass
class Aws:
    """An account and a cluster, and what is done to them in order."""

    account: str = PLATFORM.account.id
    cluster: bool = True
    answers: bool = True
    stays: bool = False
    left_inside: tuple[str, ...] = ()
    leftovers: list[Leftover] = field(default_factory=list)
    codes: list[int] = field(default_factory=lambda: [0])
    done: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    seconds: float = 0

    def client(self, service: str) -> Any:
        assert service == "sts"
        return type("Sts", (), {"get_caller_identity": lambda _: {"Account": self.account}})()

    def connect(self) -> KubeClient | None:
        return KubeClient.__new__(KubeClient) if self.cluster else None

    def empty(self, connect: Callable[[], KubeClient], say: Callable[[str], None], seconds: float) -> Emptied:
        assert isinstance(connect(), KubeClient)
        if not self.answers:
            msg = "the API server at https://x does not answer"
            raise UnreachableError(msg)
        self.seconds = seconds
        self.done.append("empty")
        return Emptied(self.left_inside, frozenset({"vol-deleted"}))

    def sweep(
        self, search: LeftoverSearch, wanted: Callable[[Leftover], bool], say: Callable[[str], None]
    ) -> list[Leftover]:
        assert search.cluster == "slipway-test"
        self.done.append("sweep " + " ".join(kind for kind in KINDS if wanted(Leftover(kind, "vol-unknown"))))
        self.leftovers = [one for one in self.leftovers if not wanted(one)]
        return self.leftovers

    def run(self, request: Request) -> int:
        self.requests.append(request)
        self.done.append("engine")
        code = self.codes.pop(0)
        self.cluster = self.cluster and (bool(code) or self.stays)
        return code

    def destroy(self, request: Request = REQUEST, *, delete_volumes: bool = False) -> int:
        return Teardown(
            platform=PLATFORM,
            client=self.client,
            connect=self.connect,
            run=self.run,
            say=self.said.append,
            delete_volumes=delete_volumes,
            empty=self.empty,
            sweep=self.sweep,
            warn=lambda _, left: [f"the key of {one}" for one in left if one.kind == VOLUME],
        ).destroy(request)


EVERYTHING: Final = "sweep instance load balancer network interface launch template"


def test_the_cluster_is_emptied_before_the_engine_and_the_rest_is_removed_after() -> None:
    aws = Aws()
    assert aws.destroy() == 0
    assert aws.done == ["empty", "sweep load balancer", "engine", EVERYTHING]
    assert not aws.requests[0].unreachable


def test_it_waits_as_long_as_the_slowest_pool_may_drain() -> None:
    """340 h of the training pools, and an hour more."""
    aws = Aws()
    aws.destroy()
    assert aws.seconds == 341 * 3600


def test_credentials_of_another_account_remove_nothing() -> None:
    aws = Aws(account="999999999999")
    with pytest.raises(SlipwayError, match="account 999999999999"):
        aws.destroy()
    assert aws.done == []


def test_a_cluster_that_still_keeps_resources_is_not_destroyed() -> None:
    aws = Aws(left_inside=("Service vision/ui",))
    with pytest.raises(SlipwayError, match="  - Service vision/ui"):
        aws.destroy()
    assert aws.done == ["empty"]


def test_a_cluster_that_does_not_answer_is_not_destroyed_unless_it_is_said_to_be_lost() -> None:
    aws = Aws(answers=False)
    with pytest.raises(SlipwayError, match="--unreachable"):
        aws.destroy()
    assert aws.done == []
    lost = Aws(answers=False)
    request = Request(operation=Operation.DESTROY, stack="test", yes=True, unreachable=True)
    assert lost.destroy(request) == 0
    assert lost.done == ["sweep instance load balancer network interface", "engine", EVERYTHING]
    assert lost.requests[0].unreachable


def test_a_cluster_that_is_gone_is_forgotten() -> None:
    gone = Aws(cluster=False)
    assert gone.destroy() == 0
    assert gone.requests[0].unreachable
    assert gone.done[0] == "sweep instance load balancer network interface"


def test_after_a_failure_the_engine_runs_again_if_something_was_in_its_way() -> None:
    aws = Aws(codes=[255, 0], leftovers=[HELD])
    assert aws.destroy() == 0
    assert aws.done.count("engine") == 2
    for_good = Aws(codes=[255])
    assert for_good.destroy() == 255
    assert for_good.done == ["empty", "sweep load balancer", "engine", "sweep "]


def test_what_a_cluster_uses_that_still_exists_is_only_listed() -> None:
    """The engine keeps it, by an argument of its own."""
    leftovers = [Leftover(INSTANCE, "i-1"), Leftover(VOLUME, "vol-deleted")]
    aws = Aws(stays=True, leftovers=list(leftovers))
    assert aws.destroy(delete_volumes=True) == EXIT_LEFT
    assert aws.leftovers == leftovers


def test_volumes_are_deleted_only_if_their_claims_asked_for_it() -> None:
    volumes = [Leftover(VOLUME, "vol-deleted", "vision/a"), Leftover(VOLUME, "vol-unknown", "vision/b")]
    aws = Aws(leftovers=list(volumes))
    assert aws.destroy() == EXIT_LEFT
    assert aws.leftovers == volumes[1:]
    assert "volume vol-unknown (vision/b)" in aws.said[-1]
    assert "--delete-volumes" in aws.said[-1]
    assert aws.said[-1].endswith("the key of volume vol-unknown (vision/b)")
    lost = Aws(cluster=False, leftovers=list(volumes))
    assert lost.destroy() == EXIT_LEFT
    assert lost.leftovers == volumes
    assert Aws(leftovers=list(volumes)).destroy(delete_volumes=True) == 0
