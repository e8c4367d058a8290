"""The folder of an import: a YAML file for each kind, `import.yaml`, a trace of what has ended, and a README."""

import json
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TextIO

import yaml

from sandbox.kubernetes.controllers.table import Controller, of_image
from sandbox.kubernetes.objects import BUILT_IN_GROUPS, Object, Ref
from slipway.imported.keep import CONFIGS, HELM, Names, Row, reduced, row_of
from slipway.imported.sources import DEFINITIONS, SECRETS
from slipway.replay import jobs
from slipway.replay.readers import kubernetes
from slipway.replay.text import Source, TraceError
from spec import strict_yaml
from spec.errors import refuse, visible

FACTS: Final = "import.yaml"
README: Final = "README.md"
TRACE: Final = "trace.csv"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}")
"""Names of objects: those of DNS, and of roles and the like (kubernetes.io, "Object Names and IDs")."""
_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}")
_VERSION: Final = re.compile(r"v?(1\.\d{1,2})\b")
_ENDED: Final = ("Complete", "Completed", "Succeeded", "Failed", "Finished")
_JOBS: Final = ("Workload", "Job")
_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def ended(obj: Mapping[str, Any]) -> bool:
    """Whether a job or pod has ended."""
    status = obj.get("status") or {}
    true = {one.get("type") for one in status.get("conditions") or () if one.get("status") == "True"}
    phases = (status.get("phase"), status.get("jobDeploymentStatus"), status.get("terminalState"))
    return not true.isdisjoint(_ENDED) or any(str(one).capitalize() in _ENDED for one in phases if one)


def controllers(objects: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Controller, Object]]:
    """The controllers that the sandbox knows among Deployments, by name, each with its Deployment."""
    found: dict[str, tuple[Controller, Object]] = {}
    for one in objects:
        if one["kind"] == "Deployment":
            for each in one["spec"]["template"]["spec"].get("containers") or ():
                if controller := of_image(str(each.get("image") or "")):
                    found.setdefault(controller.name, (controller, dict(one)))
    return found


@dataclass
class Writer:
    """Takes the objects of a cluster one by one, and writes what is kept of them.

    `names` hashes; `unread` is what could not be read, with the reason, by kind.
    """

    names: Names
    unread: dict[str, str] = field(default_factory=dict)
    version: str = ""  # minor version of Kubernetes
    counts: Counter[str] = field(default_factory=Counter)  # objects by kind
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and reason
    others: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # names by kind that is not kept
    releases: list[dict[str, str]] = field(default_factory=list)
    charts: set[str] = field(default_factory=set)
    _seen: set[tuple[str, str, str, str]] = field(default_factory=set)
    _read: set[tuple[str, str]] = field(default_factory=set)  # ConfigMaps that policies name
    _configs: list[tuple[Object, Row]] = field(default_factory=list)
    _finished: list[Object] = field(default_factory=list)
    _files: dict[str, TextIO] = field(default_factory=dict)

    def write(self, objects: Iterable[tuple[str, Any]], out: Path) -> None:
        """Write a folder of objects, each with its place. After an error there is none.

        Raises:
            SlipwayError: The folder has something already, or nothing of a cluster is there; exit code 2.
        """
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            refuse(f"--out: {out} must be a new or empty folder (given: one with files). Name another, or remove it.")
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".slipway-import-", dir=out.parent))
        try:
            with ExitStack() as stack:
                for place, one in objects:
                    self._add(one, place, made, stack)
                for config, row in self._configs:
                    self._add_config(config, row, made, stack)
            if not self.counts and not self._finished:
                why = "; ".join(f"{count} {kind}: {reason}" for (kind, reason), count in self.left_out.most_common(3))
                refuse(f"nothing of a cluster is there that is kept{f' ({why})' if why else ''}: docs/guides/import.md")
            self._finish(made)
            if out.exists():
                out.rmdir()
            made.rename(out)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def _add(self, obj: Any, place: str, made: Path, stack: ExitStack) -> None:
        metadata = obj.get("metadata") if isinstance(obj, Mapping) else None
        kind = str(obj.get("kind") or "") if isinstance(obj, Mapping) else ""
        if not isinstance(metadata, Mapping) or not obj.get("apiVersion") or not _KIND.fullmatch(kind):
            self.left_out["values", "no objects of Kubernetes: kind, apiVersion and metadata are needed"] += 1
            return
        ref, row = Ref.of(obj), row_of(obj)
        name = f"{ref.kind}.{ref.group}".rstrip(".")
        if not _NAME.fullmatch(ref.name) or (ref.namespace and not _NAME.fullmatch(ref.namespace)):
            self.left_out[visible(name), "their names can't be those of Kubernetes"] += 1
            return
        if row is None:
            self._name_only(obj, ref, name)
            return
        namespace = (ref.namespace or "default") if row.namespaced else ""
        if (key := (ref.group, ref.kind, namespace, ref.name)) in self._seen:
            self.left_out[name, "of the same name as one before"] += 1
            return
        self._seen.add(key)
        if row.text and self.names.key:
            self.left_out[name, "--anonymous, and they are free text with names"] += 1
            return
        own = {**metadata, "namespace": namespace} if row.namespaced else {**metadata, "namespace": None}
        try:
            found = reduced({**obj, "metadata": own}, row, self.names)
            self._note(obj, found)
            over = ended(found) if row.ends else kind == "ReplicaSet" and not found["spec"].get("replicas")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            refuse(f"{place}: {visible(str(ref))} must be as the API server returns it (given: {error!r}). Remove it.")
        if kind == "ConfigMap":
            self._configs.append((found, row))
        elif over:
            self.left_out[name, "they have ended"] += 1
            self._finished += [found] if kind in _JOBS else ()
        else:
            self._put(found, row, made, stack)

    def _put(self, obj: Object, row: Row, made: Path, stack: ExitStack) -> None:
        file = self._files.get(row.name)
        if file is None:
            path = made / f"{row.name}.yaml"
            file = self._files[row.name] = stack.enter_context(path.open("w", encoding="utf-8"))
        yaml.dump(obj, file, Dumper=_DUMPER, explicit_start=True, sort_keys=False)
        self.counts[row.name] += 1

    def _add_config(self, obj: Object, row: Row, made: Path, stack: ExitStack) -> None:
        """A ConfigMap, if the API server reads it for a policy, or a controller of Kueue's family does."""
        metadata, data = obj["metadata"], obj.get("data") or {}
        if (metadata["namespace"], metadata["name"]) not in self._read:
            data = {key: value for key, value in data.items() if key in CONFIGS}
        if data:
            self._put({**obj, "data": data}, row, made, stack)
        else:
            self.left_out[row.name, "no controller that acts here reads them"] += 1

    def _name_only(self, obj: Mapping[str, Any], ref: Ref, name: str) -> None:
        labels = obj["metadata"].get("labels") or {}
        if (
            (ref.group, ref.kind) == SECRETS
            and isinstance(labels, Mapping)
            and labels.get(HELM["label"]) == HELM["value"]
        ):
            found = {key: self.names.name(str(labels.get(key) or "")) for key in HELM["kept"]}
            self.releases.append({"namespace": self.names.name(ref.namespace), **found})
        elif (ref.group, ref.kind) == DEFINITIONS:
            self.others[name].append(ref.name)
        elif "." in ref.group and ref.group not in BUILT_IN_GROUPS:
            self.others[name].append("/".join(self.names.name(one) for one in (ref.namespace, ref.name) if one))
        else:
            self.left_out[name, "no answer needs them"] += 1

    def _note(self, obj: Mapping[str, Any], found: Object) -> None:
        """What an object says of the cluster."""
        if reference := (found.get("spec") or {}).get("paramRef"):
            self._read.add((str(reference.get("namespace") or ""), str(reference.get("name") or "")))
        if obj["kind"] == "Node" and not self.version:
            match = _VERSION.match(str(((found.get("status") or {}).get("nodeInfo") or {}).get("kubeletVersion") or ""))
            self.version = match[1] if match else ""
        chart = (found["metadata"].get("labels") or {}).get("helm.sh/chart")
        if chart and not self.names.key:
            self.charts.add(visible(str(chart)))

    def _finish(self, made: Path) -> None:
        if self._finished:
            # A Job that Kueue queued is there once, as its Workload.
            queued = {one.get("uid") for obj in self._finished for one in obj["metadata"].get("ownerReferences") or ()}
            items = [
                one for one in self._finished if one["kind"] == "Workload" or one["metadata"].get("uid") not in queued
            ]
            try:
                trace = kubernetes.read(Source(FACTS, json.dumps({"kind": "List", "apiVersion": "v1", "items": items})))
                (made / TRACE).write_text(jobs.write(trace.jobs), encoding="utf-8")
                self.counts[TRACE] = len(trace.jobs)
            except TraceError as error:
                self.left_out["jobs that have ended", f"no trace of them: {error}"] += len(items)
        facts = {
            "version": self.version,
            "anonymous": bool(self.names.key),
            "objects": dict(sorted(self.counts.items())),
            "releases": self.releases,
            "charts": sorted(self.charts),
            "named": {visible(name): names for name, names in sorted(self.others.items())},
            "leftOut": [
                {"kind": kind, "count": count, "reason": why} for (kind, why), count in sorted(self.left_out.items())
            ],
            "unread": [{"kind": kind, "reason": why} for kind, why in sorted(self.unread.items())],
        }
        (made / FACTS).write_text(yaml.dump(facts, Dumper=_DUMPER, sort_keys=False), encoding="utf-8")
        (made / README).write_text(
            _README.format(text="\n".join(f"- {one}" for one in summary(facts))), encoding="utf-8"
        )


_README: Final = """# A copy of a cluster

`slipway import` wrote this folder. It has no content of a Secret, no variable, argument or command of a container, and
no annotation or ConfigMap but those that a controller reads. `slipway sandbox start --from FOLDER` makes a cluster of
it.

{text}
"""


def facts_of(folder: Path) -> Mapping[str, Any]:
    """What `import.yaml` of a folder says. Raises SlipwayError if the folder is none of an import."""
    path = folder / FACTS
    if not path.is_file():
        refuse(f"{folder}: it must be a folder that `slipway import` wrote (given: one without {FACTS}). Name another.")
    found = (strict_yaml.documents(path) or [None])[0]
    if not isinstance(found, Mapping) or not isinstance(found.get("objects"), Mapping):
        refuse(
            f"{path}: it must be as `slipway import` wrote it, with `objects` (given: something else). Import again."
        )
    return found


def summary(facts: Mapping[str, Any]) -> list[str]:
    """What is in a folder, and what is not, in lines."""
    named = {kind: len(names) for kind, names in facts["named"].items()}
    lines = [
        f"Kubernetes {facts['version'] or 'of unknown version'}{', names are hashed' if facts['anonymous'] else ''}",
        *(f"{kind}: {count:,}" for kind, count in facts["objects"].items()),
        *(
            [f"releases of Helm: {len({(one['namespace'], one['name']) for one in facts['releases']})}"]
            if facts["releases"]
            else []
        ),
        *([f"charts: {', '.join(facts['charts'])}"] if facts["charts"] else []),
        *(f"by name alone: {count:,} {kind}" for kind, count in named.items()),
        *(f"left out: {one['count']:,} {one['kind']}: {one['reason']}" for one in facts["leftOut"]),
        *(f"not read: {one['kind']}: {one['reason']}" for one in facts["unread"]),
    ]
    return [visible(one) for one in lines]
