"""`slipway why FILE --fix`: the fields that fix violations of rules, written into the file, and what was changed.

The fields stand beside their rules (`components.admission.rule.Fill`), and are those that API servers fill in
(`components.admission.defaults`). Only the documents that change are written anew, with their comments.
"""

import copy
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from components.addons.trainer import ANY_GPU
from components.admission import defaults
from components.admission import rules as every_rule
from components.admission.defaults import Step
from components.admission.gpus import steady
from components.admission.rule import Fill, literal
from components.admission.templates import EVERY_SPEC, RAY_PATHS, SPEC_PATHS, below
from components.admission.variables import SHARED, parameters
from components.workloads.target import Target
from slipway.why import cel, served
from slipway.why.bundle import Object
from slipway.why.file import RESTARTS
from slipway.why.judge import Variables, context_of, violations, without_nulls
from slipway.why.table import rows
from spec import strict_yaml
from spec.errors import EXIT_REFUSED, SlipwayError
from spec.jobs import QUEUE
from spec.pools import PoolSpec, keys
from spec.settings.admission import Action, Admission

Path = tuple[str | int, ...]
NAMESPACE: Final = "namespace"
_CLAIM: Final = "PersistentVolumeClaim"
_ACCOUNT: Final = "ServiceAccount"
KNOWN: Final = (_CLAIM, _ACCOUNT)  # kinds of core objects whose names a fix reads, if there is a cluster
_OF_VOLUME: Final = "volumes[].ephemeral.volumeClaimTemplate.spec"
_CLAIM_SPECS: Final = {
    _CLAIM: ["spec"],
    **below(SPEC_PATHS, _OF_VOLUME),
    "StatefulSet": ["spec.volumeClaimTemplates[].spec", f"spec.template.spec.{_OF_VOLUME}"],
}
"""Where claims are declared, by kind."""
EXISTING: Final = "what the cluster has"  # in place of a rule: what is changed is not there, or a feature that is off
_FEATURES: Final = (
    Fill(
        paths={"JobSet": ["spec.failurePolicy.rules[]"]},
        field="action",
        when="false",
        wrong=f"s.action in {literal(list(served.OF_ONE_JOB))}",
        right="'RestartJobSet'",
    ),
    Fill(
        paths={"JobSet": ["spec.failurePolicy"]},
        removes=f"s.filter(k, k == 'restartStrategy' && s[k] == '{served.IN_PLACE}')",
    ),
    Fill(
        paths={kind: [path] for kind, path in RAY_PATHS.items()},
        removes=f"has(object.metadata.annotations) && '{served.ELASTIC}' in object.metadata.annotations ? [] : "
        "s.filter(k, k == 'enableInTreeAutoscaling' && s[k])",
    ),
)
_STEPS: Final = {
    "CronWorkflow": ("spec.workflowSpec.templates[]",),
    **dict.fromkeys(("Workflow", "WorkflowTemplate"), ("spec.templates[]",)),
}
"""Where the templates of workflows are."""
_RUN: Final = "[has({0}.container) ? {0}.container : has({0}.script) ? {0}.script : dyn({{}})]"
_ON_GPUS: Final = (
    f"{_RUN}.exists(c, has(c.resources) && has(c.resources.limits) && c.resources.limits.exists(k, "
    "k.startsWith('nvidia.com/')))"
)


def _steady(pools: Mapping[str, PoolSpec]) -> Fill:
    """A pool that isn't Spot, whose labels a job selects and whose nodes have the fewest GPUs."""
    own = f"{literal({name: dict(pool.labels) for name, pool in pools.items()})}[p.name]"
    gpus = literal({name: pool.gpu_count for name, pool in pools.items()})
    selected = f"!has(s.nodeSelector) || s.nodeSelector.all(k, k in {own} && {own}[k] == s.nodeSelector[k])"
    return steady(selected, f"{gpus}[a] <= {gpus}[b]")


def _steps(queue: str | None) -> Iterator[Step]:
    """Steps with GPUs get the team's queue, as examples/tutorials/pipeline.yaml has it; Kueue adds the tolerations of
    the pool that it gives them, but looks at pods that tolerate the GPUs' own taint alone (`components.queues`)."""
    if queue is None:
        return
    whole = "(object.kind == 'CronWorkflow' ? object.spec.workflowSpec : object.spec)"
    queued = f"has({whole}.podMetadata) && has({whole}.podMetadata.labels) && '{QUEUE}' in {whole}.podMetadata.labels"
    has = f"{_ON_GPUS.format('t')} && !({queued})"
    wrong, label = f"{has} && !('{QUEUE}' in s.labels)", literal({QUEUE: queue})
    labels = Fill(paths=below(_STEPS, "metadata+"), field="labels", value=label, when=has, wrong=wrong)
    yield Step("gpu-queue", labels)
    tolerated = f"has(s.tolerations) && s.tolerations.exists(x, !has(x.key) || x.key == '{keys.GPU}')"
    missing = f"{_ON_GPUS.format('s')} && !({tolerated}) && !has({whole}.tolerations)"
    tolerations = Fill(paths=_STEPS, field="tolerations", value=literal([ANY_GPU]), when=missing, appends=True)
    yield Step("gpu-pool", tolerations)


_POLICIES: Final = tuple(
    Step(f"pods of a {kind}", Fill(paths={kind: SPEC_PATHS[kind]}, field="restartPolicy", value=literal(right[0]),
         when=literal("" not in right), wrong=f"!(s.restartPolicy in {literal(list(right))})"))
    for kind, right in RESTARTS.items()
)  # fmt: skip
_LIST: Final = re.compile(r"(?m)^( *(?:- )*)[^\s#-][^\n#]*:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*( *)- ")
"""A key with a list below it: their indentation."""
_BELOW: Final = re.compile(r"(?m)^[^\s#-][^\n#]*:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*( +)[^\s#-]")
"""The indentation of the first key below another."""


@dataclass(frozen=True)
class Change:
    """One field."""

    path: Path  # where it is in its document
    value: Any  # what it has now; None if it was removed
    was: Any  # what the user had set; None if it was absent
    rule: str  # name of the rule that asks for it
    appended: bool = False  # whether `value` is appended to the list

    @property
    def where(self) -> str:
        """`spec.template.spec.volumes[0].hostPath`."""
        return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in self.path).removeprefix(".")

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.where} removed, was {_plain(self.was)} ({self.rule})"
        had = f", was {_plain(self.was)}" if self.was is not None and not self.appended else ""
        return f"{self.where}{' +=' if self.appended else ':'} {_plain(self.value)}{had} ({self.rule})"


def _plain(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()


def lost(changes: Iterable[Change]) -> list[str]:
    """What an object no longer does because of its changes, as clauses: the rows `lost` of `messages.yaml`."""
    texts = [f"{one.where}: {_plain(one.was)}" for one in changes if one.was is not None and not one.appended]
    found = ((row, row.says.search(text)) for text in texts for row in rows("lost"))
    return list(dict.fromkeys(row.fix.format(match[0], *match.groups()) for row, match in found if match))


_MEANS: Final = {"ckpt": "checkpoint", "weight": "model"}
_PERHAPS: Final = {"data": "dataset"}
"""Other words for what claims of the platform hold, in the singular; the second ones are in names of others as well."""


def _meant(target: Target, objects: Iterable[Object]) -> dict[str, str]:
    """The platform's claim for each that nobody makes, where its name, its volume and mounts agree on one, and no other
    claim means or is the same."""
    objects = list(objects)
    given = {**dict.fromkeys(_names(_CLAIM, objects)), **{name: None for name in target.claims.values()}}
    texts: dict[str, set[str]] = {}
    for one in objects:
        for name, *words in _uses(one):
            texts.setdefault(name, {name}).update(words)
    means = {name: _content(words, target.claims) for name, words in texts.items() if name not in given}
    taken = Counter([*filter(None, means.values()), *(name for name in texts if name in given)])
    return {name: claim for name, claim in means.items() if claim and taken[claim] == 1}


def _uses(manifest: Object) -> Iterator[tuple[str, ...]]:
    """Each claim that pods of an object mount, with the names of its volume and the paths of its mounts."""
    for path in SPEC_PATHS.get(str(manifest.get("kind")), ()):
        for _, spec in _holders(manifest, path):
            containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
            mounts = [mount for one in containers for mount in one.get("volumeMounts") or ()]
            for volume in spec.get("volumes") or ():
                if name := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
                    own = (str(one.get("mountPath")) for one in mounts if one.get("name") == volume["name"])
                    yield str(name), str(volume["name"]), *own


def _content(texts: Iterable[str], claims: Mapping[str, str]) -> str | None:
    """The claim that all texts mean that name a content: the last word of each that does, `model-checkpoints`."""
    contents = {content.rstrip("s"): claim for content, claim in claims.items()}
    words = [[word.rstrip("s") for word in re.findall("[a-z]+", text.lower())] for text in texts]
    for others in (_MEANS, _PERHAPS):
        hits = [[found for word in each if (found := contents.get(others.get(word, word)))] for each in words]
        if claimed := {each[-1] for each in hits if each}:
            return claimed.pop() if len(claimed) == 1 else None
    return None


def _unclear(manifest: Object, target: Target, others: Iterable[Object]) -> Iterator[str]:
    """The claims that are still not there, and what there is."""
    there = sorted({*target.claims.values(), *_names(_CLAIM, others)})
    choices = f"write which of {', '.join(there)} it is" if there else "the namespace has no claim"
    for name in sorted({name for name, *_ in _uses(manifest)}.difference(there)):
        yield f"claim {name}: {choices}, create it, or write an `emptyDir` if nothing of it has to stay"


def _existing(target: Target, others: Sequence[Object]) -> tuple[Step, ...]:
    """What no rule refuses: claims that nobody makes, classes that the platform lacks, features that are off."""
    accounts, meant = _names(_ACCOUNT, others), literal(_meant(target, others))
    volumes, known = below(SPEC_PATHS, "volumes[].persistentVolumeClaim"), f"s.claimName in {meant}"
    fills = [Fill(paths=volumes, field="claimName", when="false", wrong=known, right=f"{meant}[s.claimName]")]
    if target.classes is not None:
        classes = literal(["", *sorted(target.classes)])
        fills.append(Fill(paths=_CLAIM_SPECS, removes=f"s.filter(k, k == 'storageClassName' && !(s[k] in {classes}))"))
    if "default" in accounts:
        # Every namespace has this one: the cluster was asked.
        missing = f"k in ['serviceAccountName', 'serviceAccount'] && !(s[k] in {literal(sorted(accounts))})"
        fills.append(Fill(paths=EVERY_SPEC, removes=f"s.filter(k, {missing})"))
    return tuple(Step(EXISTING, fill) for fill in (*fills, *_FEATURES))


def _names(kind: str, objects: Iterable[Object]) -> set[str]:
    return {str((one.get("metadata") or {}).get("name")) for one in objects if one.get("kind") == kind}


def fixed(
    manifest: Object, target: Target, settings: Admission, others: Sequence[Object] = ()
) -> tuple[dict[str, Any], list[Change]]:
    """A copy of an object with the fields that fix it, and what was changed."""
    found: dict[str, Any] = copy.deepcopy(dict(manifest))
    changes: list[Change] = []
    given = (found.get("metadata") or {}).get(NAMESPACE)
    if given not in (None, target.namespace):
        _add(found, changes, Change(("metadata", NAMESPACE), target.namespace, given, NAMESPACE))
    shared = {name: pool for name, pool in target.pools.items() if target.shares is None or name in target.shares}
    context = context_of(replace(target, pools=shared or target.pools), settings)
    every = every_rule(context)
    on = [rule for rule in every if settings.of(rule.name) is not Action.OFF]
    variables, data = {**SHARED, **defaults.VARIABLES}, parameters(every)["data"]
    chosen = _steady(target.pools)
    of_rules = [replace(one, fill=chosen) if one.fill == steady() else one for one in defaults.steps(on)]
    of_steps = [one for one in _steps(target.queue) if one.rule in {rule.name for rule in on}]
    for step in (*of_rules, *of_steps, *_POLICIES, *_existing(target, (manifest, *others))):
        for path in step.fill.paths.get(str(found.get("kind")), ()):
            for at, holder in list(_holders(found, path)):
                env = Variables(variables, without_nulls(found), target, data)
                if cel.compiled(step.condition)(env) is True:
                    seen = {**env, "s": without_nulls(holder), "t": without_nulls(_template(found, at))}
                    for one in _change(step.fill, at, holder, seen, step.rule):
                        _add(found, changes, one)
    return found, changes


def _change(fill: Fill, at: Path, holder: Object, env: Mapping[str, Any], rule: str) -> Iterator[Change]:
    """What a field needs, if anything; nothing where an expression has no value, for example of another type."""
    present = holder.get(fill.field) is not None
    try:
        if fill.removes:
            gone = [name for name in cel.compiled(fill.removes)(env) if name in holder]
            if gone and fill.field:
                yield Change((*at, fill.field), cel.compiled(fill.value)(env), None, rule)
            if set(gone) == set(holder) and gone and not fill.field:
                yield Change(at, None, dict(holder), rule)
            else:
                yield from (Change((*at, name), None, holder[name], rule) for name in gone)
            return
        if not present and cel.compiled(fill.when)(env) is True:
            value = cel.compiled(fill.value)(env)
            if value or not fill.appends:
                yield Change((*at, fill.field), value, None, rule)
        elif present and fill.appends and cel.compiled(fill.when)(env) is True:
            for one in cel.compiled(fill.value)(env):
                yield Change((*at, fill.field), one, holder[fill.field], rule, appended=True)
        elif present and fill.wrong and cel.compiled(fill.wrong)(env) is True:
            value, was = cel.compiled(fill.right or fill.value)(env), holder[fill.field]
            if isinstance(value, Mapping) and isinstance(was, Mapping):
                yield from (Change((*at, fill.field, key), one, was.get(key), rule) for key, one in value.items())
            else:
                yield Change((*at, fill.field), value, was, rule)
    except cel.CelError:
        return


def _template(found: Any, at: Path) -> Any:
    """What has the metadata at or above a place; the object for any other place."""
    for each in at[: at.index("metadata")] if "metadata" in at else ():
        found = found[each]
    return found


def _holders(found: Any, path: str) -> Iterator[tuple[Path, Object]]:
    """The holders at a path, each with its own; one that is to be made is empty."""
    places: list[tuple[Path, Any]] = [((), found)]
    parts = path.removesuffix("+").split(".")
    for number, part in enumerate(parts):
        name = part.removesuffix("[]").removesuffix("{}")
        made: dict[str, Any] | None = {} if path.endswith("+") and number == len(parts) - 1 else None
        below = [
            ((*at, name), made if each.get(name) is None else each[name])
            for at, each in places
            if isinstance(each, Mapping)
        ]
        if part != name:
            below = [
                ((*at, key), one)
                for at, each in below
                for key, one in (each.items() if isinstance(each, Mapping) else enumerate(each or ()))
            ]
        places = [(at, each) for at, each in below if isinstance(each, Mapping)]
    yield from places


def _add(found: Any, changes: list[Change], one: Change) -> None:
    changes.append(one)
    apply(found, one)


def apply(found: Any, change: Change) -> None:
    """Write a change into an object, whose last holder may be missing."""
    *above, last = change.path
    for each in above:
        if isinstance(each, str) and found.get(each) is None:
            found[each] = {}
        found = found[each]
    if change.appended:
        found[last].append(copy.deepcopy(change.value))
    elif change.value is None:
        del found[last]
    else:
        found[last] = copy.deepcopy(change.value)


@dataclass(frozen=True)
class Fixed:
    """A file that was fixed."""

    text: str  # the file
    objects: Sequence[Object]
    changes: Sequence[Sequence[Change]]  # what was changed in each of them
    left: Sequence[Sequence[str]]  # what is left of each of them to its author, with the reason


def file(
    text: str,
    targets: Iterable[tuple[Path, Object, Target | None]],
    settings: Admission,
    existing: Sequence[Object] = (),
) -> Fixed:
    """Fix the objects of a file.

    Args:
        targets: Each object with its number of the document and its path there, and what the stack offers in its
            namespace; None in a namespace of no team, which is left as it is.
        existing: Objects of the namespace, of the kinds `KNOWN`.
    """
    chunks, targets = strict_yaml.chunks(text), list(targets)
    objects, changes, left = [], [], []
    others = [*(one for _, one, _ in targets), *existing]
    by_document: dict[int, list[Change]] = {}
    for path, manifest, target in targets:
        found, own = fixed(manifest, target, settings, others) if target else (manifest, [])
        number, *inside = path
        by_document.setdefault(int(number), []).extend(replace(one, path=(*inside, *one.path)) for one in own)
        objects.append(found)
        changes.append(own)
        broken = violations(found, target, settings) if target else ()
        unclear = _unclear(found, target, others) if target else ()
        left.append([*(f"rule {one.rule.name}: {one.rule.left}" for one in broken), *unclear])
    bodies = [number for number, (_, body) in enumerate(chunks) if strict_yaml.one(body) is not None]
    for number, own in by_document.items():
        if own:
            at = bodies[number]
            border, body = chunks[at]
            chunks[at] = (border, written(body, own))
    return Fixed("".join(border + body for border, body in chunks), objects, changes, left)


def written(body: str, changes: Sequence[Change]) -> str:
    """A YAML document with changes, its comments and its layout."""
    expected = strict_yaml.one(body)
    writer = YAML()
    writer.preserve_quotes = True
    writer.width = 10_000
    offset = _offset(body)
    below = _BELOW.search(body)
    writer.indent(mapping=len(below[1]) if below else 2, sequence=2 + offset, offset=offset)
    out = io.StringIO()
    try:
        document: MutableMapping[str, Any] = writer.load(body)
        for one in changes:
            apply(document, one)
            apply(expected, one)
        writer.dump(document, out)
        same = strict_yaml.one(out.getvalue()) == expected
    except YAMLError as error:
        raise _unwritable(str(error)) from error
    if not same:
        reason = "its values would change"
        raise _unwritable(reason)
    text = out.getvalue()
    return text if body.endswith("\n") else text.removesuffix("\n")


def _unwritable(reason: str) -> SlipwayError:
    msg = f"the file can't be written: {reason}. Correct that, or write the changes yourself"
    return SlipwayError(msg, EXIT_REFUSED)


def _offset(body: str) -> int:
    """How far lists are indented below their key: 0 or 2."""
    found = _LIST.findall(body)
    return 2 if sum(len(item) > len(key.replace("- ", "  ")) for key, item in found) * 2 > len(found) else 0
