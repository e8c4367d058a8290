"""Every add-on, by the settings class that enables it, and their order: what an add-on requires or follows comes before
it.
"""

import pkgutil
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from typing import Any, Final, get_args

from components import addons as package
from components.base.addon import AddOn
from components.base.controllers import Controller, Scheduler
from spec.settings.addons import Addons, AddonSettings

Kinds = Mapping[str, type[AddonSettings]]


def before(kinds: Kinds) -> dict[str, tuple[str, ...]]:
    """For each enabled add-on, those that come directly before it, sorted.

    Args:
        kinds: Settings classes of the enabled add-ons, by name.

    Raises:
        ValueError: If one requires an add-on that isn't enabled, or two exclude each other; the message names both.
    """
    names = {kind: name for name, kind in kinds.items()}
    for name, kind in sorted(kinds.items()):
        for other in kind.requires:
            if other not in names:
                msg = f"{name} requires {other.__name__}, which is not enabled"
                raise ValueError(msg)
        for other in kind.excludes:
            if other in names:
                msg = f"{name} and {names[other]} exclude each other"
                raise ValueError(msg)
    return {
        name: tuple(sorted(names[other] for other in (*kind.requires, *kind.follows) if other in names))
        for name, kind in kinds.items()
    }


def sequence(kinds: Kinds) -> tuple[str, ...]:
    """Names in an order that satisfies `before`; deterministic for the same set.

    Raises:
        ValueError: As `before`, and for a cycle, with its path.
    """
    graph = before(kinds)
    try:
        return tuple(TopologicalSorter({name: graph[name] for name in sorted(graph)}).static_order())
    except CycleError as error:
        msg = f"add-ons depend on each other in a cycle: {' -> '.join(error.args[1])}"
        raise ValueError(msg) from None


def _found() -> Iterator[tuple[type[AddonSettings], type[AddOn[Any]]]]:
    """The components of the modules beside this one, by the settings that their base class names."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, type) and issubclass(one, AddOn) and one.__module__.startswith(package.__name__):
                (base,) = one.__orig_bases__  # type: ignore[attr-defined]
                yield get_args(base)[0], one


REGISTRY: Final = dict(_found())


def wanted(addons: Addons, installed: Collection[str] = ()) -> dict[str, AddOn[Any]]:
    """Enabled add-ons, by name, without those of these keys, which the cluster has."""
    enabled = (REGISTRY[type(settings)](settings) for key, settings in addons.wanted() if key not in installed)
    return {addon.name: addon for addon in enabled}


def controllers(addons: Addons) -> tuple[tuple[str, Controller], ...]:
    """Controllers of the enabled add-ons that act in namespaces of teams, with the namespaces of their accounts."""
    return tuple((addon.namespace.name, each) for addon in wanted(addons).values() for each in addon.controllers)


def scheduler(addons: Addons) -> Scheduler | None:
    """What schedules the pods of teams instead of kube-scheduler."""
    return next((addon.scheduler for addon in wanted(addons).values() if addon.scheduler), None)
