"""Small programs for the tests of the recorder."""

from typing import Any

import pulumi


class Thing(pulumi.CustomResource):
    """A resource with one computed output, `copy`."""

    copy: pulumi.Output[str]

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None, **props: Any) -> None:
        super().__init__("toy:index:Thing", name, {**props, "copy": None}, opts)


class Toy(pulumi.ProviderResource):
    """An explicit provider of things."""

    def __init__(self, name: str = "toy", opts: pulumi.ResourceOptions | None = None, **props: Any) -> None:
        super().__init__("toy", name, props, opts)


class Pair(pulumi.ComponentResource):
    """Two things; the second takes the id of the first."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("toy:parts:Pair", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.left = Thing(f"{name}-left", child, text="left")
        self.right = Thing(f"{name}-right", child, text=self.left.id)
        self.register_outputs({"left": self.left.id})


def everything() -> None:
    """One of each: components in components, options, inheritance, secrets, exports."""
    toy = Toy(zone="a")
    pair = Pair("pair", pulumi.ResourceOptions(providers=[toy], protect=True))
    inner = Pair("inner", pulumi.ResourceOptions(parent=pair))
    thing = Thing(
        "thing",
        pulumi.ResourceOptions(
            provider=toy,
            depends_on=[pair, inner.left],
            deleted_with=pair.left,
            retain_on_delete=True,
            delete_before_replace=True,
            ignore_changes=["size", "labels"],
            replace_on_changes=["text"],
            aliases=[pulumi.Alias(name="previous"), "urn:pulumi:dev::slipway::toy:index:Thing::older"],
            custom_timeouts=pulumi.CustomTimeouts(create="5m", delete="1h"),
        ),
        text=inner.right.id,
        password=pulumi.Output.secret("hush"),
        nested={"keys": [pulumi.Output.secret("hush"), "plain"], "size": 3, "share": 0.5, "on": True, "none": None},
    )
    Thing("child", pulumi.ResourceOptions(parent=thing, protect=False), text="x")
    pulumi.export("id", thing.id)
    pulumi.export("password", pulumi.Output.secret("hush"))
    pulumi.log.warn("mind the gap")
