"""Mutation tests: for every mutation of a rule's predicate, some fixture of the rule fails.

Each decision inside the modules of rules is inverted, one at a time. The fixtures of the mutated module must then no
longer agree with its rules. A check that reports nothing or everything is noticed by test_rules.py.
"""

import __future__

import ast
import inspect
from collections.abc import Iterator, Mapping
from itertools import count
from types import ModuleType
from typing import Any

import pytest

from policies.rule import AnyRule
from policies.rules import MODULES
from tests.policies.fixtures import FIXTURES
from tests.policies.support import checks, findings_in

MODULE_LIST = [module for modules in MODULES.values() for module in modules]

FLAGS = __future__.annotations.compiler_flag
"""A part of a module is compiled without the import at its top, and annotations name what type checkers import."""

EQUIVALENT: Mapping[str, str] = {}
"""Equivalent mutants, by name, with the reason."""


def agrees(rule: AnyRule) -> bool:
    """Whether a rule reports no violation in its good fixtures, and the expected one in each bad fixture."""
    fixtures = FIXTURES[rule.name]
    for good in fixtures.good:
        if findings_in(rule, good):
            return False
    bad = [(key, one, "prod") for key, of_check in fixtures.bad.items() for one in of_check]
    for key, elsewhere in fixtures.bad_elsewhere.items():
        bad += [(key, one, environment) for environment, more in elsewhere.items() for one in more]
    return all(checks(findings_in(rule, one, environment)) == {key} for key, one, environment in bad)


_INVERTED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is}  # fmt: skip


class Mutator(ast.NodeTransformer):
    """Inverts the n-th decision inside functions; `name` describes it."""

    def __init__(self, number: int) -> None:
        self.number, self.seen, self.depth, self.name = number, -1, 0, ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    def _hit(self, node: ast.AST, what: str) -> bool:
        self.seen += bool(self.depth)
        if self.depth and self.seen == self.number:
            self.name = f"{what}: {ast.unparse(node)}"
            return True
        return False

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        for index, operator in enumerate(node.ops):
            if type(operator) in _INVERTED and self._hit(node, "comparison"):
                node.ops[index] = _INVERTED[type(operator)]()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._hit(node, "and/or"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node.operand if isinstance(node.op, ast.Not) and self._hit(node, "not") else node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self._hit(node.test, "if"):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) and self._hit(node, "constant"):
            return ast.Constant(not node.value)
        return node


def mutants(module: ModuleType) -> Iterator[tuple[str, tuple[AnyRule, ...]]]:
    """Rules of the module with one decision inverted, for each of its decisions.

    Only the function with the decision is parsed and compiled again: 4 s of CPU instead of 11 (2026-11).
    """
    parts = [ast.unparse(one) for one in ast.parse(inspect.getsource(module)).body]
    codes = [compile(part, module.__name__, "exec", FLAGS) for part in parts]
    for index, part in enumerate(parts):
        for number in count():
            mutator = Mutator(number)
            mutated = ast.fix_missing_locations(mutator.visit(ast.parse(part)))
            if not mutator.name:
                break
            names: dict[str, Any] = {"__name__": module.__name__}
            for code in (*codes[:index], compile(mutated, module.__name__, "exec", FLAGS), *codes[index + 1 :]):
                exec(code, names)  # noqa: S102
            yield f"{module.__name__}: {mutator.name}", tuple(one for one in names.values() if isinstance(one, AnyRule))


def survives(rules: tuple[AnyRule, ...]) -> bool:
    try:
        return all(agrees(rule) for rule in rules)
    except Exception:
        return False  # a mutant that crashes does not survive either


@pytest.mark.parametrize("module", MODULE_LIST, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_inverted_decision_survives(module: ModuleType) -> None:
    survivors = [name for name, rules in mutants(module) if survives(rules)]
    assert [name for name in survivors if name not in EQUIVALENT] == []
