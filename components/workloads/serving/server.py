"""What every server of a model has, whoever runs it: ports that the network lets in, probes, names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from components.tenancy.network_policies import SERVING_PORTS
from components.workloads.target import Target
from spec.settings.problems import Problem

STARTUP_PERIOD: Final = 10
HOST_LABEL: Final = 63
"""Letters of one part of a host name (RFC 1123)."""


def probes(path: str, port: int, load_seconds: int) -> dict[str, Any]:
    """Probes of a server that loads a model first.

    Until the startup probe has succeeded the others wait, so loading may take its time and a hang later is still found
    within a minute. Readiness is quicker and milder than liveness: a server that is only busy gets no new requests, and
    is not killed.
    """
    get = {"httpGet": {"path": path, "port": port}}
    return {
        "startupProbe": {
            **get,
            "initialDelaySeconds": 10,
            "periodSeconds": STARTUP_PERIOD,
            "failureThreshold": max(1, -(-load_seconds // STARTUP_PERIOD)),
            "timeoutSeconds": 5,
        },
        "readinessProbe": {**get, "periodSeconds": 5, "failureThreshold": 3, "timeoutSeconds": 5},
        "livenessProbe": {**get, "periodSeconds": 20, "failureThreshold": 3, "timeoutSeconds": 10},
    }


def server_problems(path: str, port: int, load_seconds: int, target: Target) -> Iterator[Problem]:
    """What keeps requests and probes from the server."""
    if not path.startswith("/"):
        yield Problem("health_path", "a path begins with /", path, "Write /health.")
    if port not in SERVING_PORTS:
        rule = "the network policies of a team let requests in at the ports of model servers only"
        yield Problem("port", rule, port, f"Use one of {', '.join(map(str, SERVING_PORTS))}.")
    if not 10 <= load_seconds <= 7200:
        rule = "loading a model takes from 10 to 7200 s, after which the server is started anew"
        yield Problem("load_seconds", rule, load_seconds, "Some 1 s for each GB from S3, and a minute for the server.")
    if not target.open:
        rule = "load balancers reach pods of namespaces for serving only"
        fix = "Use a namespace of the team with purpose `serving` or `general`."
        yield Problem("namespace", rule, target.namespace, fix)


def uri_problems(path: str, uri: str) -> Iterator[Problem]:
    """A place of a model that the pod can't read."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not uri.startswith("s3://") or not bucket or not key:
        rule = "a model is in S3: s3://BUCKET/FOLDER"
        yield Problem(path, rule, uri, "Put it into the team's folder of the bucket `models`.")
