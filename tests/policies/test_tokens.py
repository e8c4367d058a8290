"""Type tokens match the classes of the SDK, and rules use no others."""

import importlib
import subprocess
import sys
import warnings

from policies.resources import tokens
from policies.rule import ANY
from policies.rules import RULES


def test_tokens_match_their_classes() -> None:
    assert tokens.SDK
    for token, path in tokens.SDK.items():
        module, _, name = path.rpartition(".")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            assert getattr(importlib.import_module(module), name).pulumi_type == token, path


def test_a_service_named_as_a_word_of_python_has_its_package() -> None:
    assert tokens.package("aws:lambda/function:Function") == "lambda_"


def test_rules_use_known_tokens_only() -> None:
    known = {value for name, value in vars(tokens).items() if name.isupper() and isinstance(value, str)}
    unknown = {token for rule in RULES if rule.types != ANY for token in rule.types} - known
    assert unknown == set(), "use the names of policies/resources/tokens.py in `types` of the rule, or add them there"


def test_components_have_the_tokens_that_rules_use() -> None:
    from components.pools.karpenter import KarpenterPool  # noqa: PLC0415
    from components.pools.managed import ManagedPool  # noqa: PLC0415

    assert (ManagedPool.PULUMI_TYPE, KarpenterPool.PULUMI_TYPE) == tokens.POOLS


def test_the_pack_imports_neither_the_sdks_classes_nor_the_models_of_settings_nor_tests() -> None:
    """Every preview pays for them: 2 s of CPU for `pulumi_aws`, 0.24 s for pydantic and `spec.settings` (2026-11)."""
    code = "import sys, policies.pack; policies.pack.policies('prod'); print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {module.partition(".")[0] for module in process.stdout.split()}
    assert "policies" in imported
    assert imported.isdisjoint({"pulumi_aws", "pulumi_kubernetes", "pydantic", "tests"})
