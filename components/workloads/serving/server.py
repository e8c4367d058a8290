"""Shared by all model servers: allowed ports, probes, names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from components.tenancy.network_policies import SERVING_PORTS
from components.workloads.target import Target
from spec.settings.problems import Problem

STARTUP_PERIOD: Final = 10
HOST_LABEL: Final = 63
"""Maximum length of one label of a host name (RFC 1123)."""


def probes(path: str, port: int, load_seconds: int) -> dict[str, Any]:
    """Probes of a server that loads a model first.

    The other probes start after the startup probe succeeds, so loading can take long and a later hang is still detected
    within a minute. Readiness fails earlier than liveness: a busy server gets no new requests, but isn't killed.
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
    """Settings with which requests or probes wouldn't reach the server."""
    if not path.startswith("/"):
        yield Problem("health_path", "a path must begin with /", path, "Write /health.")
    if port not in SERVING_PORTS:
        rule = "the network policies of a team allow requests only to the ports of model servers"
        yield Problem("port", rule, port, f"Use one of {', '.join(map(str, SERVING_PORTS))}.")
    if not 10 <= load_seconds <= 7200:
        rule = "the time to load a model must be from 10 to 7200 s, after which the server is restarted"
        yield Problem(
            "load_seconds", rule, load_seconds, "Allow about 1 s per GB from S3, and a minute for the server."
        )
    if not target.open:
        rule = "load balancers reach pods only in namespaces for serving"
        fix = "Use a namespace of the team with purpose `serving` or `general`."
        yield Problem("namespace", rule, target.namespace, fix)


def uri_problems(path: str, uri: str) -> Iterator[Problem]:
    """A URI of a model that the pod can't read."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not uri.startswith("s3://") or not bucket or not key:
        rule = "a model must be in S3: s3://BUCKET/FOLDER"
        yield Problem(path, rule, uri, "Put it into the team's folder of the bucket `models`.")
