"""The deployer's IAM policies, and what they allow."""

import fnmatch
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import cfnlint

from tests.deploy.operations import ROOT

FOLDER: Final = ROOT / "deploy" / "iam"
FILES: Final = tuple(sorted(FOLDER.glob("*.json")))


@cache
def document(path: Path) -> Mapping[str, Any]:
    """One policy."""
    parsed: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return parsed


def statements(effect: str = "Allow") -> list[Mapping[str, Any]]:
    """The statements of all files with an effect."""
    every = (one for path in FILES for one in document(path)["Statement"])
    return [one for one in every if one["Effect"] == effect]


def each(value: str | list[str]) -> list[str]:
    """IAM writes a list of one as a text."""
    return [value] if isinstance(value, str) else value


@cache
def allowed(action: str, arn: str | None = None) -> bool:
    """Whether a statement allows an action, on a resource if one is given; conditions count as met."""
    for one in statements():
        fits = any(fnmatch.fnmatchcase(action.lower(), pattern.lower()) for pattern in each(one["Action"]))
        if fits and (arn is None or any(fnmatch.fnmatchcase(arn, pattern) for pattern in each(one["Resource"]))):
            return True
    return False


@cache
def _services() -> Mapping[str, Any]:
    # cfn-lint ships the Service Authorization Reference, action names in lower case.
    path = Path(cfnlint.__file__).parent / "data" / "AdditionalSpecs" / "Policies.json"
    parsed: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return parsed


def matching(pattern: str) -> Iterator[str]:
    """Actions of AWS that a pattern of a policy means, in lower case."""
    service, _, name = pattern.partition(":")
    for known in _services().get(service, {}).get("Actions", {}):
        if fnmatch.fnmatchcase(known, name.lower()):
            yield f"{service}:{known}"


@cache
def arns(action: str) -> list[str]:
    """ARNs of what an action can be limited to, as regular expressions; none if it can't."""
    service, _, name = action.lower().partition(":")
    resources, found = _services()[service]["Resources"], _services()[service]["Actions"][name]
    formats = [one for kind in found.get("Resources", []) for one in resources[kind.lower()]["ARNFormats"]]
    return [re.sub(r"\$\{\w+\}", "[^:]*", one) for one in formats]
