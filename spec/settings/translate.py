"""From pydantic's errors to problems in the words of the file: what must hold, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from ipaddress import IPv4Network
from typing import Any, Final

from pydantic_core import ErrorDetails

from spec.settings.problems import Problem
from spec.settings.renamed import renamed

PATTERNS: Final[Mapping[str, tuple[str, str]]] = {
    r"^[a-z]([a-z0-9-]{0,28}[a-z0-9])?$": (
        "a name has 1 to 30 characters: lower-case letters, digits and dashes",
        "Let it start with a letter, and not end with a dash.",
    ),
    r"^[A-Za-z0-9 _.:/=+@-]+$": ("text has letters A to Z, digits, spaces and _.:/=+-@", "Use those characters only."),
    r"^db\.[a-z0-9-]+\.[a-z0-9]+$": (
        "a database's machine is a class of RDS, and no type of EC2",
        "Write it like db.t4g.medium.",
    ),
    r"^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:ecr-pullthroughcache/[A-Za-z0-9_/+=.@-]+$": (
        "credentials of a cache are the ARN of a secret whose name begins with ecr-pullthroughcache/",
        "Name the secret so, and write its ARN.",
    ),
    r"^[0-9]{12}$": ("an account has 12 digits", 'Write it in quotes: "111122223333".'),
    r"^[a-z]{2}(-[a-z]+)+-[0-9]$": ("a region is named like us-east-1", "Use a region's name, not a zone's."),
    r"^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$": ("a zone is named like us-east-1a", "Use the zone's name, not its ID."),
    r"^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[\w+=,.@/-]+$": (
        "a principal is the ARN of an IAM role or user",
        "Write it like arn:aws:iam::111122223333:role/platform-admin.",
    ),
    r"^[a-z][a-z0-9-]{0,39}$": (
        "a cluster's name has 1 to 40 characters: lower-case letters, digits and dashes, a letter first",
        "Shorten it, and use those characters only.",
    ),
    r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$": (
        "a domain has two labels or more, of lower-case letters, digits and dashes",
        "Write it like models.example.com.",
    ),
    r"^[a-z0-9][a-zA-Z0-9._/:-]*[:@][A-Za-z0-9][A-Za-z0-9._:-]*$": (
        "an image has a tag or a digest",
        "Write it like registry.example.com/team/train:1.4.",
    ),
    r"^1\.[0-9]{2}$": ("a version is a minor version in quotes", 'Write it like "1.35".'),
    r"^v\d+\.\d+\.\d+-eksbuild\.\d+$": ("a version of an add-on is one of EKS", "Write it like v1.20.4-eksbuild.1."),
    r"^([0-9]+|[0-9]{1,2}%|100%)$": ("nodes are a count or a percentage", 'Write it in quotes, like "0" or "10%".'),
    r"^(\S+\s+){4}\S+$": ("a schedule is a cron expression of five fields", "Write it like 0 7 * * mon-fri."),
    r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$": (
        "a duration has hours, minutes or seconds",
        "Write it like 10m, 24h or 1h30m.",
    ),
    r"^([0-9]+h)?([0-9]+m)?$": ("a window's duration has hours and minutes", "Write it like 12h or 1h30m."),
    r"^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$": (
        "a label's key has at most 63 letters, digits and _.-, after a domain and a slash where there is one",
        "Write it like example.com/team.",
    ),
    r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$": (
        "a label's value has at most 63 letters, digits and _.-",
        "Shorten it, and let it start and end with a letter or digit.",
    ),
    r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$": (
        "this is a tag and a label: at most 63 letters, digits and _.-",
        "Shorten it, and let it start and end with a letter or digit.",
    ),
    r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$": (
        "a name of a Secret has lower-case letters, digits, dots and dashes",
        "Write the Secret's name, not what is in it.",
    ),
    r"^https://\S+$": ("an address begins with https://", "Write the whole URL, without spaces."),
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$": ("a mail address has one @ and a domain", "Write it like ml-platform@example.com."),
    r"^[A-Za-z0-9_.:/=+@-]{1,128}$": (
        "a tag's key has 1 to 128 letters, digits and _.:/=+@-",
        "Use those characters only, and no spaces.",
    ),
    r"^arn:aws[a-z-]*:ce::[0-9]{12}:anomalymonitor/[0-9a-f-]{36}$": (
        "a watch for anomalies is the ARN of a monitor",
        "Take it from `aws ce get-anomaly-monitors`.",
    ),
    r"^cr-[0-9a-f]{8,17}$": ("a reservation's id is one of EC2", "Write it like cr-0a1b2c3d4e5f67890."),
}
"""What each pattern of the models means, and what to do about it."""

Words = tuple[str, str]


def translate(errors: Iterable[ErrorDetails], path: tuple[str, ...], value: Any, keys: Keys) -> list[Problem]:
    """Problems of one part, one for each place: where a value may have several shapes, all of them are named."""
    found: dict[str, list[Problem]] = {}
    written_as_before: set[str] = set()
    for details in errors:
        inside = _within(value, details["loc"])
        where = ".".join([*path, *map(str, inside)])
        if details["type"] == "extra_forbidden" and (new := renamed(where)):
            written_as_before.add(".".join([*where.split(".")[:-1], new]))
        found.setdefault(where, []).append(_problem(details, where, keys(inside)))
    # A required key under its old name is one problem, and not a missing one besides.
    return [_merged(problems) for where, problems in found.items() if where not in written_as_before]


Keys = Callable[[tuple[int | str, ...]], Iterable[str]]
"""Keys that may stand beside a place, by the place's path inside its part."""


def unknown(where: str, value: Any, known: Iterable[str]) -> Problem:
    """A key that is not known, with the one that may be meant."""
    if new := renamed(where):
        return Problem(where, f"this key was renamed to {new}", value, f"Write `{new}`.")
    key, names = where.rpartition(".")[2], sorted(known)
    # `ami` means `amiRelease` rather than the `min` that its letters are closer to.
    longer = [name for name in names if name.lower().startswith(key.lower()) or key.lower().startswith(name.lower())]
    close = longer or get_close_matches(key, names, n=1, cutoff=0.8)
    fix = f"Did you mean `{close[0]}`?" if close else f"Remove it, or use one of {', '.join(names)}."
    return Problem(where or "''", "this key is not known", value, fix)


def _within(value: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Those parts of a location that are in the file: pydantic adds names of a union's branches and of a key's type."""
    inside: list[int | str] = []
    for position, part in enumerate(loc):
        is_entry = isinstance(part, int) and isinstance(value, list)
        is_missing = position == len(loc) - 1 and isinstance(value, Mapping) and part != "[key]"
        if is_entry or (isinstance(value, Mapping) and part in value):
            value = value[part]
            inside.append(part)
        elif is_missing:
            inside.append(part)
    return tuple(inside)


def _problem(details: ErrorDetails, where: str, known: Iterable[str]) -> Problem:
    kind, given = details["type"], details["input"]
    if kind == "extra_forbidden":
        return unknown(where, given, known)
    if kind == "missing":
        return Problem(where, "this key must be given", None, f"Add `{details['loc'][-1]}:`.")
    words = _WORDS.get(kind)
    rule, fix = words(given, details.get("ctx", {})) if words else _as_pydantic_says(details)
    return Problem(where, rule, given, fix)


def _merged(problems: list[Problem]) -> Problem:
    first, *rest = problems
    if not rest:
        return first
    rule = ", or ".join(dict.fromkeys(problem.rule for problem in problems))
    return Problem(first.path, rule, first.value, " ".join(dict.fromkeys(problem.fix for problem in problems)))


def _as_pydantic_says(details: ErrorDetails) -> Words:
    message = details["msg"]
    return message[0].lower() + message[1:], "See stacks/schema.json for what it takes."


def _text(given: Any, _: Mapping[str, Any]) -> Words:
    if isinstance(given, bool | int | float):
        return "this must be text", f"Put it in quotes: without them, YAML made {given} of it."
    return "this must be text", "Write one text, in quotes where YAML could take it for something else."


def _number(given: Any, _: Mapping[str, Any]) -> Words:
    quoted = isinstance(given, str) and given.strip().isdigit()
    return "this must be a whole number", "Remove the quotes." if quoted else "Write digits alone."


def _pattern(_: Any, context: Mapping[str, Any]) -> Words:
    return PATTERNS[context["pattern"]]


def _choice(given: Any, context: Mapping[str, Any]) -> Words:
    found = re.findall(r"'([^']*)'|(\d+)", str(context["expected"]))
    choices = [text or number for text, number in found]
    close = get_close_matches(str(given), choices, n=1) if isinstance(given, str) else []
    return f"this must be {context['expected']}", f"Did you mean {close[0]}?" if close else f"Use {', '.join(choices)}."


def _value(given: Any, context: Mapping[str, Any]) -> Words:
    """The one validator that raises by itself is that of networks."""
    try:
        meant = IPv4Network(given, strict=False)
    except ValueError:
        return "this must be an IPv4 range", "Write it like 10.16.0.0/16."
    return f"the range must start at its first address: {context['error']}", f"Write {meant}."


_WORDS: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], Words]]] = {
    "string_type": _text,
    "string_pattern_mismatch": _pattern,
    "string_too_long": lambda given, c: (
        f"this has at most {c['max_length']} characters",
        f"Shorten it by {len(given) - c['max_length']}.",
    ),
    "string_too_short": lambda _, c: (f"this has at least {c['min_length']} characters", "Write more."),
    "int_type": _number,
    "int_parsing": _number,
    "int_from_float": _number,
    "bool_type": lambda _, __: ("this must be true or false", "Write true or false, without quotes."),
    "greater_than_equal": lambda _, c: (f"this must be at least {c['ge']}", f"Use {c['ge']} or more."),
    "less_than_equal": lambda _, c: (f"this must be at most {c['le']}", f"Use {c['le']} or less."),
    "too_short": lambda _, c: (f"this has at least {c['min_length']} entries", "Add to it."),
    "too_long": lambda _, c: (f"this has at most {c['max_length']} entries", "Remove some."),
    "literal_error": _choice,
    "enum": _choice,
    "value_error": _value,
    "model_type": lambda _, __: ("this must be a map", "Write its keys below it, or in braces."),
    "model_attributes_type": lambda _, __: ("this must be a map", "Write its keys below it, or in braces."),
    "dict_type": lambda _, __: ("this must be a map", "Write its keys below it, or in braces."),
    "tuple_type": lambda _, __: ("this must be a list", "Write its entries below it with dashes, or in brackets."),
}
