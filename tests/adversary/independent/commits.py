"""What the author of a pull request changes beside the program."""

from typing import Final

from tests.adversary.commits import ALL, FILE, FIRST, LOAD, POLICIES, STACKS, excuse
from tests.adversary.probe import Commit

SHADOWS: Final = {
    "yaml.py": "puts a module of its own before PyYAML",
    "pulumi/__init__.py": "puts a package of its own before Pulumi",
    "sitecustomize.py": "runs code whenever Python starts",
    "json.py": "puts a module of its own before the standard library",
    "usercustomize.py": "runs code in every interpreter",
}
SETTINGS: Final = {
    ".gitattributes": "hides a file from differences",
    ".gitmodules": "takes code from another repository",
    ".python-version": "chooses another Python",
    "uv.toml": "chooses another package index",
    "pip.conf": "chooses another index for pip",
    "setup.cfg": "sets options of tools",
    "conftest.py": "runs code in tests of the pipeline",
    ".pulumi/config.json": "chooses another backend",
    "Pulumi.prod.yaml": "puts a stack file where the engine looks by default",
    "tools/scanners.lock": "replaces a scanner's checksum",
    ".github/actions/report/action.yml": "replaces an action of the pipeline",
    "deploy/iam/prod.json": "widens the role that deploys",
    "package/PulumiPlugin.yaml": "replaces the package that others use",
    "templates/evil.yml": "changes a template",
}
OWNED: Final = ("components/cluster/control_plane.py", "components/network/network.py",
    "components/addons/karpenter/iam.py", "components/storage/buckets.py", "components/queues/queues.py",
    "components/cost/budgets.py", "yaml.py", "pulumi/__init__.py", "sitecustomize.py", ".gitattributes", ".gitmodules",
    ".pre-commit-config.yaml", ".devcontainer/devcontainer.json", "package/__main__.py")  # fmt: skip
"""Who may change these decides what is deployed, or what is tested."""

COMMITS: Final = (
    *(Commit(what, file=file, command=STACKS, says=ALL, changes={})
      for file, what in {**SHADOWS, **SETTINGS}.items()),
    *(Commit(f"changes {file} without an owner", file=file, command=(), says="@", changes={}, owned=True)
      for file in OWNED),
    Commit("links a stack file to somewhere", file="stacks/Pulumi.prod.yaml", command=(*POLICIES[:-1], "prod"), says="",
        changes={}, link="/etc/hostname"),
    Commit("excuses a rule for six years", file=FILE, command=LOAD, says="370",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*::it", "2032-06-30") + FIRST}),
    Commit("excuses a rule that does not exist", file=FILE, command=LOAD, says="no-such-rule",
        changes={FIRST: excuse("no-such-rule/key", "urn:pulumi:*::it", "2027-06-30") + FIRST}),
    Commit("excuses every resource by question marks", file=FILE, command=LOAD, says="covers every resource",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*::?*", "2027-06-30") + FIRST}),
    Commit("excuses every resource by a set of letters", file=FILE, command=LOAD, says="covers every resource",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*::[!~]*", "2027-06-30") + FIRST}),
    Commit("excuses nearly any value", file=FILE, command=LOAD, says="must be the accepted value",
        changes={FIRST: excuse("queues-encrypted/key", "urn:pulumi:*::it", "2027-06-30", "?*") + FIRST}),
    Commit("reviews a type for itself", file="policies/reviewed.py", command=(*POLICIES, "--against", "HEAD^1"),
        says="review: the change adds the reviewed type command:local:Command",
        changes={'"aws:kms/alias:Alias",': '"aws:kms/alias:Alias", "command:local:Command",'}),
    Commit("takes a rule away", file="policies/rules/message_queues.py", command=LOAD, says="",
        changes={'name="queues-encrypted"': 'name="queues"'}),
)  # fmt: skip
