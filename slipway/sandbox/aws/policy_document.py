"""Rendering IAM policy documents like the data source `aws_iam_policy_document`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

DEFAULT_VERSION = "2012-10-17"
_LISTS = {"actions": "Action", "notActions": "NotAction", "resources": "Resource", "notResources": "NotResource"}
_PRINCIPALS = {"principals": "Principal", "notPrincipals": "NotPrincipal"}


def render(args: Mapping[str, Any]) -> str:
    """The policy document: source documents, then the statements, then overrides; equal Sids replace earlier ones."""
    sources = [*(args.get("sourcePolicyDocuments") or []), *_one(args.get("sourceJson"))]
    overrides = [*(args.get("overridePolicyDocuments") or []), *_one(args.get("overrideJson"))]
    statements: list[dict[str, Any]] = []
    for text in sources:
        statements = _merged(statements, _statements(text))
    statements = _merged(statements, [statement(item) for item in args.get("statements") or []])
    for text in overrides:
        statements = _merged(statements, _statements(text))
    identity = {"Id": args["policyId"]} if args.get("policyId") else {}
    document = {"Version": args.get("version") or DEFAULT_VERSION, **identity, "Statement": statements}
    return json.dumps(document, indent=2)


def statement(item: Mapping[str, Any]) -> dict[str, Any]:
    """One statement; a list of one item becomes the item, as IAM writes it."""
    rendered: dict[str, Any] = {"Sid": item["sid"]} if item.get("sid") else {}
    rendered["Effect"] = item.get("effect") or "Allow"
    for name, key in _LISTS.items():
        if item.get(name):
            rendered[key] = _single([_variables(text) for text in item[name]])
    for name, key in _PRINCIPALS.items():
        if item.get(name):
            rendered[key] = _principal(item[name])
    conditions: dict[str, Any] = {}
    for condition in item.get("conditions") or []:
        values = _single([_variables(text) for text in condition["values"]])
        conditions.setdefault(condition["test"], {})[condition["variable"]] = values
    return {**rendered, **({"Condition": conditions} if conditions else {})}


def _principal(items: list[Mapping[str, Any]]) -> Any:
    by_type: dict[str, list[str]] = {}
    for item in items:
        by_type.setdefault(item["type"], []).extend(item["identifiers"])
    return "*" if by_type == {"*": ["*"]} else {key: _single(values) for key, values in by_type.items()}


def _variables(text: Any) -> str:
    """`&{aws:username}` means IAM's `${aws:username}`, which Terraform's language would evaluate itself."""
    return str(text).replace("&{", "${")


def _single(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else values


def _one(text: Any) -> list[str]:
    return [str(text)] if text else []


def _statements(text: str) -> list[dict[str, Any]]:
    statements = json.loads(text).get("Statement", [])
    return [statements] if isinstance(statements, dict) else list(statements)


def _merged(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Both lists; a later statement replaces an earlier one with the same Sid."""
    result = list(first)
    places = {item["Sid"]: index for index, item in enumerate(result) if item.get("Sid")}
    for item in second:
        if item.get("Sid") in places:
            result[places[item["Sid"]]] = item
        else:
            result.append(item)
    return result
