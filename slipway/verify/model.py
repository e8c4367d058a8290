"""A small model that KServe serves in a team's namespace, and a Job there that asks it for a prediction.

The model is the one of KServe's guide "Deploying TensorFlow Models with KServe": a classifier of flowers in a public
bucket. It runs on CPUs, on the platform's own runtime `tensorflow`.
"""

import base64
import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from components.tenancy.network_policies import SERVES
from components.workloads.metadata import metadata
from components.workloads.target import Target
from infra.target import target_of
from sandbox.kubernetes.objects import Object
from slipway.verify.checks import CheckStatus, ClusterCheck, Observed, admitted, message, placed
from slipway.verify.probes import LABEL, Probe, cheapest, queue, short_job
from spec.pools.resolution import resolve_all
from spec.settings.platform import Platform

NAME: Final = "slipway-verify-model"
RUNTIME: Final = "tensorflow"
URI: Final = "gs://kfserving-examples/models/tensorflow/flowers"
"""The model of KServe's guide (kserve.github.io, "Deploying TensorFlow Models with KServe", read 2026-11-22)."""
IMAGE: Final = "public.ecr.aws/amazonlinux/amazonlinux:2023"
"""With curl (Amazon Linux 2023 User Guide, "Package changes for curl and libcurl")."""
PUBLIC_SECONDS: Final = 300
"""How long the load balancer may take to reach the model after it answers inside the cluster."""
ASK: Final = Path(__file__).with_name("ask.sh").read_text(encoding="utf-8")


@dataclass(frozen=True)
class ModelProbe(Probe):
    """A model and the Job that asks it."""

    url: str = ""  # address of the model for those outside of the cluster; empty if it has none over HTTPS


def of_model(platform: Platform, deadline: int, uri: str = URI) -> list[ModelProbe]:
    """The model in the first namespace of a team that may serve; none if the stack can't serve it.

    Args:
        uri: Where the model is: another address of the same model.
    """
    kserve, pools = platform.addons.kserve, resolve_all(platform)
    if kserve is None or RUNTIME not in kserve.runtimes:
        return []
    for team, settings in sorted(platform.teams.items()):
        pool = cheapest(settings, {name: each for name, each in pools.items() if each.plain})
        spaces = [name for name, space in settings.namespaces_of(team).items() if space.purpose in SERVES]
        if settings.retired or pool is None or not spaces:
            continue
        target = target_of(platform, namespace=spaces[0])
        # Network policies of a team allow HTTPS to a load balancer, and nothing on port 80.
        public = kserve.https and kserve.ingress != "none"
        url = f"https://{NAME}-{target.namespace}.{kserve.ingress_domain}" if public else ""
        job = short_job(NAME, target.namespace, pool, {}, deadline, command=ASK)
        if target.queue:
            queue(job)
        container = job["spec"]["template"]["spec"]["containers"][0]
        container["image"] = IMAGE
        container["env"] = [{"name": name, "value": value} for name, value in _variables(target, url).items()]
        container["volumeMounts"] = [{"name": "scratch", "mountPath": "/tmp"}]  # noqa: S108 - in the container
        job["spec"]["template"]["spec"]["volumes"] = [{"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}}]
        model = service(target, uri)
        return [
            ModelProbe(
                f"model ({target.namespace})", pool, job, {}, queued=bool(target.queue), before=(model,), url=url
            )
        ]
    return []


def service(target: Target, uri: str) -> Object:
    """The InferenceService."""
    priority = "production-inference" if "production-inference" in target.priorities else target.priorities[-1]
    notes = {
        "serving.kserve.io/deploymentMode": "Standard",
        "serving.kserve.io/autoscalerClass": "none",
        "alb.ingress.kubernetes.io/healthcheck-path": f"/v1/models/{NAME}",
    }
    predictor = {
        "labels": {LABEL: "true"},
        "priorityClassName": priority,
        "serviceAccountName": target.service_account,
        "minReplicas": 1,
        "maxReplicas": 1,
        "model": {"modelFormat": {"name": RUNTIME}, "runtime": RUNTIME, "storageUri": uri},
    }
    meta = metadata(NAME, target, queued_as=priority, annotations=notes, more={LABEL: "true"})
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": meta,
        "spec": {"predictor": predictor},
    }


def request() -> str:
    """A prediction of one picture (tensorflow.org, "TensorFlow Serving RESTful API"): grey, 8 x 8, PNG, which the
    model's `decode_jpeg` reads as well (tensorflow.org, "tf.io.decode_jpeg")."""
    side = 8
    rows = b"".join(b"\0" + b"\x80" * 3 * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    picture = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return json.dumps({"instances": [{"image_bytes": {"b64": base64.b64encode(picture).decode()}, "key": "1"}]})


def of_model_probe(probe: ModelProbe, seen: Observed, *, simulated: bool) -> Iterator[ClusterCheck]:
    """The checks of the model."""
    subject, what = probe.subject, "the API server admits an InferenceService and a Job that asks it"
    if seen.missing:
        status = CheckStatus.NEEDS_AWS if simulated else CheckStatus.FAILED
        yield ClusterCheck(subject, what, status, f"the API server does not serve {seen.missing}")
        return
    if seen.refused:
        yield ClusterCheck(subject, what, CheckStatus.FAILED, seen.refused)
        return
    yield ClusterCheck(subject, what, CheckStatus.PASSED)
    answers = ["the model answers inside the cluster", *([f"the model answers at {probe.url}"] if probe.url else [])]
    queue = admitted(probe, seen)
    if queue is not None:
        yield queue
    if simulated:
        if queue is None or queue.status is CheckStatus.PASSED:
            status = CheckStatus.PASSED if seen.node and placed(seen.node, probe) else CheckStatus.FAILED
            yield ClusterCheck(subject, f"its Job is placed on pool {probe.pool.name}", status, seen.why)
        yield from (
            ClusterCheck(subject, each, CheckStatus.NEEDS_AWS, "no container runs in the sandbox") for each in answers
        )
        return
    lines = message(seen).splitlines()
    inside = "inside 200" in lines and any('"predictions"' in line for line in lines)
    why = message(seen) or seen.why or "no answer in time"
    yield ClusterCheck(subject, answers[0], CheckStatus.PASSED if inside else CheckStatus.FAILED, "" if inside else why)
    if probe.url:
        outside = next((line for line in lines if line.startswith("outside ")), "")
        passed = outside.startswith("outside 200")
        yield ClusterCheck(
            subject, answers[1], CheckStatus.PASSED if passed else CheckStatus.FAILED, "" if passed else outside or why
        )


def _variables(target: Target, url: str) -> dict[str, Any]:
    path = f"/v1/models/{NAME}:predict"
    return {
        "REQUEST": request(),
        "INSIDE": f"http://{NAME}-predictor.{target.namespace}{path}",
        "OUTSIDE": f"{url}{path}" if url else "",
        "PUBLIC_SECONDS": str(PUBLIC_SECONDS),
    }
