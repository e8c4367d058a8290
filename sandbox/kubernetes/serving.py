"""Why a Service answers nothing: what is behind it, and the command that helps."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError, UnreachableError
from sandbox.kubernetes.objects import Object, Ref

DEPLOYMENT: Final = ("apps/v1", "Deployment")
_CONFIGURATIONS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_CALLED: Final = re.compile(r"https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc[:/?]")
"""The URL in the API server's error (k8s.io/apiserver 1.36, pkg/util/webhook/client.go)."""


@dataclass(frozen=True)
class Unanswered:
    """What is wrong, and the next step."""

    cause: str
    fix: str

    def __str__(self) -> str:
        return f"{self.cause}: {self.fix}"


def called(message: str) -> tuple[str, str] | None:
    """Namespace and name of the Service that a failed webhook calls, from the API server's message; None if a URL."""
    match = _CALLED.search(message)
    return (match[2], match[1]) if match else None


def nobody(host: str, port: int) -> str:
    """Of an address that no Service has."""
    return f"no server of the sandbox is behind {host}:{port}"


def look(client: KubeClient, namespace: str, name: str) -> Unanswered | None:
    """Why a Service answers nothing; None if it has ready pods, or can't be read."""
    try:
        service = client.get(Ref("v1", "Service", name, namespace))
        if service is None:
            fix = "install what serves it again, or delete its webhook configuration"
            return Unanswered(f"Service {namespace}/{name} does not exist", fix)
        return unanswered(service, list(client.list(client.discovery.find(*DEPLOYMENT), namespace)))
    except (ApiError, NoSuchKindError, UnreachableError):
        return None


def blocking(client: KubeClient) -> dict[str, Unanswered]:
    """By name, the webhooks that refuse what they are called for, because nobody answers, and why.

    Raises:
        ApiError, UnreachableError: The cluster does not answer.
    """
    found: dict[str, Unanswered] = {}
    for kind in _CONFIGURATIONS:
        for configuration in client.list(client.discovery.find("admissionregistration.k8s.io/v1", kind)):
            for webhook in configuration.get("webhooks") or ():
                service, conditions = webhook["clientConfig"].get("service"), webhook.get("matchConditions") or ()
                # A condition that is never true: the webhook of a controller that does not run here is closed so.
                never = any(each["expression"] == "false" for each in conditions)
                if service is None or never or webhook.get("failurePolicy") == "Ignore":
                    continue
                why = look(client, service["namespace"], service["name"])
                if why is not None:
                    found[str(webhook["name"])] = why
    return found


def unanswered(service: Object, deployments: Sequence[Object]) -> Unanswered | None:
    """The same, of the Service and the Deployments of its namespace."""
    namespace, selector = service["metadata"]["namespace"], service["spec"].get("selector") or {}
    labels = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    behind = [one for one in deployments if selector and _selected(one, selector)]
    if not behind:
        cause = f"no Deployment of namespace {namespace} is behind Service {service['metadata']['name']}"
        return Unanswered(cause, f"`kubectl -n {namespace} get pods -l '{labels}'` lists its pods")
    if any((one.get("status") or {}).get("readyReplicas") and one["spec"].get("replicas") for one in behind):
        return None
    name = behind[0]["metadata"]["name"]
    if all(one["spec"].get("replicas") == 0 for one in behind):
        fix = f"`kubectl -n {namespace} scale deployment {name} --replicas=1`"
        return Unanswered(f"Deployment {namespace}/{name} is scaled to zero", fix)
    fix = f"`kubectl -n {namespace} describe pods -l '{labels}'` says what holds them"
    return Unanswered(f"Deployment {namespace}/{name} has no ready pod", fix)


def _selected(deployment: Object, selector: Mapping[str, Any]) -> bool:
    labels = deployment["spec"]["template"]["metadata"].get("labels") or {}
    return selector.items() <= labels.items()
