"""Checks of the environment and account, and of values that no stack file may contain."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from spec.catalog import regions
from spec.catalog.credentials import credentials
from spec.naming import COMPUTED_TAGS
from spec.settings.checks.base import Context
from spec.settings.environment import Account, Environment
from spec.settings.problems import Problem

MAX_TAGS: Final = 50
"""User tags that one resource may have (AWS General Reference, "Tag naming limits and requirements")."""

_TAG_KEY: Final = re.compile(r"^[A-Za-z0-9 _.:/=+@-]{1,128}$")
_PLACEHOLDER: Final = re.compile(r"CHANGE[ _-]?ME|REPLACE[ _-]?ME|\bTODO\b|<[a-z][a-z -]*>", re.IGNORECASE)


def stack_matches(context: Context, environment: Environment) -> Iterator[Problem]:
    """A file can't be used for another stack."""
    if environment.name != context.stack:
        rule = f"the environment's name must be the stack's name, `{context.stack}`"
        yield Problem(
            "environment.name", rule, environment.name, f"Write `name: {context.stack}`, or use the other stack."
        )


def region_known(context: Context, account: Account) -> Iterator[Problem]:
    """The region exists."""
    if not regions.is_region(account.region):
        close = get_close_matches(account.region, regions.REGIONS, n=2, cutoff=0.8)
        fix = f"Did you mean {' or '.join(close)}?" if close else f"Use {regions.NAMES}."
        yield Problem("account.region", "the region must exist", account.region, fix)


def tags_allowed(context: Context, environment: Environment) -> Iterator[Problem]:
    """Tags that AWS refuses, or that Slipway sets itself."""
    lowered: set[str] = set()
    for key in environment.tags:
        path = f"environment.tags.{key}"
        if key.lower().startswith("aws:"):
            yield Problem(path, "the prefix aws: is reserved for AWS", key, "Use another key.")
        elif not _TAG_KEY.match(key):
            yield Problem(path, "a tag key has letters, digits, spaces and _.:/=+-@", key, "Use only those characters.")
        if key.lower() in COMPUTED_TAGS or key.lower() in lowered:
            yield Problem(
                path,
                "each tag is set once, regardless of case",
                key,
                "Remove it: Slipway or this file already sets it.",
            )
        lowered.add(key.lower())
    if len(environment.tags) + len(COMPUTED_TAGS) > MAX_TAGS:
        rule = f"a resource has at most {MAX_TAGS} tags, of which Slipway sets {len(COMPUTED_TAGS)}"
        yield Problem("environment.tags", rule, len(environment.tags), "Remove some tags.")


def no_secrets(context: Context) -> Iterator[Problem]:
    """Secrets and forgotten placeholders, anywhere in the file."""
    for path, text in _strings(context.raw, ""):
        for what in credentials(text):
            fix = "Revoke it, store a new one in Secrets Manager, and use its ARN here."
            yield Problem(path, f"a stack file must not contain secrets, and this looks like: {what}", text, fix)
        if _PLACEHOLDER.search(text):
            yield Problem(path, "every placeholder must be replaced", text, "Write the real value.")


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(inner, f"{path}.{key}" if path else str(key) or "''")
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _strings(inner, f"{path}.{position}")
