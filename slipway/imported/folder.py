"""The folder of an import: a YAML file for each kind, `import.yaml`, a trace of what has ended, and a README."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

from sandbox.kubernetes.objects import BUILT_IN_GROUPS, Object, Ref
from slipway.imported.keep import CONFIGS, HELM, ROWS, Names, name_of, reduced
from slipway.imported.sources import DEFINITION, SECRET, Located
from slipway.replay import jobs
from slipway.replay.readers import kubernetes
from slipway.replay.text import Source, TraceError
from slipway.why.bundle import is_true
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
_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def ended(obj: Object) -> bool:
    """Whether a job or pod has ended, or a ReplicaSet is that of an earlier version."""
    status = obj.get("status") or {}
    phases = (status.get(each) for each in ("phase", "jobDeploymentStatus", "terminalState"))
    over = is_true(obj, *_ENDED) or any(str(one).capitalize() in _ENDED for one in phases)
    return over or (obj["kind"] == "ReplicaSet" and not obj["spec"].get("replicas"))


@dataclass
class Folder:
    """What is kept of the objects of a cluster, taken one by one."""

    names: Names
    unread: dict[str, str] = field(default_factory=dict)  # what could not be read, with the reason, by kind
    version: str = ""  # minor version of Kubernetes
    objects: dict[str, list[Object]] = field(default_factory=lambda: defaultdict(list))  # by kind
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and reason
    others: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # names by kind that is not kept
    releases: list[dict[str, str]] = field(default_factory=list)
    _seen: set[tuple[str, str, str]] = field(default_factory=set)
    _finished: list[Object] = field(default_factory=list)

    def add(self, located: Iterable[Located]) -> None:
        """Take objects. Raises SlipwayError for one that is not as an API server returns it; exit code 2."""
        for place, obj in located:
            metadata, kind = (obj.get("metadata"), obj.get("kind")) if isinstance(obj, Mapping) else (None, None)
            if not isinstance(metadata, Mapping) or not obj.get("apiVersion") or not _KIND.fullmatch(str(kind)):
                self.left_out["values", "no objects of Kubernetes: kind, apiVersion and metadata are needed"] += 1
                continue
            ref, name = Ref.of(obj), visible(name_of(obj))
            try:
                if not ref.name:
                    self.left_out[name, "they have no name, as tables and errors of an API server"] += 1
                elif not all(map(_NAME.fullmatch, filter(None, (ref.name, ref.namespace)))):
                    self.left_out[name, "their names can't be those of Kubernetes"] += 1
                elif why := self._take(obj, ref, name):
                    self.left_out[name, why] += 1
            except (AttributeError, KeyError, TypeError) as error:
                text = (
                    f"{place}: {visible(str(ref))} must be as an API server returns it (given: {error!r}). Remove it."
                )
                refuse(text, error)

    def _take(self, obj: Mapping[str, Any], ref: Ref, name: str) -> str:
        """Keep an object, or its name; or why neither is kept."""
        row, metadata = ROWS.get(name), obj["metadata"]
        if row is None:
            return self._name_only(obj, ref, name)
        namespace = (ref.namespace or "default") if row.scope == "namespaced" else None
        if (key := (name, namespace or "", ref.name)) in self._seen:
            return "of the same name as one before"
        self._seen.add(key)
        if row.text and self.names.key:
            return "--anonymous, and they are free text with names"
        found = reduced({**obj, "metadata": {**metadata, "namespace": namespace}}, row, self.names)
        if row.ends and ended(found):
            self._finished += [found] if ref.kind in ("Workload", "Job") else ()
            return "they have ended"
        self.objects[row.name].append(found)
        return ""

    def _name_only(self, obj: Mapping[str, Any], ref: Ref, name: str) -> str:
        labels = obj["metadata"].get("labels") or {}
        if ref.kind == SECRET and labels.get(HELM["label"]) == HELM["value"]:
            found = {key: self.names.name(str(labels.get(key) or "")) for key in HELM["kept"]}
            self.releases.append({"namespace": self.names.name(ref.namespace), **found})
        elif ref.kind == DEFINITION or ("." in ref.group and ref.group not in BUILT_IN_GROUPS):
            hashed = self.names.name if ref.kind != DEFINITION else str
            self.others[name].append("/".join(hashed(one) for one in (ref.namespace, ref.name) if one))
        else:
            return "no answer needs them"
        return ""

    def write(self, out: Path) -> Mapping[str, Any]:
        """Write the folder; what `import.yaml` says."""
        self._keep_configs()
        if not self._finished and not any(self.objects.values()):
            why = "; ".join(f"{count} {kind}: {reason}" for (kind, reason), count in self.left_out.most_common(3))
            refuse(f"nothing of a cluster is there that is kept{f' ({why})' if why else ''}: docs/guides/import.md")
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        counts = {name: len(found) for name, found in sorted(self.objects.items()) if found}
        for name in counts:
            with (out / f"{name}.yaml").open("w", encoding="utf-8") as file:
                yaml.dump_all(self.objects[name], file, Dumper=_DUMPER, explicit_start=True, sort_keys=False)
        if rows := self._trace():
            (out / TRACE).write_text(jobs.write(rows), encoding="utf-8")
            counts[TRACE] = len(rows)
        nodes = (((one.get("status") or {}).get("nodeInfo") or {}) for one in self.objects["Node"])
        kubelet = next((_VERSION.match(str(one.get("kubeletVersion"))) for one in nodes), None)
        facts = {
            "version": self.version or (kubelet[1] if kubelet else ""),
            "anonymous": bool(self.names.key),
            "objects": counts,
            "releases": self.releases,
            "named": dict(sorted(self.others.items())),
            "leftOut": [{"kind": kind, "count": n, "reason": why} for (kind, why), n in sorted(self.left_out.items())],
            "unread": [{"kind": kind, "reason": why} for kind, why in sorted(self.unread.items())],
        }
        (out / FACTS).write_text(yaml.dump(facts, Dumper=_DUMPER, sort_keys=False), encoding="utf-8")
        text = "\n".join(f"- {one}" for one in summary(facts))
        (out / README).write_text(f"# A cluster that `slipway import` read\n\n{text}\n", encoding="utf-8")
        return facts

    def _keep_configs(self) -> None:
        """ConfigMaps that the API server reads for a policy; of others the configuration of a controller."""
        bindings = (one for name, found in self.objects.items() if "PolicyBinding" in name for one in found)
        named = [(one.get("spec") or {}).get("paramRef") or {} for one in bindings]
        read, found = {(one.get("namespace"), one.get("name")) for one in named}, self.objects["ConfigMap"]
        for one in found:
            if (one["metadata"]["namespace"], one["metadata"]["name"]) not in read:
                one["data"] = {key: text for key, text in (one.get("data") or {}).items() if key in CONFIGS}
        self.objects["ConfigMap"] = [one for one in found if one.get("data")]
        if count := len(found) - len(self.objects["ConfigMap"]):
            self.left_out["ConfigMap", "no controller that acts here reads them"] = count

    def _trace(self) -> list[jobs.Job]:
        """What has ended, and what runs, as if it ended with the last change of all. A Job that Kueue queued is there
        once, as its Workload."""
        runs = [one for one in self.objects["Workload.kueue.x-k8s.io"] if is_true(one, "Admitted")]
        runs += [one for one in self.objects["Job.batch"] if (one.get("status") or {}).get("startTime")]
        every = [*self._finished, *runs]
        queued = {one.get("uid") for obj in every for one in obj["metadata"].get("ownerReferences") or ()}
        items = [one for one in every if one["kind"] == "Workload" or one["metadata"].get("uid") not in queued]
        known = [one.get("status") or {} for one in (*every, *self.objects["Pod"], *self.objects["Node"])]
        changes = [str(each.get("lastTransitionTime") or "") for one in known for each in one.get("conditions") or ()]
        last = max([*changes, *(str(one.get("startTime") or "") for one in known)], default="")
        end, running = {"type": "Finished", "status": "True", "lastTransitionTime": last}, {id(one) for one in runs}
        items = [_with(one, end) if id(one) in running else one for one in items]
        local = [one["metadata"]["namespace"] for one in self.objects["LocalQueue.kueue.x-k8s.io"]]
        queues = {
            f"{one['metadata']['namespace']}/{one['metadata']['name']}": one["spec"].get("queueName") for one in items
        }
        try:
            text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
            rows = kubernetes.read(Source(TRACE, text)).jobs if items else ()
            return [
                replace(one, team=team_of(one.name.partition("/")[0], str(queues[one.name]), Counter(local)))
                for one in rows
            ]
        except TraceError as error:
            self.left_out["jobs", f"no trace of those that have ended: {error}"] += len(items)
            return []


def _with(job: Object, condition: Mapping[str, Any]) -> Object:
    status = job["status"]
    return {**job, "status": {**status, "conditions": [*(status.get("conditions") or ()), condition]}}


def team_of(namespace: str, queue: str, queues: Mapping[str, int]) -> str:
    """What a LocalQueue is called as a team: its namespace, with its own name where the namespace has several."""
    return namespace if queues.get(namespace, 0) < 2 else f"{namespace}/{queue}"


def require_new(out: Path) -> None:
    """Raises SlipwayError, exit code 2, if a folder has something already."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        refuse(f"--out: {out} must be a new or empty folder (given: one with files). Name another, or remove it.")


def facts_of(folder: Path) -> Mapping[str, Any]:
    """What `import.yaml` of a folder says. Raises SlipwayError if the folder is none of an import; exit code 2."""
    path = folder / FACTS
    found = strict_yaml.documents(path) if path.is_file() else [None]
    if not found or not isinstance(found[0], Mapping):
        refuse(f"{folder}: it must be a folder that `slipway import` wrote (given: one without {FACTS}). Name another.")
    return found[0]


def summary(facts: Mapping[str, Any]) -> list[str]:
    """What is in a folder, and what is not, in lines."""
    lines = [
        f"Kubernetes {facts['version'] or 'of unknown version'}{', names are hashed' if facts['anonymous'] else ''}",
        *(f"{kind}: {count:,}" for kind, count in facts["objects"].items()),
        *(f"by name alone: {len(names):,} {kind}" for kind, names in facts["named"].items()),
        *(f"by name alone: release {one['name']} of Helm" for one in facts["releases"] if one["status"] == "deployed"),
        *(f"left out: {one['count']:,} {one['kind']}: {one['reason']}" for one in facts["leftOut"]),
        *(f"not read: {one['kind']}: {one['reason']}" for one in facts["unread"]),
    ]
    return [visible(one) for one in lines]
