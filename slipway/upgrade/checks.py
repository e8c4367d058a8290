"""What an upgrade would break: APIs that go, versions that don't fit, shapes of objects, definitions, webhooks."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slipway.upgrade.world import DEFINITION, Object, World, pods_of
from spec.catalog import kubernetes, lifecycle, upgrades
from spec.catalog.lifecycle import reached
from spec.pools import keys

NODEGROUP: Final = "eks.amazonaws.com/nodegroup"


@dataclass(frozen=True)
class Finding:
    """Something in the way: which rule found it, what has it, what is wrong, what to do, and where that is documented;
    `waits` if it only delays the nodes of a pool."""

    rule: str
    subject: str
    text: str
    fix: str
    source: str
    waits: bool = False


def found(rule: str, subject: str, source: str = "", **values: object) -> Finding:
    """A finding in the words of the catalog."""
    row = upgrades.RULES[rule]
    text, fix = str(row["text"]).format(**values), str(row["fix"]).format(**values)
    return Finding(rule, subject, text, fix, source or row["source"], bool(row.get("waits")))


def findings(world: World) -> Iterator[Finding]:
    """What this module finds."""
    step = kubernetes.skew(world.version, world.target) or 0
    if abs(step) > 1:
        first = f"1.{(kubernetes.minor(world.version) or 0) + (1 if step > 0 else -1)}"
        yield found("skipped-version", f"Kubernetes {world.target}", step=abs(step), first=first)
    for check in (_apis, _clients, _software, _shapes, _definitions, _webhooks, _kubelets):
        yield from check(world)


def subject(one: Object) -> str:
    """Kind, namespace and name; of a node its pool, which is replaced as a whole."""
    metadata = one.get("metadata") or {}
    labels = metadata.get("labels") or {}
    if one["kind"] == "Node" and labels.get(keys.NODE_POOL):
        return f"NodePool {labels[keys.NODE_POOL]}"
    if one["kind"] == "Node" and labels.get(NODEGROUP):
        return f"nodegroup {labels[NODEGROUP]}"
    return f"{one['kind']} {'/'.join(filter(None, (metadata.get('namespace'), str(metadata.get('name')))))}"


def _uses(one: Object) -> Iterator[tuple[str, str]]:
    """Versions in which an object is written, its own first, and in words by whom."""
    yield str(one["apiVersion"]), "is of"
    for entry in (one.get("metadata") or {}).get("managedFields") or ():
        yield str(entry.get("apiVersion")), f"is written by {entry.get('manager')} as"


def _rewritten(api: lifecycle.Api) -> str:
    return f"write it as {api.use}" if api.use else "remove it, or write it in a version that is served"


def _apis(world: World) -> Iterator[Finding]:
    for one in (*world.there, *world.planned):
        for number, (version, by) in enumerate(_uses(one)):
            api = lifecycle.removed(version, one["kind"], world.target)
            # The entry of a manager stays after it wrote a newer version: only what goes now is of interest.
            if api and not (number and (not api.removed or reached(api.removed, world.version))):
                removed = api.removed or "long ago"
                yield found("removed-api", subject(one), by=by, version=version, removed=removed,
                            use=_rewritten(api))  # fmt: skip
        new = lifecycle.APIS.get((one["apiVersion"], one["kind"]))
        if new and not reached(new.introduced, world.target):
            yield found("unknown-api", subject(one), version=one["apiVersion"], introduced=new.introduced)


def _clients(world: World) -> Iterator[Finding]:
    """Requests of an audit log."""
    for event in world.audit:
        about = event.get("objectRef") or {}
        version = "/".join(filter(None, (about.get("apiGroup"), str(about.get("apiVersion")))))
        client = f"client {event.get('userAgent') or (event.get('user') or {}).get('username')}"
        for (name, kind), api in lifecycle.APIS.items():
            plural = re.sub("ys$", "ies", f"{kind.lower()}{'es' if kind.endswith('s') else 's'}")
            if (name, plural) == (version, about.get("resource")) and lifecycle.removed(name, kind, world.target):
                yield found("removed-api", client, by=f"calls {kind} of", version=version, removed=api.removed,
                            use=f"upgrade the client: {_rewritten(api)}")  # fmt: skip


def _software(world: World) -> Iterator[Finding]:
    before = world.running()
    after = {**before, **({} if world.back else world.coming())}
    for name, version in after.items():
        row = upgrades.SOFTWARE[name]
        # An autoscaler of one version alone follows the control plane back, too.
        if (needs := row.unsupported(version, world.target)) and not (world.back and row.behind == 0):
            when = f"upgrade it {'before' if row.behind is None else 'together with'} the control plane"
            when = "go back to such a version before the control plane does" if world.back else when
            yield found(
                "unsupported", f"{row.title} {version}", row.source, target=world.target, needs=needs, when=when
            )
        if skipped := row.skipped(before.get(name, version), version):
            about = {"version": version, "skipped": ", ".join(skipped), "first": skipped[0]}
            yield found("skipped-release", f"{row.title} {before[name]}", row.source, **about)
    for pair in upgrades.PAIRS:
        version, other = after.get(pair["of"], ""), after.get(pair["needs"], "")
        if version and other and upgrades.at_least(version, pair["since"]) > upgrades.at_least(other, pair["least"]):
            of, needs = (upgrades.SOFTWARE[pair[key]].title for key in ("of", "needs"))
            yield found("pair", f"{of} {version}", pair["source"], title=needs, least=pair["least"], other=other)


def _shapes(world: World) -> Iterator[Finding]:
    running, coming = world.running(), world.coming()
    for shape in upgrades.SHAPES:
        row = upgrades.SOFTWARE.get(shape.software)
        if row is None:
            if reached(shape.kubernetes, world.version) or not reached(shape.kubernetes, world.target):
                continue
        else:
            old, new = running.get(shape.software), coming.get(shape.software)
            if not new or not upgrades.at_least(new, shape.since) or (old and upgrades.at_least(old, shape.since)):
                continue
            values = [use.values for chart, use in world.releases.items() if chart in row.charts]
            if shape.unless and re.search(shape.unless, str(values)):
                continue
            if not shape.kinds and old:
                yield Finding(shape.rule, f"{row.title} {old}", shape.text, shape.fix, shape.source)
        for one in (*world.there, *world.planned):
            if _has(one, shape):
                yield Finding(shape.rule, subject(one), shape.text, shape.fix, shape.source)


def _has(one: Object, shape: upgrades.Shape) -> bool:
    metadata = one.get("metadata") or {}
    if "pods" in shape.kinds:  # those with an owner are made anew from its template
        return not metadata.get("ownerReferences") and any(map(shape.found, pods_of(one)))
    return one["kind"] in shape.kinds and metadata.get("name") not in shape.excepted and shape.found(one)


def _definitions(world: World) -> Iterator[Finding]:
    there = {one["metadata"]["name"]: one for one in world.of_kind(DEFINITION)}
    coming = {one["metadata"]["name"]: one for one in world.planned if one["kind"] == DEFINITION}
    for name, spec in ((name, one["spec"]) for name, one in coming.items()):
        served, before = _served(spec), _served(there.get(name, {}).get("spec") or {"versions": ()})
        stored = (there.get(name, {}).get("status") or {}).get("storedVersions") or ()
        if lost := ", ".join(one for one in stored if one not in served):
            yield found("stored-version", f"{DEFINITION} {name}", lost=lost)
        for one in (*world.there, *world.planned):
            for number, (version, by) in enumerate(_uses(one) if one["kind"] == spec["names"]["kind"] else ()):
                group, _, own = version.rpartition("/")
                # As above: what a manager wrote in a version that is gone already does no harm.
                if group == spec["group"] and not served.get(own) and (before.get(own) or not number):
                    newest = f"{group}/{next(each for each, is_on in served.items() if is_on)}"
                    yield found("unserved", subject(one), by=by, version=version, served=newest)
    for one in world.definitions:
        name = one["metadata"]["name"]
        if name in there and name not in coming and (new := sorted(_fields(one) - _fields(there[name]))):
            yield found("stale-definition", f"{DEFINITION} {name}", count=len(new), first=new[0])


def _served(spec: Object) -> dict[str, bool]:
    return {one["name"]: one.get("served", True) for one in spec["versions"]}


def _fields(definition: Object) -> set[str]:
    """Names of fields of all versions, wherever they are."""
    return set(re.findall(r'"(\w+)": \{', json.dumps(definition["spec"]["versions"])))


def _webhooks(world: World) -> Iterator[Finding]:
    services = {_key(one): one for one in world.of_kind("Service")}
    for one in world.of_kind("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        for hook in one.get("webhooks") or ():
            service = (hook.get("clientConfig") or {}).get("service")
            if service and hook.get("failurePolicy", "Fail") == "Fail":
                key = (service.get("namespace"), service.get("name"))
                wanted = (services.get(key, {}).get("spec") or {}).get("selector")
                answers = (_key(pod)[0] == key[0] and selected(pod, wanted) for pod in world.pods())
                if key not in services or (wanted and not any(answers)):
                    yield found("webhook", subject(one), service="/".join(map(str, key)))


def _key(one: Object) -> tuple[Any, Any]:
    return one["metadata"].get("namespace"), one["metadata"]["name"]


def selected(pod: Object, labels: Mapping[str, str] | None) -> bool:
    """Whether a pod has all of some labels; no pod has none."""
    return bool(labels) and (labels or {}).items() <= (pod["metadata"].get("labels") or {}).items()


def _kubelets(world: World) -> Iterator[Finding]:
    for node in world.of_kind("Node"):
        version = ".".join(str(node["status"]["nodeInfo"]["kubeletVersion"]).removeprefix("v").split(".")[:2])
        behind = kubernetes.skew(version, world.target)
        if behind is not None and not 0 <= behind <= kubernetes.SKEW:
            fits = world.target if behind < 0 else world.version
            yield found("kubelet-skew", subject(node), version=version, target=world.target, fits=fits)
