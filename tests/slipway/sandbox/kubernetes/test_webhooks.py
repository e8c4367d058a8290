from __future__ import annotations

import json
from typing import Any

from slipway.sandbox.kubernetes.unserved import left_out, prepared
from slipway.sandbox.kubernetes.webhooks import (
    CLOSED,
    CONVERSION,
    WAITS_FOR,
    opened,
    with_conversion,
    without_conversion,
)

SERVICE = ("kueue-system", "kueue-webhook-service")
OTHER = {"service": {"namespace": "elb", "name": "aws-load-balancer-webhook-service"}}
OWN_CONDITION = {"name": "own", "expression": "true"}


def configuration(*configs: dict[str, Any]) -> dict[str, Any]:
    hooks = [{"name": f"h{index}", "clientConfig": config} for index, config in enumerate(configs)]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "kueue"},
        "webhooks": hooks,
    }


def of_kueue(path: str = "/mutate") -> dict[str, Any]:
    return {"service": {"namespace": SERVICE[0], "name": SERVICE[1], "path": path}}


def test_webhooks_of_a_controller_that_runs_stay_as_they_are() -> None:
    obj = configuration(of_kueue(), of_kueue("/other"))
    assert left_out(obj, {"kueue": True}) == ""
    assert prepared(obj, {"kueue": True}) == obj


def test_webhooks_of_a_controller_that_is_not_built_are_closed() -> None:
    obj = configuration(of_kueue())
    obj["webhooks"][0]["matchConditions"] = [OWN_CONDITION]
    assert left_out(obj, {"kueue": False}) == ""
    (hook,) = prepared(obj, {"kueue": False})["webhooks"]
    assert hook["matchConditions"] == [OWN_CONDITION, {"name": CLOSED, "expression": "false"}]


def test_webhooks_of_anything_else_are_left_out() -> None:
    assert left_out(configuration(of_kueue()), {}) == "webhooks of service kueue-system/kueue-webhook-service"
    assert left_out(configuration(of_kueue()), {"jobset": True}) != ""
    both = configuration(of_kueue(), OTHER)
    assert "aws-load-balancer" in left_out(both, {"kueue": True})
    assert left_out({**both, "webhooks": []}, {"kueue": True}) == ""


def test_a_running_controller_opens_its_webhooks_alone() -> None:
    closed = prepared(configuration(of_kueue()), {"kueue": False})
    closed["webhooks"].append({"name": "other", "clientConfig": OTHER, "matchConditions": [OWN_CONDITION]})
    hooks = opened(closed, lambda service: service == SERVICE, lambda _: "")
    assert hooks[0] == {"name": "h0", "clientConfig": of_kueue()}
    assert hooks[1] == closed["webhooks"][1]
    assert opened(closed, lambda _: False, lambda _: "") == closed["webhooks"]


def test_the_bundle_of_a_certificate_that_the_sandbox_issued_is_set() -> None:
    obj = configuration(of_kueue())
    obj["webhooks"][0]["clientConfig"]["caBundle"] = "old"
    (hook,) = opened(obj, lambda _: True, lambda _: "new")
    assert hook["clientConfig"]["caBundle"] == "new"
    (hook,) = opened(obj, lambda _: True, lambda _: "")
    assert hook["clientConfig"]["caBundle"] == "old"


def test_a_closed_conversion_opens_again() -> None:
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": of_kueue("/convert")}}
    crd = {"metadata": {"name": "queues", "labels": {"a": "b"}}, "spec": {"group": "x", "conversion": conversion}}
    closed = without_conversion(crd, "kueue")
    assert closed["spec"] == {"group": "x"}
    assert closed["metadata"]["labels"] == {"a": "b", WAITS_FOR: "kueue"}
    assert json.loads(closed["metadata"]["annotations"][CONVERSION]) == conversion
    patch = with_conversion(closed["metadata"])
    assert patch["spec"] == {"conversion": conversion}
    assert patch["metadata"] == {"labels": {WAITS_FOR: None}, "annotations": {CONVERSION: None}}
