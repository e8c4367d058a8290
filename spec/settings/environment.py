"""Settings of the environment: its owner, and the one account and region that a run may change."""

from typing import Annotated

from pydantic import Field, StringConstraints

from spec.catalog import regions
from spec.settings.base import Model, Name, Text, pattern
from spec.settings.existing import Zone

ZoneId = Annotated[
    str,
    pattern(
        r"^[a-z]{3,5}[0-9]-az[0-9]$",
        rule="a zone's ID is written like use1-az6",
        fix="Use the ID, not the name, of the zone.",
    ),
]


class Environment(Model):
    """Name, owner and protection of the environment."""

    name: Name
    """Name of the environment. It must be the name of the stack, so that a file can't be used for another stack."""
    owner: Text
    """Team that is responsible for the environment; becomes the tag `owner`."""
    cost_center: Text
    """Cost center that is billed; becomes the tag `cost-center`."""
    protect: bool = False
    """Protect resources that hold state or can't be recreated (cluster, keys, network): `destroy` refuses to remove
    them."""
    tags: dict[Annotated[str, StringConstraints(min_length=1, max_length=128)], Text] = Field(default_factory=dict)
    """Additional tags for every resource."""


class Account(Model):
    """AWS account and region. A run against another account fails before it changes anything."""

    id: Annotated[
        str, pattern(r"^[0-9]{12}$", rule="an account ID has 12 digits", fix='Write it in quotes: "111122223333".')
    ]
    """AWS account ID, 12 digits, in quotes: without them, YAML reads a number and drops leading zeros."""
    region: Annotated[
        str,
        pattern(r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$", rule="a region is named like us-east-1", fix=f"Use {regions.NAMES}."),
    ]
    """AWS Region of everything in the stack."""
    zone_ids: dict[Zone, ZoneId] = Field(default_factory=dict)
    """IDs of the network's zones in this account, as `aws ec2 describe-availability-zones --query
    'AvailabilityZones[].[ZoneName,ZoneId]'` prints them: `{us-east-1a: use1-az6}`. EC2 offers instance types by zone
    ID, and the ID of a name differs between accounts. If set, pools use only zones that offer their types; if unset,
    types that some zones lack are a warning."""
