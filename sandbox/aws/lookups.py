"""Data sources of objects that the sandbox keeps: `eks.get_cluster`, `iam.get_role`.

`lookups.yaml` says which type each reads, and how its arguments name the object. An object is found whoever made it:
another program, a script, the AWS CLI.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any, Final

from sandbox.aws.client import Aws
from sandbox.aws.lifecycle import Lifecycle
from sandbox.aws.schema import schema
from sandbox.aws.statements import as_text
from sandbox.aws.types import MAPPINGS
from sandbox.rpc.errors import ProviderError
from spec import strict_yaml

HINT: Final = (
    "make it first, in another program or with `slipway sandbox run -- aws ...`: "
    "docs/guides/any-program.md#what-your-account-has"
)


def named_filters(args: Mapping[str, Any], named: Mapping[str, str]) -> list[dict[str, Any]]:
    """The arguments as filters of EC2, with those that the caller wrote."""
    filters = [{"Name": name, "Values": [as_text(args[key])]} for name, key in named.items() if args.get(key)]
    filters += [{"Name": f"tag:{key}", "Values": [value]} for key, value in (args.get("tags") or {}).items()]
    return filters + [{"Name": one["name"], "Values": one["values"]} for one in args.get("filters") or []]


def only(aws: Aws, operation: str, key: str, what: str, filters: list[dict[str, Any]], hint: str) -> Mapping[str, Any]:
    """The one object of an answer of EC2. Raises ProviderError for none and for several."""
    found: list[Mapping[str, Any]] = aws.call("ec2", operation, Filters=filters)[key]
    if not found:
        msg = f"no matching EC2 {what} found; {hint}"
        raise ProviderError(msg)
    if len(found) > 1:
        msg = f"multiple EC2 {what}s matched; use additional constraints to reduce matches to a single EC2 {what}"
        raise ProviderError(msg)
    return found[0]


def absent(aws: Aws, type_token: str, which: str) -> str:
    """The sentence about an object that the account doesn't have."""
    what = type_token.rpartition(":")[2]
    return f"couldn't find resource: no {what} {which} is in this account of the sandbox, in {aws.region}; {HINT}"


@dataclass(frozen=True, kw_only=True)
class Find:
    """A call of EC2 that finds the object.

    Attributes:
        call: The operation, as boto3 names it.
        list: The list in its answer.
        id: The id in an item of it.
        filters: By the name of a filter: the argument that it takes.
    """

    call: str
    list: str
    id: str
    filters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """A data source.

    Attributes:
        type: The type of its object.
        id: Templates of its id; those count whose names are all given.
        find: How it is found, where the arguments don't give its id.
        lists: Names in the answer, with the type's own name of what they list.
    """

    type: str
    id: Sequence[str] = ()
    find: Find | None = None
    lists: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, aws: Aws, args: Mapping[str, Any]) -> dict[str, Any]:
        """The object. Raises ProviderError if there is none, or several."""
        known = schema(self.type)
        for id in self._ids(aws, args):
            found = known and Lifecycle(aws, known, MAPPINGS[self.type]).read(id, {}, {})
            if found:
                listed = {name: [found.outputs[own]] for name, own in self.lists.items() if found.outputs.get(own)}
                return {**found.outputs, **listed, "id": found.id}
        given = ", ".join(f"{key}={value!r}" for key, value in args.items() if value)
        raise ProviderError(absent(aws, self.type, f"with {given}"))

    def _ids(self, aws: Aws, args: Mapping[str, Any]) -> list[str]:
        known = {**args, "region": aws.region, "account": aws.account, "partition": aws.partition}
        # Of an address, IAM's ARN has no scheme.
        known["url"] = str(known.get("url") or "").removeprefix("https://")
        names = {template: {name for _, name, _, _ in Formatter().parse(template) if name} for template in self.id}
        ids = [template.format(**known) for template in self.id if all(map(known.get, names[template]))]
        if ids or self.find is None:
            return ids
        filters = named_filters(args, self.find.filters)
        found = only(aws, self.find.call, self.find.list, self.type.rpartition(":")[2], filters, HINT)
        return [str(found[self.find.id])]


def _load() -> dict[str, Lookup]:
    rows = strict_yaml.read(Path(__file__).with_name("lookups.yaml").read_text(encoding="utf-8"))
    found = {token: Find(**row.pop("find")) for token, row in rows.items() if "find" in row}
    return {token: Lookup(**row, find=found.get(token)) for token, row in rows.items()}


LOOKUPS: Final[Mapping[str, Lookup]] = MappingProxyType(_load())
"""By the token of the function."""
