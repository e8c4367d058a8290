"""Checks of all pods: resources, image, security, priority."""

import re
from collections.abc import Iterator

from components.workloads.checks.fit import Spec, choice, fit_problems, need
from components.workloads.pods import REGISTERED, STAGING
from components.workloads.target import Target
from spec.jobs import SPOT_NOTICE_SECONDS
from spec.pools import keys
from spec.quantities import is_amount, parse
from spec.settings.addons.tracking import Mlflow
from spec.settings.problems import Problem

_REGISTERED = re.compile(r"models:/[^/@\s]+(/\d+|@[^/@\s]+)")
_TAGGED = re.compile(r"(?P<name>[^@\s]+?)(:(?P<tag>[\w][\w.-]*))?(?P<digest>@sha256:[0-9a-f]{64})?")


def pod_problems(path: str, spec: Spec, target: Target, *, at_once: int = 1) -> Iterator[Problem]:
    """All problems of a pod, independent of the controller."""
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind, ()):
            yield from _container(f"{path}.{kind}.{container['name']}", container)
    yield from _staged(path, spec, target)
    yield from _gpus(path, spec)
    yield from _security(path, spec)
    yield from _priority(path, spec, target)
    yield from _shared_memory(path, spec)
    yield from fit_problems(path, spec, target, at_once=at_once)


def _claims(spec: Spec) -> set[str]:
    return {each["name"] for each in spec.get("volumes") or () if "persistentVolumeClaim" in each}


def writes(spec: Spec) -> bool:
    """Whether a pod may write to a volume claim."""
    mounts = (mount for one in spec.get("containers") or () for mount in one.get("volumeMounts") or ())
    return bool(_claims(spec) & {mount["name"] for mount in mounts if not mount.get("readOnly")})


def spot_problems(path: str, spec: Spec, target: Target) -> Iterator[Problem]:
    """Problems of a pod on Spot nodes, with which an interruption would lose its work."""
    pools = choice(spec, target).pools
    spot = [name for name, pool in pools.items() if pool.may_be_spot]
    if not spot:
        return
    if not writes(spec):
        rule = f"AWS can interrupt nodes of Spot pool {spot[0]} at any time: a job there must write to a volume claim"
        fix = f"Mount the claim {target.claims.get('checkpoints', 'checkpoints')}, or use a pool that is not Spot."
        yield Problem(f"{path}.volumes", rule, sorted(_claims(spec)) or None, fix)
    grace = spec.get("terminationGracePeriodSeconds", 30)
    if grace > SPOT_NOTICE_SECONDS:
        rule = f"a Spot node is terminated {SPOT_NOTICE_SECONDS} s after the interruption notice"
        yield Problem(f"{path}.grace_seconds", rule, grace, "Write the last checkpoint within two minutes.")


def _container(path: str, container: Spec) -> Iterator[Problem]:
    yield from image_problems(f"{path}.image", container["image"])
    resources = container.get("resources", {})
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for name in ("cpu", "memory"):
        if name not in requests and name not in limits:
            yield Problem(f"{path}.resources.requests", f"{name} must be requested", None, "Set a request.")
    if "memory" not in limits:
        rule = "memory must have a limit, or one pod can use all memory of the node"
        yield Problem(f"{path}.resources.limits", rule, None, "Set the limit to the request.")
    for name in sorted({**requests, **limits}):
        yield from _amount(f"{path}.resources[{name}]", name, requests.get(name), limits.get(name))


def _amount(path: str, name: str, request: str | int | None, limit: str | int | None) -> Iterator[Problem]:
    amounts = [amount for amount in (request, limit) if amount is not None]
    for amount in amounts:
        if not is_amount(amount):
            yield Problem(path, "an amount must be a Kubernetes quantity", amount, "Write 500m, 4, 16Gi.")
            return
    device = "/" in name
    if device and limit is None:
        yield Problem(path, "a device needs a limit; a request alone is refused", request, "Set the limit.")
    elif device and request is not None and parse(request) != parse(limit or 0):
        rule = "request and limit of a device must be equal"
        yield Problem(path, rule, f"request {request}, limit {limit}", "Set both to the same number.")
    elif request is not None and limit is not None and parse(request) > parse(limit):
        yield Problem(
            path, "a request must not exceed the limit", f"request {request}, limit {limit}", "Raise the limit."
        )
    if device and any(parse(amount) % 1 for amount in amounts):
        fix = "For a fraction of a GPU use a MIG instance or a pool with shared GPUs."
        yield Problem(path, "the number of devices must be an integer", amounts[0], fix)


def image_problems(path: str, image: str) -> Iterator[Problem]:
    """An image must have a version, or each node runs whatever it pulled."""
    match = _TAGGED.fullmatch(image)
    if match is None:
        yield Problem(path, "an image must be a name with a tag or a digest", image, "Write registry/name:tag.")
    elif not match["digest"] and match["tag"] in (None, "latest"):
        rule = "an image must be pinned by a tag other than latest, or by a digest"
        yield Problem(path, rule, image, "Set the version: registry/name:1.2.3, or @sha256:....")


def uri_problems(path: str, uri: str) -> Iterator[Problem]:
    """A URI of something in S3 that the pod can't read."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    if not uri.startswith("s3://") or not bucket or not key:
        rule = "it must be in S3: s3://BUCKET/FOLDER"
        fix = "Put it into the team's folder of a bucket; `pulumi stack output buckets` prints their names."
        yield Problem(path, rule, uri, fix)


def _staged(path: str, spec: Spec, target: Target) -> Iterator[Problem]:
    for each in spec.get("initContainers", ()):
        if not each["name"].startswith(STAGING):
            continue
        at, uri = f"{path}.volumes.{each['name'].removeprefix(STAGING)}.uri", each["args"][-2]
        if not uri.startswith(REGISTERED):
            yield from uri_problems(at, uri)
        elif not _REGISTERED.fullmatch(uri):
            rule = "a registered model has a version or an alias: models:/NAME/VERSION, models:/NAME@ALIAS"
            yield Problem(at, rule, uri, "Write the version, such as models:/ranker/12.")
        elif target.addons is not None and Mlflow not in target.addons:
            yield Problem(
                at, "registered models need the add-on mlflow", uri, "Add `mlflow: {}` to the stack's addons."
            )


def _gpus(path: str, spec: Spec) -> Iterator[Problem]:
    wanted = need(spec)
    slices = sorted(name for name in wanted if name.startswith(keys.MIG))
    if slices and keys.GPU in wanted:
        rule = "a pod can't request both GPUs and MIG instances: every GPU of a pool has the same MIG layout"
        yield Problem(f"{path}.resources", rule, [keys.GPU, *slices], "Split it into two pods.")


def _security(path: str, spec: Spec) -> Iterator[Problem]:
    contexts = [spec.get("securityContext", {}), *(each.get("securityContext", {}) for each in spec["containers"])]
    if any(each.get("runAsUser") == 0 for each in contexts):
        rule = "workloads must not run as root: the Pod Security Standard restricted forbids it"
        yield Problem(f"{path}.user", rule, 0, "Set another user ID; volumes belong to its group.")


def _priority(path: str, spec: Spec, target: Target) -> Iterator[Problem]:
    priority = spec.get("priorityClassName")
    if priority not in target.priorities:
        known = ", ".join(target.priorities)
        yield Problem(
            f"{path}.priority", "it must be a priority class of the platform", priority, f"Use one of {known}."
        )


def _shared_memory(path: str, spec: Spec) -> Iterator[Problem]:
    sizes = [
        volume["emptyDir"]["sizeLimit"]
        for volume in spec.get("volumes", ())
        if volume.get("emptyDir", {}).get("medium") == "Memory" and "sizeLimit" in volume["emptyDir"]
    ]
    if bad := [size for size in sizes if not is_amount(size)]:
        yield Problem(f"{path}.shared_memory", "a size must be a Kubernetes quantity", bad[0], "Write 16Gi.")
        return
    memory = need(spec).get("memory", 0)
    taken = sum(parse(size) for size in sizes)
    if taken >= memory > 0:
        rule = "shared memory counts against the memory of the pod and must be less"
        yield Problem(f"{path}.shared_memory", rule, sizes[0], "Raise `memory` by the same amount.")
    if not sizes and need(spec).get(keys.GPU, 0) > 1:
        rule = "processes on several GPUs exchange data in /dev/shm, which has 64 MiB by default (NCCL, DataLoader)"
        yield Problem(f"{path}.shared_memory", rule, None, "Set a few GiB per GPU.")
