"""Controllers as their charts install them, in a cluster of their own; and what tests wait for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from components.admission import StackContext, rules, scheduler
from components.admission.admission import binding, policy
from components.admission.variables import parameters
from components.base.controllers import Scheduler
from components.composition.in_cluster import Api, Body, patch_type
from sandbox.kubernetes.client import ApiError, KubeClient, NoSuchKindError
from sandbox.kubernetes.controllers import table
from sandbox.kubernetes.controllers.running import State, load
from sandbox.kubernetes.helm import binary
from sandbox.kubernetes.helm.chart import Charts
from sandbox.kubernetes.helm.running import install
from sandbox.kubernetes.objects import Object, Ref, condition
from sandbox.kubernetes.waiting import until
from spec.pools.pool_spec import PoolSpec
from spec.settings.admission import Action
from tests.sandbox.controllers.fake import ByHand
from tests.sandbox.living import living_plane
from tests.sandbox.plane import ControlPlane
from tests.support.patience import SECONDS

T = TypeVar("T")


@contextmanager
def cluster(directory: Path, *wanted: str, version: str = "") -> Iterator[ControlPlane]:
    """A cluster beside which these controllers run; skips the test if one is not built."""
    missing = [name for name in wanted if table.BY_NAME[name].binary is None]
    if missing:
        pytest.skip(f"not built: run `python -m sandbox.toolchain ensure {' '.join(missing)}`")
    with living_plane(directory, ByHand(), version) as plane:
        yield plane


def as_account(client: KubeClient, name: str, namespace: str) -> Api:
    """The API server as the script of a CronJob has it, with what this account may do."""
    who = {"Impersonate-User": f"system:serviceaccount:{namespace}:{name}"}

    def api(method: str, path: str, body: Body = None) -> dict[str, Any]:
        kind = patch_type(body) if method == "PATCH" else "application/json"
        answer: dict[str, Any] = client.call(method, path, body, None, kind, who)
        return answer

    return api


def release(client: KubeClient, charts: Path, name: str, namespace: str, **values: Any) -> None:
    """Install a chart, or that of a controller, with Helm, and wait for its pods."""
    of = table.BY_NAME[name].chart if name in table.BY_NAME else name
    chart, helm = Charts(charts).find(of), binary.available()
    if chart is None or helm is None:
        pytest.skip(f"no helm, or no chart {of} with templates")
    client.apply(Ref("v1", "Namespace", namespace).as_object(), "test")
    install(client, helm, chart, {"name": of, "namespace": namespace, "values": values, "timeout": 600}, upgrade=False)


def until_running(directory: Path, *names: str) -> None:
    """Wait until these controllers run, and no others: one that lost its API server starts once more."""

    def look() -> bool | None:
        return {each.name for each in load(directory) if each.state is State.RUNNING} == set(names) or None

    until(look, SECONDS, lambda: f"not {names}: {load(directory)}")


def until_served(client: KubeClient, api_version: str, kind: str) -> None:
    """Wait for a kind: its group can be known before, for others of its kinds."""

    def look() -> bool | None:
        client.discovery.forget(api_version.partition("/")[0])
        try:
            client.discovery.find(api_version, kind)
        except NoSuchKindError:
            return None
        return True

    until(look, SECONDS, f"no {kind}")


def applied(client: KubeClient, *objects: Object) -> None:
    """Create objects; a webhook that was just opened may not answer at once."""
    for obj in objects:

        def put(obj: Object = obj) -> Object | None:
            try:
                return client.apply(obj, "test", force=True)
            except ApiError as error:
                if "failed calling webhook" in error.message or "no endpoints" in error.message:
                    return None
                raise

        until(put, SECONDS, f"{Ref.of(obj)} is not accepted")


def job(name: str, namespace: str, requests: Mapping[str, Any], seconds: str, *, queue: str = "", **pod: Any) -> Object:
    """A Job of one pod that requests this, in a queue of Kueue, and ends after some time; `pod`: more of the pod."""
    limits = {key: value for key, value in requests.items() if "/" in key}
    resources = {"requests": dict(requests), **({"limits": limits} if limits else {})}
    container = {"name": "main", "image": "train:1", "resources": resources}
    made = Ref("batch/v1", "Job", name, namespace).as_object()
    made["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    metadata = {"annotations": {"sandbox.slipway/duration": seconds}}
    template = {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container], **pod}}
    return {**made, "spec": {"template": template}}


def placed_in(pool: PoolSpec) -> dict[str, Any]:
    """The part of a pod that puts it onto nodes of a pool."""
    tolerations = [taint.toleration.manifest for taint in pool.taints]
    return {"nodeSelector": dict(pool.node_selector), "tolerations": tolerations}


def without_jobs(client: KubeClient, *namespaces: str) -> None:
    """Delete what a test leaves."""
    jobs = client.discovery.find("batch/v1", "Job")
    for namespace in namespaces:
        for each in client.list(jobs, namespace):
            client.delete(Ref.of(each))


def give(client: KubeClient, of: Scheduler, context: StackContext, team: str) -> None:
    """Apply the rules by which pods of teams get this scheduler; a pod in this namespace of a team gets it then."""
    every = rules(replace(context, scheduler=of))
    rule = next(one for one in every if one.name == "scheduler")
    applied(client, parameters(every), *scheduler.manifests(of).values(), policy(rule), binding(rule, Action.DENY))
    image = "registry.example.com/team/train:1.2.3"
    pod = {**Ref("v1", "Pod", "it", team).as_object(), "spec": {"containers": [{"name": "main", "image": image}]}}

    def is_given() -> bool | None:
        try:
            found = client.apply(pod, "test", dry_run=True)
        except ApiError as error:
            # The policy that checks the scheduler can be in effect before the one that sets it (2026-11-26).
            if f"placed by {of.name}" in error.message:
                return None
            raise
        return found["spec"]["schedulerName"] == of.name or None

    until(is_given, SECONDS, f"{of.name} is not given to the pods of {team}")


def wait(client: KubeClient, ref: Ref, ready: Callable[[Object], T | None], what: str) -> T:
    """What `ready` finds in an object."""

    def look() -> T | None:
        found = client.get(ref)
        return None if found is None else ready(found)

    return until(look, SECONDS, lambda: f"{ref}: {what}: {(client.get(ref) or {}).get('status')}")


def holds(kind: str) -> Callable[[Object], Mapping[str, Any] | None]:
    """A condition that is true."""

    def find(obj: Object) -> Mapping[str, Any] | None:
        found = condition(obj, kind)
        return found if found.get("status") == "True" else None

    return find
