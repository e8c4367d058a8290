"""The pack as the engine sees it: names, levels by stack, settings and configuration files."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel

from policies import pack
from policies.rule import ENVIRONMENTS, Levels
from policies.rules import RULES
from policies.rules.gpu_pools import BOUNDED
from tests.policies.fixtures import FIXTURES
from tests.policies.support import analyze_request, analyzer
from tests.support.day import TODAY
from tests.support.generated import POLICIES
from tests.support.patience import SECONDS

ROOT = Path(__file__).resolve().parents[2]


def test_names_are_unique_and_listed_once() -> None:
    names = [policy.name for policy in pack.policies("prod")]
    assert len(names) == len(set(names)) == len(RULES) + 2


@pytest.mark.parametrize("text", ["", "M/M", "M/M/X", "M/M/M/M"])
def test_levels_in_another_format_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="one of M, A, -"):
        Levels(text)


def test_only_rules_for_idle_and_premium_machines_are_weaker_in_production() -> None:
    """Production pays for idle capacity and premium machines on purpose."""
    order = [EnforcementLevel.DISABLED, EnforcementLevel.ADVISORY, EnforcementLevel.MANDATORY]
    weaker = [rule.name for rule in RULES if order.index(rule.levels.of("prod")) < order.index(rule.levels.of("dev"))]
    assert weaker == ["gpu-pool-idle-zero", "gpu-premium-approval"]


def test_settings_match_their_schema() -> None:
    settings = [(f"{rule.name}: {key}", setting) for rule in RULES for key, setting in rule.settings.items()]
    assert settings
    for name, setting in settings:
        jsonschema.Draft202012Validator.check_schema(dict(setting.schema))
        for value in setting.values.values():
            assert jsonschema.Draft202012Validator(dict(setting.schema)).is_valid(value), (name, value)


def test_the_analyzer_describes_every_rule() -> None:
    info = analyzer(*pack.policies("prod")).GetAnalyzerInfo(None, None)
    described = {policy.name: policy for policy in info.policies}
    for rule in RULES:
        assert described[rule.name].description == rule.title
        assert described[rule.name].remediation_steps == rule.fix
        assert list(described[rule.name].tags) == list(rule.external_ids)
        assert set(described[rule.name].configSchema.properties) == set(rule.settings)


def configured(config: dict[str, Any], bound: int) -> list[analyzer_pb2.AnalyzeDiagnostic]:
    """Violations of a GPU pool with a maximum, after the engine has configured the pack."""
    servicer = analyzer(*pack.policies("prod", lambda: TODAY))
    properties = struct_pb2.Struct()
    json_format.ParseDict(config, properties)
    policy = analyzer_pb2.PolicyConfig(enforcementLevel=analyzer_pb2.ADVISORY, properties=properties)
    servicer.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig={BOUNDED.name: policy}), None)
    resource = FIXTURES[BOUNDED.name].good[0]["it"]
    scaled = type(resource)(props={**resource.props, "scalingConfig": {"minSize": 0, "maxSize": bound}})
    diagnostics = servicer.Analyze(analyze_request(BOUNDED, "it", scaled), None).diagnostics
    return [one for one in diagnostics if one.policyName == BOUNDED.name]


def test_a_configuration_file_overrides_level_and_setting() -> None:
    (diagnostic,) = configured({"maximumNodes": 2}, 3)
    assert diagnostic.enforcementLevel == analyzer_pb2.ADVISORY
    assert configured({"maximumNodes": 3}, 3) == []


def test_settings_missing_in_a_configuration_keep_their_default() -> None:
    assert configured({}, 64) == []
    assert len(configured({}, 65)) == 1


def test_the_pack_starts_like_the_engine_starts_it_and_prints_its_port() -> None:
    """Unbuffered, as the language host runs Python: the SDK does not flush the port that it writes."""
    command = [sys.executable, "-u", str(ROOT / "policies")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/") as process:
        guard = threading.Timer(SECONDS, process.kill)
        guard.start()
        assert process.stdout is not None
        line = process.stdout.readline()
        guard.cancel()
        process.terminate()
    assert line.strip().isdigit()


def test_the_pack_is_described_for_the_engine() -> None:
    described = yaml.safe_load((ROOT / "policies/PulumiPolicy.yaml").read_text())
    assert described["runtime"] == {"name": "python", "options": {"virtualenv": "../.venv"}}
    assert described["version"]


def test_the_entry_point_only_creates_the_pack() -> None:
    lines = (ROOT / "policies/__main__.py").read_text().splitlines()
    assert sum(not line.startswith(("#", '"""', "import", "from")) and bool(line) for line in lines) == 1


def test_level_files_are_valid_for_the_engine() -> None:
    for environment in ENVIRONMENTS:
        config = json.loads((ROOT / f"policies/levels/{environment}.json").read_text())
        assert set(config) == {rule.name for rule in RULES}, f"run `{POLICIES}`"
        assert {entry["enforcementLevel"] for entry in config.values()} <= {"mandatory", "advisory", "disabled"}
