"""A destroy that did not end: what the engine dropped with a resource that still exists is in the state again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slipway.engine.invocation import Invocation
from slipway.engine.skipped import put_back, with_skipped
from tests.slipway.engine import states

CLUSTER = "urn:pulumi:dev::slipway::aws:eks/cluster:Cluster::cluster"
KEY = "urn:pulumi:dev::slipway::aws:kms/key:Key::key"
PROVIDER = "urn:pulumi:dev::slipway::pulumi:providers:kubernetes::in-cluster"
COMPONENT = "urn:pulumi:dev::slipway::slipway:index:Team::vision"
NAMESPACE = "urn:pulumi:dev::slipway::kubernetes:core/v1:Namespace::vision"
POOL = "urn:pulumi:dev::slipway::kubernetes:karpenter.sh/v1:NodePool::l4"


def resource(urn: str, *, custom: bool = True, **more: Any) -> dict[str, Any]:
    return {"urn": urn, "type": urn.split("::")[2], "custom": custom, "parent": states.STACK, **more}


STACK = states.things(0)[0]
BEFORE = [
    STACK,
    resource(CLUSTER, id="dev"),
    resource(KEY, id="1234"),
    resource(PROVIDER, id="p", dependencies=[CLUSTER]),
    resource(COMPONENT, custom=False),
    resource(POOL, id="l4", provider=f"{PROVIDER}::p"),
    resource(
        NAMESPACE, id="vision", provider=f"{PROVIDER}::p", deletedWith=CLUSTER,
        dependencies=[KEY, CLUSTER], propertyDependencies={"metadata": [KEY]},
    )
    | {"parent": COMPONENT},
]  # fmt: skip


def after(*urns: str, pending: str = "") -> tuple[list[str], dict[str, Any], int]:
    """URNs of the state that follows from one with these, its resources by URN, and how many came back."""
    there = [STACK, *(one for one in BEFORE if one["urn"] in urns)]
    deployment: dict[str, Any] = {"resources": there}
    if pending:
        deployment["pending_operations"] = [{"type": "creating", "resource": {"urn": pending}}]
    document, count = with_skipped(BEFORE, json.dumps({"version": 3, "deployment": deployment}))
    resources = json.loads(document)["deployment"]["resources"]
    return [one["urn"] for one in resources], {one["urn"]: one for one in resources}, count


def test_objects_of_a_cluster_that_exists_come_back_with_what_the_engine_alone_knows() -> None:
    urns, by_urn, count = after(CLUSTER)
    assert urns == [states.STACK, CLUSTER, PROVIDER, COMPONENT, NAMESPACE]
    assert count == 1
    namespace = by_urn[NAMESPACE]
    assert (namespace["id"], namespace["deletedWith"]) == ("vision", CLUSTER)
    assert namespace["dependencies"] == [CLUSTER]
    assert namespace["propertyDependencies"] == {"metadata": []}


def test_what_is_in_the_state_stays_as_it_is() -> None:
    urns, _, count = after(CLUSTER, KEY, PROVIDER, COMPONENT, POOL, NAMESPACE)
    assert (urns, count) == ([one["urn"] for one in BEFORE], 0)


def test_without_the_cluster_its_objects_are_gone() -> None:
    assert after(KEY)[0] == [states.STACK, KEY]
    assert with_skipped(BEFORE, '{"version": 3, "deployment": {}}') == ('{"version": 3, "deployment": {}}', 0)


def test_an_object_with_an_open_operation_is_left_to_it() -> None:
    assert NAMESPACE not in after(CLUSTER, pending=NAMESPACE)[0]


def test_the_engine_imports_the_completed_state_and_nothing_else() -> None:
    imported: list[dict[str, Any]] = []

    def engine(
        invocation: Invocation, *, output: Path | None = None, interrupted: Callable[[], None] = lambda: None
    ) -> int:
        assert invocation.argv[:-1] == ("stack", "import", "--stack", "dev", "--file")
        imported.append(json.loads(Path(invocation.argv[-1]).read_text(encoding="utf-8")))
        return 0

    def destroyed(*urns: str) -> None:
        document = {"version": 3, "deployment": {"resources": [one for one in BEFORE if one["urn"] in urns]}}
        before = json.dumps({"version": 3, "deployment": {"resources": BEFORE}})
        put_back(
            before, lambda: json.dumps(document), lambda words: Invocation(tuple(words), {}, Path()), engine, "dev"
        )

    destroyed(states.STACK)
    assert imported == []
    destroyed(states.STACK, CLUSTER)
    assert NAMESPACE in {one["urn"] for one in imported[0]["deployment"]["resources"]}
