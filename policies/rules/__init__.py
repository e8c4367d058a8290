"""Rules, one module per subject. Add a new module to `MODULES`; a rule is found by being in one."""

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Final

from policies.rule import AnyRule

MODULES: Final[Mapping[str, tuple[ModuleType, ...]]] = {
    heading: tuple(import_module(f"{__name__}.{module}") for module in modules.split())
    for heading, modules in {
        "Control plane": "cluster_access clusters cluster_network addons",
        "Nodes": "machines node_software node_groups fleet",
        "GPU capacity and cost": "gpu_pools spot training_pools costs fabric",
        "Storage": "s3 file_systems databases registries protection",
        "Pods": "pods gpu_pods jobs serving",
        "Teams": "boundaries extensions rbac cluster_objects kueue",
        "Keys, permissions and secrets": "keys iam resource_policies node_identity secrets message_queues",
        "Network": "vpc load_balancers",
        "Monitoring": "metrics",
        "Helm": "helm",
        "Program": "program rendering",
    }.items()
}
"""Modules by their heading in docs/policies.md."""


def rules_of(module: ModuleType) -> list[AnyRule]:
    """The rules that a module defines, in the order of the file."""
    return [value for value in vars(module).values() if isinstance(value, AnyRule)]


RULES: Final[tuple[AnyRule, ...]] = tuple(
    rule for modules in MODULES.values() for module in modules for rule in rules_of(module)
)
"""All rules of the pack, in the order of docs/policies.md."""

BY_NAME: Final[Mapping[str, AnyRule]] = {rule.name: rule for rule in RULES}  # rules by name
