"""What admission rules that warn or audit would have refused, from the audit log of an API server."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from slipway.why.refusals import refusal
from spec.errors import refuse

_T = TypeVar("_T")
FAILURE: Final = "validation.policy.admission.k8s.io/validation_failure"
"""Annotation of a request that a binding with the action Audit let through: a list with one failure (kubernetes.io,
"Audit Annotations"; k8s.io/apiserver 1.36, pkg/admission/plugin/policy/validating/dispatcher.go)."""
_COMPLETE: Final = "ResponseComplete"  # the stage whose event has all annotations (audit.k8s.io/v1)
_REFUSED: Final = 400
_LONGEST: Final = 2**22
"""Characters of a line. An object, which an event may have twice, has at most 1.5 MiB (etcd, --max-request-bytes)."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\S+ (?=\{)")  # before each event in an export of CloudWatch to S3
_SHOWN: Final = 10  # lines that an error names, and objects of one rule that the text names


@dataclass(frozen=True)
class Violation:
    """A violation of a request that was accepted."""

    namespace: str  # its namespace; empty for an object of the cluster
    policy: str  # name of the ValidatingAdmissionPolicy
    subject: str  # `jobs/train`; without a name for one that the API server named
    user: str  # who asked
    message: str  # what the rule says
    time: str  # when, as in the log


@dataclass
class Group:
    """Violations of one rule with one message, in the namespaces of one team."""

    team: str
    rule: str
    cause: str
    fix: str
    requests: int = 0
    last: str = ""
    objects: dict[str, None] = field(default_factory=dict)
    users: dict[str, None] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The group as plain values."""
        return {**vars(self), "objects": list(self.objects), "users": list(self.users)}

    def text(self) -> str:
        """The group as text."""
        named = ", ".join(list(self.objects)[:_SHOWN])
        more = f" and {len(self.objects) - _SHOWN} more" if len(self.objects) > _SHOWN else ""
        asked = f"{self.requests} request{'' if self.requests == 1 else 's'}, the last at {self.last}"
        return f"  {self.cause}\n    next: {self.fix}\n    {named}{more} ({asked}, by {', '.join(self.users)})"


def read(name: str, lines: Iterable[str]) -> list[Violation]:
    """The violations in a log, in its order.

    Args:
        name: Its name, for errors.
        lines: An event of the group audit.k8s.io in JSON on each; a time may be before it.
    """
    return _read(name, lines, _violations)


def events(name: str, lines: Iterable[str]) -> list[Mapping[str, Any]]:
    """All events of a log, as `read` takes one."""
    return _read(name, lines, lambda event: [event])


def _read(name: str, lines: Iterable[str], of: Callable[[Mapping[str, Any]], Iterable[_T]]) -> list[_T]:
    found: list[_T] = []
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        text = _TIME.sub("", line.strip(), count=1)
        try:
            found += of(_event(text)) if text else ()
        except (ValueError, RecursionError) as error:
            wrong.append(f"{name}:{number}: {_printable(str(error))}")
    if wrong:
        more = [f"and {len(wrong) - _SHOWN} more lines"] if len(wrong) > _SHOWN else []
        refuse("\n".join([f"{len(wrong)} line(s) are no audit events:", *wrong[:_SHOWN], *more]))
    return found


def grouped(violations: Iterable[Violation], teams: Mapping[str, str]) -> list[Group]:
    """Violations by team, rule and message; the team of a namespace that is not in `teams` is the namespace itself."""
    groups: dict[tuple[str, str, str], Group] = {}
    for one in violations:
        team = teams.get(one.namespace) or (f"namespace {one.namespace}" if one.namespace else "cluster")
        group = groups.get((team, one.policy, one.message)) or Group(team, one.policy, *_advice(one))
        groups[team, one.policy, one.message] = group
        group.requests += 1
        group.last = max(group.last, one.time)
        group.objects[f"{one.namespace}/{one.subject}" if one.namespace else one.subject] = None
        group.users[one.user] = None
    return sorted(groups.values(), key=lambda each: (each.team, each.rule, each.cause))


def _advice(one: Violation) -> tuple[str, str]:
    """What is wrong, and the fix, as `slipway why` says them of a refusal."""
    text = f"ValidatingAdmissionPolicy '{one.policy}' with binding '{one.policy}' denied request: {one.message}"
    part = refusal(text)
    return (part.cause, part.fix) if part else (one.message, "change it as the rule says")


def _event(text: str) -> Mapping[str, Any]:
    if len(text) > _LONGEST:
        msg = f"it has {len(text)} characters, more than {_LONGEST}"
        raise ValueError(msg)
    try:
        event = json.loads(text)
    except json.JSONDecodeError as error:
        msg = f"not JSON: {error.msg} at character {error.pos + 1}"
        raise ValueError(msg) from error
    if not isinstance(event, dict) or event.get("kind") != "Event":
        msg = "not an object of kind Event (audit.k8s.io/v1)"
        raise ValueError(msg)
    if not str(event.get("apiVersion")).startswith("audit.k8s.io/"):
        msg = f"apiVersion must be audit.k8s.io/v1 (given: {event.get('apiVersion')!r})"
        raise ValueError(msg)
    return event


def _violations(event: Mapping[str, Any]) -> Iterator[Violation]:
    annotations = _mapping(event, "annotations")
    if FAILURE not in annotations or event.get("stage") != _COMPLETE:
        return
    code = _mapping(event, "responseStatus").get("code")
    if not isinstance(code, int):
        msg = f"responseStatus.code must be a number (given: {code!r})"
        raise ValueError(msg)
    if code >= _REFUSED or "dryRun=" in str(event.get("requestURI")):
        return
    failures = json.loads(_string(annotations, FAILURE))
    if not isinstance(failures, list) or not all(isinstance(one, dict) for one in failures):
        msg = f"annotation {FAILURE} must be a list of objects"
        raise ValueError(msg)
    about = _mapping(event, "objectRef")
    kind = "/".join(filter(None, (_string(about, "resource"), str(about.get("subresource") or ""))))
    for one in failures:
        yield Violation(
            namespace=_printable(str(about.get("namespace") or "")),
            policy=_string(one, "policy"),
            subject=_printable(f"{kind}/{about.get('name') or '(generated name)'}"),
            user=_string(_mapping(event, "user"), "username"),
            message=_string(one, "message"),
            time=_string(event, "requestReceivedTimestamp"),
        )


def _mapping(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name) or {}
    if not isinstance(value, dict):
        msg = f"{name} must be an object (given: {str(value)[:40]!r})"
        raise ValueError(msg)
    return value


def _string(of: Mapping[str, Any], name: str) -> str:
    value = of.get(name)
    if not isinstance(value, str):
        msg = f"{name} must be a text (given: {str(value)[:40]!r})"
        raise ValueError(msg)
    return value if name == FAILURE else _printable(value)


def _printable(text: str) -> str:
    """Without characters that would act on a terminal: whoever may send a request chooses what the log has."""
    return "".join(each if each.isprintable() else "?" for each in text)
