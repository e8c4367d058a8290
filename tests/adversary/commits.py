"""What the author of a pull request changes around the program: the pack, the pipeline, the page."""

from typing import Final

from tests.adversary.probe import Commit
from tests.rehearsal.repository import STACK_FILE

FILE: Final = "policies/suppressions.yaml"
FIRST: Final = "- rule: queues-encrypted/key\n"
POLICIES: Final = (".venv/bin/python", "-m", "slipway", "policies", "dev")
LOAD: Final = (
    ".venv/bin/python", "-c", "from policies import pack, suppressions; suppressions.load(pack.identities())",
)  # fmt: skip
"""What each evaluation begins with, without the rest of it."""
STACKS: Final = ("tools/ci/stacks.sh",)
ALL: Final = '["dev","prod","staging"]'


def excuse(rule: str, urn: str, until: str, value: str = "x") -> str:
    fields = {
        "urn": f'"{urn}"',
        "value": f'"{value}"',
        "reason": "It is needed for the release.",
        "owner": "ml-platform",
    }
    return f"- rule: {rule}\n" + "".join(f"  {key}: {text}\n" for key, text in fields.items()) + f"  until: {until}\n"


PUBLIC: Final = {
    'principals={"Service": ["events.amazonaws.com"]}': 'principals={"AWS": ["*"]}',
    'conditions={"ArnLike": {"aws:SourceArn": [rules_arn]}},': "",
}

COMMITS: Final = (
    Commit("excuses everything until 2099", file=FILE, command=LOAD, says="covers every resource",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*", "2099-01-01") + FIRST}),
    Commit("excuses a whole provider", file=FILE, command=LOAD, says="covers every resource",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*::aws:*::*", "2027-06-30") + FIRST}),
    Commit("excuses any value", file=FILE, command=LOAD, says="must be the accepted value",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*::it", "2027-06-30", "*") + FIRST}),
    Commit("excuses itself in the same commit", file=FILE, command=(*POLICIES, "--against", "HEAD^1"),
        says="review: the change adds the suppression of queues-encrypted/principal",
        changes={FIRST: excuse("queues-encrypted/principal", "urn:pulumi:*::karpenter-queue", "2027-06-30") + FIRST}),
    Commit("lowers a level", file="policies/rules/message_queues.py", command=(*POLICIES, "--against", "HEAD^1"),
        says="review: the change changes enforcementLevel",
        changes={'levels=Levels("M/M/M")': 'levels=Levels("-/-/-")'}),
    *(
        Commit(f"changes {file}, by which the pack judges", file=file, command=(*POLICIES, "--against", "HEAD^1"),
            says=f"review: the change changes {file}", changes={})
        for file in (
            "policies/runner.py", "components/admission/pods.py", "slipway/engine/gate.py", "slipway/cli/policies.py",
            "tools/ci/page.sh", "infra/program.py", ".github/workflows/preview.yml", "spec/settings/load.py",
            "requirements.lock",
        )
    ),
    Commit("opens a queue whose policy a preview does not know", command=POLICIES, says="mandatory queues-encrypted",
        file="components/addons/karpenter.py", changes=PUBLIC),
    Commit("lets a component write logs of another kind", file="components/network/flow_logs.py",
        changes={'f"log-group:{self._group_name}:*"': '"log-group:theirs:*"'},
        command=(*POLICIES, "--against", "HEAD^1"), says="mandatory program-as-given"),
    Commit("changes the stack file alone", file=STACK_FILE, changes={"ml-research@example.com": "a@b.example"},
        command=(*POLICIES, "--against", "HEAD^1"), says="program-as-given", legitimate=True),
    *(
        Commit(f"changes {file} alone", file=file, command=STACKS, says=ALL, changes={})
        for file in ("tools/setup.sh", "Makefile", "requirements.lock", ".github/CODEOWNERS",
                     "slipway/engine/gate.py", "policies/suppressions.yaml")
    ),
)  # fmt: skip
