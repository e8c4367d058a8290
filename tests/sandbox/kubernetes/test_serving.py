"""Why a Service answers nothing."""

from typing import Any

import pytest

from sandbox.kubernetes.serving import called, unanswered

SERVICE = {"metadata": {"name": "hooks", "namespace": "kueue-system"}, "spec": {"selector": {"app": "kueue"}}}
DOWN = (
    'failed calling webhook "mjob.kb.io": failed to call webhook: Post '
    '"https://hooks.kueue-system.svc:443/mutate-batch-v1-job?timeout=10s": no endpoints available for service "hooks"'
)


def deployment(replicas: int, ready: int = 0, app: str = "kueue") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": app, "more": "yes"}}}
    return {
        "metadata": {"name": "manager", "namespace": "kueue-system"},
        "spec": {"replicas": replicas, "template": template},
        "status": {"readyReplicas": ready} if ready else {},
    }


def test_the_service_of_a_failed_call() -> None:
    assert called(DOWN) == ("kueue-system", "hooks")
    assert called('Post "https://127.0.0.1:9443/deny": connection refused') is None


@pytest.mark.parametrize(
    ("deployments", "expected"),
    [
        (
            [deployment(0)],
            (
                "Deployment kueue-system/manager is scaled to zero: "
                "`kubectl -n kueue-system scale deployment manager --replicas=1`"
            ),
        ),
        (
            [deployment(1)],
            (
                "Deployment kueue-system/manager has no ready pod: "
                "`kubectl -n kueue-system describe pods -l 'app=kueue'` says what holds them"
            ),
        ),
        (
            [deployment(1, 1, app="other")],
            (
                "no Deployment of namespace kueue-system is behind Service hooks: "
                "`kubectl -n kueue-system get pods -l 'app=kueue'` lists its pods"
            ),
        ),
        ([deployment(0), deployment(2, 1)], "None"),
    ],
)
def test_what_is_behind_a_service(deployments: list[dict[str, Any]], expected: str) -> None:
    assert str(unanswered(SERVICE, deployments)) == expected
