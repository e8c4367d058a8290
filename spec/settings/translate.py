"""Translation of pydantic's errors into problems of the stack file: what must hold, and what to write instead.

Settings that were renamed are refused with the new name: those that mirror a field of Kueue, Karpenter, EKS, EC2, FSx,
RDS, KServe or Argo carry its name since 2026-11 (ADR 0055).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from ipaddress import IPv4Network
from typing import Any, Final

from pydantic_core import ErrorDetails

from spec import strict_yaml
from spec.settings.base import EXPLANATIONS
from spec.settings.problems import Problem

Words = tuple[str, str]
"""Rule and fix of a problem."""


def translate(errors: Iterable[ErrorDetails], path: tuple[str, ...], value: Any, keys: Keys) -> list[Problem]:
    """Problems of one part, one for each path: where a value may have several shapes, all of them are named."""
    problems: dict[str, list[Problem]] = {}
    renamed_keys: set[str] = set()
    short: set[str] = set()
    for details in errors:
        inside = _within(value, details["loc"])
        where = ".".join([*path, *map(str, inside)])
        if details["type"] == "too_short":
            short.add(where)
        if details["type"] == "extra_forbidden" and (new := renamed(where)):
            renamed_keys.add(".".join([*where.split(".")[:-1], new]))
        problems.setdefault(where, []).append(_problem(details, where, keys(inside)))
    # A required key under its old name is one problem, not also a missing key. Wrong entries are not also too few:
    # Pydantic doesn't count them.
    short = {where for where in short if any(other.startswith(f"{where}.") for other in problems)}
    return [_merged(of_path) for where, of_path in problems.items() if where not in {*renamed_keys, *short}]


Keys = Callable[[tuple[int | str, ...]], Iterable[str]]
"""Keys that are allowed next to a key, by its path inside its part."""


def unknown(where: str, value: Any, known: Iterable[str]) -> Problem:
    """A key that does not exist, with the one that is probably meant."""
    if new := renamed(where):
        return Problem(where, f"this key was renamed to {new}", value, f"Write `{new}`.")
    key, names = where.rpartition(".")[2], sorted(known)
    # `ami` means `amiRelease` rather than the `min` that its letters are closer to.
    longer = [name for name in names if name.lower().startswith(key.lower()) or key.lower().startswith(name.lower())]
    close = longer or get_close_matches(key, names, n=1, cutoff=0.8)
    alternative = f", or use one of {', '.join(names)}" if names else ""
    fix = f"Did you mean `{close[0]}`?" if close else f"Remove it{alternative}."
    return Problem(where or "''", "this key is not known", value, fix)


def _within(value: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The parts of a location that are in the file: pydantic adds names of a union's branches and of a key's type."""
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
        return Problem(where, "this key is required", None, f"Add `{details['loc'][-1]}:`.")
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
    return message[0].lower() + message[1:], "See stacks/schema.json for the allowed values."


def _text(given: Any, _: Mapping[str, Any]) -> Words:
    if isinstance(given, bool | int | float):
        return "this must be text", f"Put it in quotes: without them, YAML reads it as {given}."
    return "this must be text", "Write one text, in quotes if YAML could read it as something else."


def _number(given: Any, _: Mapping[str, Any]) -> Words:
    quoted = isinstance(given, str) and given.strip().isdigit()
    return "this must be a whole number", "Remove the quotes." if quoted else "Write only digits."


def _pattern(_: Any, context: Mapping[str, Any]) -> Words:
    return EXPLANATIONS[context["pattern"]]


def _choice(given: Any, context: Mapping[str, Any]) -> Words:
    matches = re.findall(r"'([^']*)'|(\d+)", str(context["expected"]))
    choices = [text or number for text, number in matches]
    close = get_close_matches(str(given), choices, n=1) if isinstance(given, str) else []
    if isinstance(given, int) and choices and all(map(str.isdigit, choices)):
        near = sorted(sorted(choices, key=lambda one: abs(int(one) - given))[:2], key=int)
        return f"this must be {context['expected']}", f"Use {' or '.join(near)}."
    return f"this must be {context['expected']}", f"Did you mean {close[0]}?" if close else f"Use {', '.join(choices)}."


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _value(given: Any, context: Mapping[str, Any]) -> Words:
    """The only validator that raises a ValueError is that of networks."""
    try:
        meant = IPv4Network(given, strict=False)
    except ValueError:
        return "this must be an IPv4 range", "Write it like 10.16.0.0/16."
    return f"the range must start at its first address: {context['error']}", f"Write {meant}."


_WORDS: Final[Mapping[str, Callable[[Any, Mapping[str, Any]], Words]]] = {
    "date_type": lambda *_: ("this must be a day", 'Write it like "2026-12-01".'),
    "string_type": _text,
    "string_pattern_mismatch": _pattern,
    "string_too_long": lambda given, c: (
        f"this has at most {c['max_length']} characters",
        f"Shorten it by {len(given) - c['max_length']}.",
    ),
    "string_too_short": lambda _, c: (
        f"this has at least {c['min_length']} characters",
        f"Write at least {c['min_length']}.",
    ),
    "int_type": _number,
    "int_parsing": _number,
    "int_from_float": _number,
    "bool_type": lambda _, __: ("this must be true or false", "Write true or false, without quotes."),
    "greater_than_equal": lambda _, c: (f"this must be at least {c['ge']}", f"Use {c['ge']} or more."),
    "less_than_equal": lambda _, c: (f"this must be at most {c['le']}", f"Use {c['le']} or less."),
    "too_short": lambda _, c: (f"this has at least {_entries(c['min_length'])}", "Add entries."),
    "too_long": lambda _, c: (f"this has at most {_entries(c['max_length'])}", "Remove some entries."),
    "literal_error": _choice,
    "enum": _choice,
    "value_error": _value,
    "model_type": lambda _, __: ("this must be a map", "Write its keys below it, or in braces."),
    "model_attributes_type": lambda _, __: ("this must be a map", "Write its keys below it, or in braces."),
    "dict_type": lambda _, __: ("this must be a map", "Write its keys below it, or in braces."),
    "tuple_type": lambda _, __: ("this must be a list", "Write its entries below it with dashes, or in brackets."),
}


RENAMED: Final[Mapping[str, str]] = strict_yaml.beside(__file__, "renamed")
"""New name of the last key, by the old path; `*` matches any name."""


def renamed(path: str) -> str | None:
    """New name of a setting's last key; None if the path is not an old one.

    Args:
        path: Path as the file spells it: `teams.vision.gpus.h100.nominal`.
    """
    parts = path.split(".")
    for old, new in RENAMED.items():
        wanted = old.split(".")
        if len(wanted) == len(parts) and all(one in ("*", part) for one, part in zip(wanted, parts, strict=True)):
            return new
    return None
