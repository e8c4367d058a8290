"""Installing, upgrading and removing a release with Helm, and what the sandbox does before and beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from slipway.errors import SandboxError
from slipway.sandbox.kubernetes import controllers, crds
from slipway.sandbox.kubernetes.client import KubeClient
from slipway.sandbox.kubernetes.helm import arguments, binary, effects, records
from slipway.sandbox.kubernetes.helm.binary import HelmError, Stop
from slipway.sandbox.kubernetes.helm.chart import Chart, packaged
from slipway.sandbox.kubernetes.helm.preview import MANAGER, Rendered, rendered
from slipway.sandbox.kubernetes.helm.readiness import HOPELESS_SECONDS, Readiness, workloads
from slipway.sandbox.kubernetes.helm.records import ReleaseName, Revision
from slipway.sandbox.kubernetes.objects import Object, Ref, is_custom_resource_definition

PENDING: Final = "pending-"
"""Beginning of the state of a release while Helm works on it (helm v3, pkg/release/status.go)."""

IN_USE: Final = "cannot re-use a name that is still in use"
"""Helm's refusal to install a release that exists (helm v3, pkg/action/install.go)."""


@dataclass(frozen=True)
class Installed:
    """A revision that Helm installed, and how it differs from one in a cluster where everything runs."""

    revision: Revision
    left_out: tuple[str, ...]
    effects: tuple[str, ...]
    stand_ins: tuple[str, ...]


class FailedReleaseError(SandboxError):
    """Helm failed; `revision` is the release that it left, None if it left none."""

    def __init__(self, text: str, revision: Revision | None) -> None:
        super().__init__(text)
        self.revision = revision


def install(client: KubeClient, helm: Path, chart: Chart, inputs: Mapping[str, Any], *, upgrade: bool) -> Installed:
    """Install or upgrade. Raises FailedReleaseError, and SandboxError before anything was changed.

    An upgrade of a release that Helm does not know (it was only recorded before) installs it.
    """
    release = ReleaseName(str(inputs["name"]), str(inputs["namespace"]))
    values = inputs.get("values") or {}
    served = controllers.served(chart.name, chart.version)
    before = records.newest(client, release)
    upgrade = upgrade and before is not None
    if not upgrade and not inputs.get("skipCrds"):
        crds.install_all(client, chart.crds, MANAGER)
    found = rendered(helm, chart, release, values, client)
    stand_ins = tuple(_stand_in(client, release, found))
    done = effects.perform(client, chart, found, upgrade=upgrade)
    readiness = Readiness(client, workloads((*found.objects, *found.hooks), release.namespace))
    write = arguments.upgrade if upgrade else arguments.install
    try:
        with packaged(chart) as folder:
            command = write(inputs, str(folder))
            result = binary.run(helm, client, command, values=values, served=served, hopeless=readiness.look)
    except HelmError as error:
        after = records.newest(client, release)
        raise FailedReleaseError(_explained(error, release, before, readiness), after) from error
    revision = records.newest(client, release)
    if revision is None:
        msg = f"Helm reported success, but there is no record of release {release}"
        raise SandboxError(msg)
    return Installed(revision, result.left_out, tuple(done), stand_ins)


def uninstall(client: KubeClient, inputs: Mapping[str, Any], *, missing_ok: bool = False) -> None:
    """Uninstall. Raises SandboxError with Helm's reason, and the pods of its hooks that did not end."""
    helm = binary.available()
    if helm is None:
        msg = "helm installed this release and is gone: `python -m slipway.toolchain ensure helm`"
        raise SandboxError(msg)
    release = ReleaseName(str(inputs["name"]), str(inputs["namespace"]))
    revision = records.newest(client, release)
    if revision is None and missing_ok:
        return
    hooks = list(revision.hooks()) if revision is not None else []
    readiness = Readiness(client, workloads(hooks, release.namespace))
    try:
        binary.run(helm, client, arguments.uninstall(inputs), hopeless=readiness.look)
    except HelmError as error:
        raise SandboxError(_explained(error, release, None, readiness)) from error


def _stand_in(client: KubeClient, release: ReleaseName, found: Rendered) -> Iterator[str]:
    """Install stand-ins for kinds that nothing serves and the chart does not bring; replace those that it brings."""
    brought = {
        (crd["spec"]["group"], crd["spec"]["names"]["kind"]): crd
        for crd in found.objects
        if is_custom_resource_definition(crd)
    }
    for obj in (*found.objects, *found.hooks):
        ref = Ref.of(obj)
        if ref.custom and (ref.group, ref.kind) not in brought and not crds.is_served(client, ref):
            crds.ensure_stand_in(client, obj)
            yield f"{ref.kind} of {ref.api_version}"
    if brought:
        for name in crds.stand_ins(client) & {str(crd["metadata"]["name"]) for crd in brought.values()}:
            (crd,) = (each for each in brought.values() if each["metadata"]["name"] == name)
            crds.install(client, _owned(crd, release), MANAGER)


def _owned(obj: Object, release: ReleaseName) -> Object:
    """The object as Helm marks those of a release; it takes over no other (helm.sh, "Labels and annotations")."""
    metadata = obj["metadata"]
    labels = {**(metadata.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm"}
    owner = {"meta.helm.sh/release-name": release.name, "meta.helm.sh/release-namespace": release.namespace}
    annotations = {**(metadata.get("annotations") or {}), **owner}
    return {**obj, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def _explained(error: HelmError, release: ReleaseName, before: Revision | None, readiness: Readiness) -> str:
    parts = [str(error)]
    if readiness.text:
        parts.append(f"not ready: {readiness.text}")
    if error.stopped is Stop.HOPELESS:
        parts.append(f"Helm was interrupted, because nothing had changed for {HOPELESS_SECONDS:.0f} s")
    elif error.stopped is Stop.CANCELLED:
        parts.append("Helm was interrupted, because the operation was cancelled: run it again")
    if before is not None:
        parts += _remedy(release, before, str(error))
    return "; ".join(parts)


def _remedy(release: ReleaseName, before: Revision, error: str) -> Iterator[str]:
    """How to go on after a run that was killed: its release is there, and Pulumi or Helm does not know how it ended."""
    where = f"{release.name} -n {release.namespace}"
    if before.state.startswith(PENDING):
        yield (
            f"revision {before.number} is {before.state}, because Helm was killed while it worked on it: in the shell "
            f"of `slipway sandbox env`, run `helm rollback {where}` if an earlier revision is deployed, else "
            f"`helm uninstall {where}`; then run this again"
        )
    elif IN_USE in error:
        yield (
            f"revision {before.number} is {before.state}, from a run that was killed or from Helm by hand: in the "
            f"shell of `slipway sandbox env`, run `helm uninstall {where}`, or import it with the ID {release}"
        )
