"""One way to declare any Kubernetes object, namespace or Helm release.

The classes of `pulumi_kubernetes` and its `CustomResource` register the same type tokens with the same inputs; they
only add a signature for each kind, which a pure function that returns a manifest can't use. The API server validates
every manifest at preview, in the sandbox and on a real cluster, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar, Final

import pulumi
from pulumi_kubernetes.helm.v3 import Release, RepositoryOptsArgs

from components.base.addon import Namespace
from components.base.outputs import Cluster
from spec.catalog.software import ChartRef
from spec.settings.charts import Charts


@dataclass(frozen=True)
class ManifestKind:
    """A kind of object in one version of its API."""

    api_version: str
    kind: str


def type_token(api_version: str, kind: str) -> str:
    """Pulumi's type token of a kind: `kubernetes:core/v1:ConfigMap`, `kubernetes:kueue.x-k8s.io/v1beta2:Cohort`."""
    version = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{version}:{kind}"


def declare(name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Declare one object.

    Args:
        name: Logical name.
        manifest: The whole object; `apiVersion`, `kind` and `metadata.name` are plain strings, other fields may be
            Outputs.
        opts: Parent and dependencies.

    Raises:
        ValueError: For a manifest without a name: auto-naming would choose one that nothing else can refer to.
    """
    if not isinstance(manifest.get("metadata", {}).get("name"), str):
        msg = f"{name}: a manifest needs metadata.name as a plain string (given: {manifest.get('metadata')!r})"
        raise ValueError(msg)
    token = type_token(manifest["apiVersion"], manifest["kind"])
    return pulumi.CustomResource(token, name, dict(manifest), opts)


@dataclass(frozen=True, kw_only=True)
class ObjectsArgs:
    """Inputs of objects that are declared together."""

    objects: Mapping[str, Mapping[str, Any]]  # manifests by the suffix of their logical name
    cluster: Cluster  # the cluster
    after: Sequence[pulumi.Resource] = ()
    """What they need; the access entries by which the program reaches the cluster, if nothing is named."""
    facts: Mapping[str, Any] = field(default_factory=dict)  # plain values for the policy pack


class Objects(pulumi.ComponentResource):
    """Objects of a cluster, deleted with it."""

    PULUMI_TYPE: ClassVar[str]

    resources: Mapping[str, pulumi.Resource]  # each by the suffix of its logical name

    def __init__(self, name: str, args: ObjectsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        before = list(args.after or args.cluster.access)
        child = pulumi.ResourceOptions(parent=self, depends_on=before, deleted_with=args.cluster.resource)
        self.resources = {key: declare(f"{name}-{key}", one, child) for key, one in args.objects.items()}
        self.register_outputs(dict(args.facts))


class Namespaces(Objects):
    """The namespaces that the platform creates; `kube-system` and the like belong to EKS."""

    PULUMI_TYPE = "slipway:addons:Namespaces"

    def of(self, namespace: str) -> tuple[pulumi.Resource, ...]:
        """Dependencies of an object in this namespace; empty for a namespace of EKS."""
        return (self.resources[namespace],) if namespace in self.resources else ()


def agreed(spaces: Iterable[Namespace]) -> dict[str, Namespace]:
    """Namespaces that the platform creates, by name, sorted.

    Raises:
        ValueError: If add-ons that share one don't agree on its level or labels.
    """
    ours: dict[str, Namespace] = {}
    for space in spaces:
        if space.enforce is None:
            continue
        if ours.setdefault(space.name, space) != space:
            msg = f"two add-ons share the namespace {space.name} and disagree on it: {ours[space.name]} and {space}"
            raise ValueError(msg)
    return dict(sorted(ours.items()))


def manifest(space: Namespace) -> dict[str, Any]:
    """A Namespace; `warn` and `audit` equal `enforce`, so that a refused pod template also shows as a warning."""
    levels = {f"pod-security.kubernetes.io/{mode}": space.enforce for mode in ("enforce", "warn", "audit")}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": space.name, "labels": {**space.labels, **levels}},
    }


TIMEOUT_SECONDS: Final = 600
"""Twice Helm's default of five minutes: the first pods may wait for the first node, which takes two to four minutes."""
PROJECT: Final = PurePosixPath("..")
"""The folder of Pulumi.yaml, from the folder in which Pulumi runs the program and its plugins (`main`)."""


@dataclass(frozen=True, kw_only=True)
class Location:
    """What a release names its chart by."""

    chart: str  # name of the chart in `repo`, an `oci://` reference, or a path
    version: str  # exact version; of a path, Helm reads the version from Chart.yaml
    repo: str | None = None  # URL of the repository; None for an `oci://` reference and a path


def locate(chart: ChartRef, source: Charts) -> Location:
    """Where a chart is: in its publisher's repository unless the settings name another source."""
    if source.path is not None:
        # Helm takes a path for the name of a repository unless it is absolute or begins with a dot.
        return Location(chart=str(PROJECT / source.path / chart.name), version=chart.version)
    if source.registry is not None:
        return Location(chart=f"{source.registry}/{chart.name}", version=chart.version)
    return Location(chart=chart.chart, version=chart.version, repo=None if chart.in_registry else chart.repository)


def release(
    name: str,
    chart: Location,
    *,
    namespace: str,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
    release_name: str | None = None,
    skip_crds: bool = False,
) -> Release:
    """Declare a Helm release that either succeeds as a whole or is rolled back.

    `atomic` and `cleanup_on_fail` keep an interrupted install from blocking every later one with "another operation is
    in progress" (pulumi/pulumi-kubernetes#2054).

    Args:
        name: Logical name.
        chart: The chart to install, from `locate`.
        namespace: Its namespace, which must exist.
        values: Values that differ from the chart's defaults.
        opts: Parent and dependencies.
        release_name: Name of the Helm release, from which charts derive names of objects; the logical name by default.
        skip_crds: Don't install the chart's `crds/`: Helm never upgrades them, so another chart installs them.
    """
    return Release(
        name,
        name=release_name or name,
        chart=chart.chart,
        version=chart.version,
        repository_opts=RepositoryOptsArgs(repo=chart.repo) if chart.repo else None,
        namespace=namespace,
        values=dict(values),
        skip_crds=skip_crds,
        atomic=True,
        cleanup_on_fail=True,
        timeout=TIMEOUT_SECONDS,
        opts=opts,
    )
