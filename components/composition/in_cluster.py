"""The API server and Prometheus for the scripts of CronJobs; it imports the standard library alone."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SECONDS = 30
CONFLICT = 409


Body = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


class Api(Protocol):
    """The API server."""

    def __call__(self, method: str, path: str, body: Body = None) -> dict[str, Any]:
        """The answer to a request; a PATCH has the `patch_type` of its body, and a POST of an object that is there
        changes nothing.

        Raises OSError if it refuses the request or does not answer.
        """


def patch_type(body: Body) -> str:
    """Content type of a patch: an object is a merge patch (RFC 7386), a list a JSON patch (RFC 6902)."""
    return "application/merge-patch+json" if isinstance(body, Mapping) else "application/json-patch+json"


def in_cluster(method: str, path: str, body: Body = None) -> dict[str, Any]:
    """The API server, as the pod's account."""
    kind = patch_type(body) if method == "PATCH" else "application/json"
    token = (CREDENTIALS / "token").read_text(encoding="utf-8")
    request = urllib.request.Request(
        f"https://kubernetes.default.svc{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": kind},
    )
    trust = ssl.create_default_context(cafile=str(CREDENTIALS / "ca.crt"))
    try:
        with urllib.request.urlopen(request, timeout=SECONDS, context=trust) as reply:  # noqa: S310 - https
            answer: dict[str, Any] = json.load(reply)
            return answer
    except urllib.error.HTTPError as error:
        if method == "POST" and error.code == CONFLICT:
            return {}
        raise


def ask(prometheus: str, query: str) -> list[dict[str, Any]]:
    """Samples of an instant query. Raises OSError if Prometheus refuses it or does not answer."""
    url = f"{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    with urllib.request.urlopen(url, timeout=SECONDS) as reply:  # noqa: S310 - the program wrote it
        result: list[dict[str, Any]] = json.load(reply)["data"]["result"]
        return result


def warn(api: Api, of: Mapping[str, Any], reason: str, text: str, now: datetime, *, by: str, once: str = "") -> None:
    """Write a Warning event of an object, which `kubectl describe` shows.

    Args:
        api: The API server.
        of: `apiVersion`, `kind`, `name`, `uid` and `namespace` of the object.
        reason: One word in CamelCase.
        text: What happened, and what to do.
        now: When.
        by: The component that says it.
        once: Name of the event, if it is not to be written again while the API server keeps it (an hour).
    """
    moment, space = f"{now:%Y-%m-%dT%H:%M:%SZ}", of["namespace"]
    named = {"name": once} if once else {"generateName": f"{of['name']}-"}
    body = {
        "metadata": {**named, "namespace": space},
        "involvedObject": {key: of[key] for key in ("apiVersion", "kind", "name", "uid", "namespace")},
        "type": "Warning",
        "reason": reason,
        "message": text,
        "source": {"component": by},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
    api("POST", f"/api/v1/namespaces/{space}/events", body)
