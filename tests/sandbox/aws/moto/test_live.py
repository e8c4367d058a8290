"""Work behind the objects of EKS, and its order."""

import threading

from sandbox.aws.moto import live
from sandbox.aws.moto.server import start
from tests.support.patience import SECONDS


def test_an_api_server_is_restarted_once_the_work_in_its_cluster_has_ended() -> None:
    reported: list[str] = []
    goes_on, ended = threading.Event(), threading.Event()

    def said(word: str) -> None:
        reported.append(word)
        if len(reported) == 3:
            ended.set()

    def update() -> str:
        assert goes_on.wait(SECONDS)
        return "the group"

    live.of_group("lab", "workers", update, said, said)
    live.of_cluster("lab", lambda: "the cluster", said, said)
    live.of_group("lab", "workers", lambda: "the group again", said, said)
    other = threading.Event()
    live.of_cluster("other", lambda: None, lambda _: other.set(), said)
    assert other.wait(SECONDS), "another cluster waits for nothing of it"
    assert reported == []
    goes_on.set()
    assert ended.wait(SECONDS)
    assert reported == ["the group", "the cluster", "the group again"]


def test_a_cluster_that_ends_does_not_wait_for_what_is_in_it() -> None:
    goes_on, gone, updated = threading.Event(), threading.Event(), threading.Event()
    live.of_group("lab", "workers", lambda: goes_on.wait(SECONDS), lambda _: updated.set(), print)
    live.of_cluster("lab", lambda: None, lambda _: gone.set(), print, ends=True)
    assert gone.wait(SECONDS)
    goes_on.set()
    assert updated.wait(SECONDS)


def test_a_server_that_stops_leaves_one_that_started_after_it_in_place() -> None:
    first, second = start(), start()
    first.stop()
    assert live.behind().clients is second.clients
    second.stop()
