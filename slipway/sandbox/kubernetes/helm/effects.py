"""What containers and controllers of a chart would do while it is installed, and others need.

Hook Jobs run as all Jobs do here: their pods are scheduled and end, and nothing runs in them; nor in the pods of a
controller. Two effects are performed by the sandbox: certificates in Secrets, for which pods wait, and CRDs, by which
custom resources are checked. All other hook Jobs are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from slipway.sandbox.cluster.pki import self_signed
from slipway.sandbox.kubernetes import crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm.chart import Chart
from slipway.sandbox.kubernetes.helm.preview import HOOK, Rendered
from slipway.sandbox.kubernetes.helm.records import ReleaseName
from slipway.sandbox.kubernetes.objects import Object, Ref

MANAGER = "slipway-sandbox"
CERTIFICATE = "Certificate"
CERT_MANAGER = "cert-manager.io"
KEYS = ("tls.crt", "tls.key", "ca.crt")
"""Keys of a Secret of cert-manager (cert-manager.io, "Certificate resource")."""
WEBHOOK_KEYS = ("cert", "key", "ca")
"""Keys of a Secret of kube-webhook-certgen (jet/kube-webhook-certgen and kubernetes/ingress-nginx, cmd/create.go)."""


def perform(client: KubeClient, release: ReleaseName, chart: Chart, rendered: Rendered, *, upgrade: bool) -> list[str]:
    """Perform what others need before the release is installed or upgraded; returns what was done, and what was not."""
    done = [_issue(client, release, each) for each in rendered.objects if _is_certificate(each)]
    done += [
        text for each in rendered.objects if each["kind"] == "Deployment" for text in _rotate(client, release, each)
    ]
    for job in _jobs(rendered.hooks, "pre-upgrade" if upgrade else "pre-install"):
        arguments = list(_arguments(job))
        secret = _option(arguments, "--secret-name")
        if "create" in arguments and secret:
            namespace = _option(arguments, "--namespace") or release.namespace
            hosts = _option(arguments, "--host").split(",")
            _write_secret(client, Ref("v1", "Secret", secret, namespace), hosts, WEBHOOK_KEYS)
            done.append(f"Secret {namespace}/{secret} made, as hook Job {_name(job)} would")
        elif "crd" in _name(job) and chart.crds:
            _apply_crds(client, chart)
            done.append(f"CRDs of the chart applied, as hook Job {_name(job)} would")
        else:
            done.append(f"hook Job {_name(job)} ran without effect")
    for job in _jobs(rendered.hooks, "post-upgrade" if upgrade else "post-install"):
        done.append(f"hook Job {_name(job)} ran without effect")
    return done


def _jobs(hooks: Sequence[Object], event: str) -> Iterator[Object]:
    for hook in hooks:
        events = [each.strip() for each in hook["metadata"]["annotations"][HOOK].split(",")]
        if hook["kind"] == "Job" and event in events:
            yield hook


def _is_certificate(obj: Object) -> bool:
    ref = Ref.of(obj)
    return ref.kind == CERTIFICATE and ref.group == CERT_MANAGER


def _issue(client: KubeClient, release: ReleaseName, certificate: Object) -> str:
    spec = certificate["spec"]
    namespace = str(certificate["metadata"].get("namespace") or release.namespace)
    hosts = [str(host) for host in spec.get("dnsNames") or (spec.get("commonName") or _name(certificate),)]
    secret = Ref("v1", "Secret", str(spec["secretName"]), namespace)
    _write_secret(client, secret, hosts, KEYS)
    return f"Secret {namespace}/{secret.name} made, as cert-manager would for Certificate {_name(certificate)}"


def _rotate(client: KubeClient, release: ReleaseName, deployment: Object) -> Iterator[str]:
    """An operator that creates the certificate of its other Deployments, which mount it: KEDA's, by its arguments."""
    arguments = list(_arguments(deployment))
    name = _option(arguments, "--cert-secret-name")
    if name and "--enable-cert-rotation=true" in arguments:
        namespace = str(deployment["metadata"].get("namespace") or release.namespace)
        hosts = [f"{_name(deployment)}.{namespace}.svc"]
        _write_secret(client, Ref("v1", "Secret", name, namespace), hosts, KEYS)
        yield f"Secret {namespace}/{name} made, as {_name(deployment)} would"


def _write_secret(client: KubeClient, secret: Ref, hosts: Sequence[str], keys: tuple[str, str, str]) -> None:
    """Create the Secret with a certificate unless it exists: neither cert-manager nor certgen replaces a valid one."""
    if client.metadata(secret) is not None:
        return
    certificate, key = self_signed(hosts)
    texts = dict(zip(keys, (certificate, key, certificate), strict=True))
    kind: dict[str, Any] = {"type": "kubernetes.io/tls"} if keys == KEYS else {}
    client.apply({**secret.as_object(), **kind, "stringData": texts}, MANAGER)


def _apply_crds(client: KubeClient, chart: Chart) -> None:
    for crd in chart.crds:
        crds.install(client, crd, MANAGER)


def _arguments(workload: Object) -> Iterator[str]:
    for container in workload["spec"]["template"]["spec"].get("containers") or ():
        yield from map(str, (*(container.get("command") or ()), *(container.get("args") or ())))


def _option(arguments: Sequence[str], name: str) -> str:
    """The value of an option, written `--name=value` or `--name value`; empty if it is missing."""
    for index, argument in enumerate(arguments):
        if argument.startswith(f"{name}="):
            return argument.partition("=")[2]
        if argument == name and index + 1 < len(arguments):
            return arguments[index + 1]
    return ""


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])
