"""The commands with their arguments, in the order of `slipway --help`."""

from pathlib import Path
from typing import Final

from sandbox import CHARTS
from slipway.cli.grammar import (
    JSON,
    STACK,
    Argument,
    Command,
    Group,
    account,
    choice,
    folder,
    number,
    option,
    port,
    positional,
    repeated,
    seconds,
    switch,
    time_to_live,
)
from slipway.cli.replay_options import ADVISE, REHEARSE, REPLAY, STATEMENT

OF_STACK: Final = option("--stack", "STACK", "name of a stack: stacks/Pulumi.STACK.yaml")
STRICT: Final = switch("--strict", "treat warnings about the settings as errors")
YES: Final = switch("--yes -y", "don't ask for confirmation")
OF_SANDBOX: Final = switch("--sandbox", "the cluster of the stack in the sandbox")

# Operations of the engine.
_ENGINE: Final = (
    STACK,
    switch("--sandbox", "run in the local sandbox, without AWS; starts it if needed"),
    switch("--verbose", "show the engine's rows; with --sandbox also list every resource and node"),
    STRICT,
)
_PLANS: Final = (
    repeated(
        "--allow-replace", "URN", "allow this stateful resource to be replaced or deleted; repeatable", default=[]
    ),
    switch("--network-only", "only the network: the first step of a cluster with a private endpoint"),
)
_PREVIEW_FIRST: Final = switch("--preview", "show a preview first in the sandbox, too")
_DESTROYS: Final = (
    switch("--except-protected", "keep the protected resources and those they depend on"),
    switch("--unreachable", "the cluster will never answer again: forget its objects, remove its AWS resources by tag"),
    switch("--delete-volumes", "on AWS, delete every volume that claims of the cluster created"),
)
_WITHOUT: Final = {
    **dict.fromkeys(("yes", "except_protected", "preview", "network_only", "unreachable", "delete_volumes"), False),
    "allow_replace": [],
}


def _operation(name: str, summary: str, *arguments: Argument) -> Command:
    return Command(
        name=name,
        summary=summary,
        run="slipway.cli.operations:run",
        usage=f"slipway {name} STACK [--sandbox] [options] [-- arguments for pulumi]",
        arguments=(*_ENGINE, *arguments),
        defaults={"takes_extra": True, "operation": name, **_WITHOUT},
        elsewhere=f"`slipway sandbox run -- pulumi {name} --stack NAME`",
    )


_OPERATIONS: Final = (
    _operation("up", "create or update the resources of a stack", YES, *_PLANS, _PREVIEW_FIRST),
    _operation("preview", "show what `up` would change", *_PLANS),
    _operation("refresh", "update the state from the live resources, and report drift", YES),
    _operation("destroy", "delete the resources of a stack; refused if any is protected", YES, *_DESTROYS),
)

_RECOVER: Final = Command(
    name="recover",
    summary="repair the state after a killed run or a full disk: a truncated file, operations without an end",
    run="slipway.cli.recover:run",
    arguments=(
        STACK,
        switch("--sandbox", "of the stack in the sandbox"),
        YES,
        repeated(
            "--adopt", "URN=ID",
            "the id of what an operation created, or nothing after = if it created nothing; repeatable", default=[],
        ),
    ),
)  # fmt: skip

_STATE: Final = Command(
    name="state",
    summary="list and restore copies of a stack's state, for a backend in a folder and in the sandbox",
    commands=(
        Command(
            name="list",
            summary="list the copies, the newest last",
            run="slipway.cli.state:listed",
            arguments=(STACK, switch("--sandbox", "of the stack in the sandbox"), JSON),
        ),
        Command(
            name="restore",
            summary="put a copy in the place of the state, which is kept",
            run="slipway.cli.state:restore",
            arguments=(
                STACK,
                switch("--sandbox", "of the stack in the sandbox"),
                YES,
                option(
                    "--copy",
                    "NUMBER|FILE",
                    "which copy, or another file with a state (default: the newest that differs)",
                ),
            ),
        ),
    ),
)

# Settings.
SUGGESTED: Final = {
    "region": "us-east-1",
    "cidr": "10.64.0.0/16",
    "budget": "5000",
    "pool": "gpu-spot",
    "team": "research",
}
"""What `slipway init` writes where nobody says otherwise."""
GPU_PRESETS: Final = ("a100", "h100", "gpu-spot")
"""Presets of `spec.settings.presets` for pools with GPUs; a copy, because every command of Slipway reads it."""
_INIT: Final = Command(
    name="init",
    summary="write a new stack file, from options or a few questions",
    run="slipway.cli.init:run",
    epilog="""\
  slipway init dev --pool gpu-spot
  slipway init perf --account 111122223333 --owner ml-platform --cost-center ml --email ml-platform@example.com \\
    --admin arn:aws:iam::111122223333:role/admin --from 10.0.0.0/12 --ami-release 1.35.0-20261101 \\
    --pool gpu-spot --team vision

The file has what differs from the defaults, and passes the policies of its environment: those of dev, staging, or prod
for every other name. docs/settings.md has every setting.
""",
    arguments=(
        positional("name", "NAME", "name of the stack, and of the environment"),
        option("--account", "ID", "AWS account ID"),
        option("--region", "REGION", f"default: {SUGGESTED['region']}"),
        option("--owner", "TEXT", "owner, for tags"),
        option("--cost-center", "TEXT", "cost center, for tags"),
        option("--email", "ADDRESS", "address for notifications of budgets"),
        option("--budget", "USD", f"monthly budget (default: {SUGGESTED['budget']})"),
        option("--admin", "ARN", "IAM role that administers the cluster"),
        option(
            "--from", "CIDR",
            "network that may reach the API server: its private endpoint from a private network, else a public one",
            dest="source",
        ),
        option("--cidr", "CIDR", f"range of the VPC (default: {SUGGESTED['cidr']})"),
        choice("--pool", GPU_PRESETS, "GPU pool by preset; repeat for several", action="append"),
        repeated("--team", "NAME", "team; repeat for several"),
        option("--approval", "TEXT", "dev and staging: where p4 and p5 instances on demand are approved"),
        option(
            "--ami-release", "RELEASE", "with the policies of prod: EKS AMI release, such as 1.35.0-20261101"
        ),
    ),
)  # fmt: skip
_CHECK: Final = Command(
    name="check",
    summary="check the settings of stacks, without the engine",
    run="slipway.cli.check:run",
    arguments=(
        positional("stacks", "STACK", "name of a stack (default: all)", nargs="*"),
        switch("--strict", "treat warnings as errors"),
        switch("--json", "print the problems and warnings of every stack as JSON"),
    ),
)

# The program's resources, without the engine.
_POLICIES: Final = Command(
    name="policies",
    summary="evaluate a stack against the policy pack, without the engine",
    run="slipway.cli.policies:run",
    elsewhere="`slipway pack DIR`, then `slipway sandbox run -- pulumi preview --stack NAME --policy-pack DIR`",
    arguments=(
        STACK,
        folder(
            "--manifests", "also evaluate the Kubernetes manifests (YAML or JSON) of a file or a folder; repeatable",
            "PATH", action="append", default=[],
        ),
        switch("--suppressed", "also show suppressed findings, with the reason"),
        option(
            "--against", "REF",
            "evaluate with the suppressions and levels of a commit, and list what the tree changes in them",
        ),
        switch("--wide", "each finding with its whole URN, in more than 80 columns"),
        switch("--json", "print the findings as JSON"),
        STRICT,
    ),
)  # fmt: skip
_PACK: Final = Command(
    name="pack",
    summary="write a folder for `pulumi preview --policy-pack`, for a program of your own",
    run="slipway.cli.pack:run",
    arguments=(positional("folder", "DIR", "folder to write; its suppressions.yaml is kept", type=Path),),
)
_RENDER: Final = Command(
    name="render",
    summary="write every resource, manifest and Helm value as files",
    run="slipway.cli.render:render_stack",
    arguments=(
        STACK,
        folder("--out", "folder to write; its contents are replaced", required=True),
        choice(
            "--format", ("pulumi", "terraform"),
            "terraform: only the AWS resources, as main.tf.json, for tools such as Checkov, Trivy and Infracost",
            default="pulumi",
        ),
        STRICT,
    ),
)  # fmt: skip
_REPORT: Final = Command(
    name="report",
    summary="write a page on a stack (GPUs, costs, advice, risks, policies) and a pull request comment",
    run="slipway.cli.render:report_stack",
    elsewhere="`slipway sandbox run -- pulumi preview --stack NAME --diff`",
    arguments=(
        STACK,
        folder("--out", "folder to write index.html and report.md to", required=True),
        option("--against", "REF", "compare with a commit, branch or tag"),
        folder(
            "--plan", "show this Pulumi plan: the output of `pulumi preview --json`, or an event log", "FILE.json"
        ),
        folder("--rehearsal", "show these scenarios, from `slipway rehearse --out`", "rehearsal.json"),
        folder("--advice", "show what `slipway advise --json` found", "FILE.json"),
        STRICT,
    ),
)  # fmt: skip

# Cost and size.
_COST: Final = Command(
    name="cost",
    summary="estimate what a stack costs: floor, expected, ceiling",
    run="slipway.cli.cost:estimate_stack",
    epilog="""\
  slipway cost prod                       every line, and totals by service, pool and team
  slipway cost prod --against main        the cost difference between this checkout's settings and those of main
  slipway cost dev --deployed --sandbox   the cost difference from the last update of the stack in the sandbox

docs/guides/cost.md explains what is counted, how, and where the prices come from.
""",
    arguments=(
        STACK,
        Group((
            option("--against", "REF", "show the difference from the stack file of a commit, branch or tag"),
            switch("--deployed", "show the difference from the last update of the stack"),
        )),
        switch("--sandbox", "with --deployed: the stack in the sandbox"),
        switch("--verify", "also run the program, and check the estimate against its resources"),
        switch("--wide", "add counts, unit prices, their dates and notes; more than 80 columns"),
        JSON,
        STRICT,
    ),
)  # fmt: skip
_PRICES: Final = Command(
    name="prices",
    summary="update the catalog's prices from AWS's price list",
    commands=(
        Command(
            name="refresh",
            summary="query AWS's price list and Spot price history; needs AWS credentials",
            run="slipway.cli.cost:refresh_prices",
            arguments=(
                repeated("--region", "REGION", "region to query; repeatable (default: us-east-1)"),
                folder("--out", "folder to write to (default: the catalog's own)"),
            ),
        ),
    ),
)
_SIZES: Final = {
    "layers": "transformer layers",
    "hidden": "hidden size",
    "heads": "attention heads",
    "kv-heads": "key-value heads (default: as many as --heads)",
    "ffn": "width of the feed-forward layer (default: 4 x --hidden)",
    "vocab": "vocabulary size",
}
_FIT: Final = Command(
    name="fit",
    summary="estimate a model's GPU memory, and find the cheapest GPUs for it",
    run="slipway.cli.fit:run",
    epilog="""\
  slipway fit --config ./my-model/config.json --mode serve --batch 8 --seq 8192
  slipway fit --model llama-3.1-8b --mode serve --batch 8 --seq 8192 --stack prod
  slipway fit --params 7e9 --mode train --seq 4096 --checkpointing full --zero 3 --stack dev

docs/guides/fit.md has the formulas, and their errors against published figures.
""",
    arguments=(
        Group(
            (
                option("--model", "NAME", "a published model: qwen3-30b-a3b, gpt-oss-120b, flux.1-dev, ..."),
                option("--config", "PATH", "config.json in the format of Hugging Face, or its folder"),
                option("--params", "N", "number of parameters: 7e9, 7B"),
                *(number(f"--{name}", "N", text) for name, text in _SIZES.items()),
                switch("--gated", "the feed-forward layer is gated (SwiGLU)"),
                switch("--tied", "the output layer shares the embedding's weights"),
            ),
            "model",
            "give a name, a config.json, a shape, or the number of parameters",
        ),
        Group(
            (
                option("--mode", "MODE", "train or serve", required=True),
                option(
                    "--precision",
                    "P",
                    "bf16, fp8, int8, int4, nf4, mxfp4, ... (default: as the model's files, or bf16)",
                ),
                number("--batch", "N", "sequences per GPU (train), or in total (serve)", default=1),
                number("--seq", "N", "tokens per sequence, including the answer"),
                option("--image", "WxH", "pixels of the image that each sequence has, or that is made"),
                option("--kv-cache-dtype", "D", "auto (default), bf16, fp16, fp8", default="auto", dest="cache"),
                option("--optimizer", "O", "adamw (default), adamw8bit, adafactor, sgd", default="adamw"),
                option("--checkpointing", "C", "none (default), selective, full", default="none"),
                number("--zero", "STAGE", "ZeRO sharding stage, 0 to 3 (3 is FSDP)", default=0),
                number("--tensor-parallel", "N", "GPUs that divide each matrix when training", default=1),
                number("--pipeline-parallel", "N", "stages of layers, each on GPUs of its own", default=1),
                number("--lora", "RANK", "train LoRA adapters of this rank on frozen weights", default=0),
                option("--loss", "L", "whole (default) or chunked logits", default="whole"),
                number("--classes", "N", "number of outputs of a classifier", default=0),
            ),
            "workload",
        ),
        option("--stack", "STACK", "search the pools of this stack (default: every GPU type with a price)"),
        JSON,
    ),
)

# Workloads.
_QUICKSTART: Final = Command(
    name="quickstart",
    summary="print complete YAML for a first job, notebook or model server of a team",
    run="slipway.cli.quickstart:run",
    epilog="""\
  slipway quickstart                                            list the quickstarts
  slipway quickstart training-job --stack dev --team vision > training-job.yaml
  kubectl apply --server-side -f training-job.yaml

docs/quickstarts/ has a page for each.
""",
    arguments=(
        positional("quickstart", "NAME", "which one; without it, they are listed", nargs="?"),
        OF_STACK,
        option("--team", "TEAM", "your team"),
        option("--namespace", "NS", "namespace of the team (default: one with a fitting purpose)"),
        option("--pool", "POOL", "pool (default: the one whose node costs least)"),
        option("--name", "NAME", "name of the objects (default: that of the quickstart)"),
        option(
            "--models", "URI",
            "address of the models of a server that is kept, s3://BUCKET/TEAM/ (default: read from the cluster)",
        ),
        option(
            "--ttl", "TIME",
            "a model server ends by itself after this time, such as 90m, or is kept with `keep` (default: 4h)",
            type=time_to_live, default="4h",
        ),
        switch("--sandbox", "read the address from the stack's sandbox cluster"),
    ),
)  # fmt: skip
_TRY: Final = Command(
    name="try",
    summary="try a folder of manifests in the sandbox, with what is expected of them",
    run="slipway.cli.trial:run",
    arguments=(
        positional("folder", "FOLDER", "manifests, and try.yaml with the expectations", type=Path),
        option("--stack", "STACK", "name of a stack that is up in the sandbox (default: the sandbox's only cluster)"),
        switch("--sandbox", "the cluster in the sandbox; required outside its shell"),
        option("--namespace -n", "NAMESPACE", "namespace of all objects (default: try.yaml's)"),
        JSON,
    ),
)
_WHY: Final = Command(
    name="why",
    summary="show what a workload waits for, or would wait for",
    run="slipway.cli.why:run",
    epilog="""\
  slipway why -n vision                                 # all that wait, with their positions
  slipway why job/train -n vision                       # your kubeconfig, as kubectl
  slipway why job/train -n vision --stack dev --sandbox
  slipway why job.yaml --stack prod                     # before submission
  slipway why job.yaml --stack dev -n vision --fix      # writes deadlines, queue, tolerations into the file

The exit code is 0 if nothing holds it, and 1 if something does. docs/guides/why.md explains the layers.
""",
    arguments=(
        positional(
            "what",
            "NAME|FILE",
            "kind/name as kubectl writes it, a name, or a file of manifests (- for stdin); without it, all that wait",
            nargs="?",
        ),
        option("--stack", "STACK", "name of a stack, for its pools, shares and rules"),
        switch("--fix", "write what the rules ask for into the file, and say what was changed; needs --stack"),
        OF_SANDBOX,
        option("--namespace -n", "NAMESPACE", "namespace, or a team of the stack (default: that of the kubeconfig)"),
        switch("--verbose", "show all that was read, not the first lines alone"),
        JSON,
    ),
)
_AUDIT: Final = Command(
    name="audit",
    summary="list what admission rules that warn or audit would have refused, from an audit log",
    run="slipway.cli.audit:run",
    epilog="""\
  aws logs filter-log-events --log-group-name /aws/eks/CLUSTER/cluster --log-stream-name-prefix kube-apiserver-audit \\
    --filter-pattern validation_failure --query 'events[].[message]' --output text > audit.log
  slipway audit audit.log --stack prod

The exit code is 0 if nothing would have been refused, and 1 if something would. docs/guides/admission.md has more.
""",
    arguments=(
        positional("files", "FILE", "audit log, an event in JSON on each line (- for stdin); repeatable", nargs="+"),
        option("--stack", "STACK", "name of a stack, for the teams of namespaces"),
        JSON,
    ),
)
MINUTES: Final = 20
"""A GPU node takes up to ten minutes to boot and to advertise its GPUs."""
_VERIFY: Final = Command(
    name="verify",
    summary="prove with short Jobs what a running cluster can do",
    run="slipway.cli.verify:run",
    arguments=(
        STACK,
        OF_SANDBOX,
        YES,
        number(
            "--minutes", "N", f"longest time to wait for the Jobs, 1 to 120 ({MINUTES})", default=MINUTES,
            choices=range(1, 121),
        ),
        option("--nccl-image", "IMAGE", "image with nccl-tests (default: the public one of AWS)"),
        option("--model-uri", "URI", "where the model is that KServe serves (default: its example)"),
        folder("--out", "also write verify.md and verify.json to this folder"),
    ),
)  # fmt: skip

# Charts, the sandbox and this machine.
_CHART_FOLDER: Final = folder("--dir", f"folder of charts (default: ${CHARTS})")
_CHARTS: Final = Command(
    name="charts",
    summary="download the add-ons' Helm charts, and check values against them",
    commands=(
        Command(
            name="pull",
            summary="download every pinned chart from its repository; needs network access",
            run="slipway.cli.charts:pull_charts",
            arguments=(
                positional("charts", "CHART", "chart to download (default: all of them)", nargs="*"),
                switch("--lock", "write the digests of charts that have none into spec/catalog/data/software.yaml"),
                _CHART_FOLDER,
            ),
        ),
        Command(
            name="check",
            summary="list the values of the stacks that their charts don't support",
            run="slipway.cli.charts:check_charts",
            arguments=(
                positional("stacks", "STACK", "stack to check (default: all of them)", nargs="*"),
                switch("--record", "also check variants of the settings, and record the verified keys"),
                _CHART_FOLDER,
            ),
        ),
    ),
)
_NODE: Final = positional("node", "NODE")
_SANDBOX: Final = Command(
    name="sandbox",
    summary="start, inspect, enter or stop the sandbox",
    commands=(
        Command(
            name="start",
            summary="start the sandbox, unless it is running",
            run="slipway.cli.sandbox:start",
            arguments=(
                option("--aws-port", "PORT", "port of moto (default: a free one)", type=port),
                option(
                    "--account", "ID", "act as this account only (default: the account of each stack)", type=account
                ),
                option(
                    "--kubernetes-provider", "official|PATH",
                    "run Pulumi's Kubernetes provider instead of the sandbox's own "
                    "(default: $SLIPWAY_KUBERNETES_PROVIDER)",
                ),
            ),
        ),
        Command(
            name="status",
            summary="show processes, addresses and memory; exit code 1 unless all is running",
            run="slipway.cli.sandbox:status",
            arguments=(
                JSON,
                option(
                    "--limits", "TYPE",
                    "show instead what is checked of each input of each AWS type; of the types whose token contains "
                    "TYPE only",
                    nargs="?", const="",
                ),
            ),
        ),
        Command(
            name="wait",
            summary="wait until the controllers of add-ons are built and run; exit code 1 if one can't",
            run="slipway.cli.sandbox:wait",
        ),
        Command(name="stop", summary="stop the sandbox; everything in it is deleted", run="slipway.cli.sandbox:stop"),
        Command(
            name="network",
            summary="make the existing VPC that a stack names (`network.existing`) in the sandbox",
            run="slipway.cli.sandbox:network",
            arguments=(positional("stack", "STACK", "stack whose settings describe the VPC"),),
        ),
        Command(
            name="env",
            summary='print variables for a shell: eval "$(slipway sandbox env)"',
            run="slipway.cli.shell:env",
            arguments=(
                positional(
                    "stack", "STACK", "use this stack's account and region (default: the first stack by name)",
                    nargs="?",
                ),
                switch("--json", "print a JSON object"),
            ),
        ),
        Command(
            name="run",
            summary="run a command in the sandbox, in any directory: `slipway sandbox run -- pulumi up --stack dev`",
            run="slipway.cli.sandbox_run:run",
            usage="slipway sandbox run [--account ID] [--region REGION] -- COMMAND [ARGUMENT ...]",
            arguments=(
                option("--account", "ID", "AWS account to act as (default: 123456789012)"),
                option("--region", "REGION", "AWS Region (default: AWS_REGION, else us-east-1)"),
            ),
            defaults={"takes_extra": True},
        ),
        Command(
            name="capacity",
            summary="show or change what EC2 has no capacity for, and its launch time",
            run="slipway.cli.elastic:capacity",
            arguments=(
                Group((
                    option("--refuse", "TYPE", "launch no more instances of this type; `all` for every type"),
                    option("--restore", "TYPE", "launch them again; `all` for every type"),
                )),
                Argument(("--zone",), {"default": "", "help": "in this Availability Zone only"}),
                choice("--market", ("on-demand", "spot"), "of this capacity type only", default=""),
                option(
                    "--launch-seconds", "SECONDS", "time from a launch until the node registers", type=seconds
                ),
                JSON,
            ),
        ),
        Command(
            name="reclaim",
            summary="interrupt a Spot node, with EC2's notice of two minutes",
            run="slipway.cli.elastic:reclaim",
            arguments=(_NODE, option("--notice", "SECONDS", "default: 120", type=seconds, default=120.0)),
        ),
        Command(
            name="expire",
            summary="let a node of Karpenter reach the age at which it is replaced",
            run="slipway.cli.elastic:expire",
            arguments=(_NODE,),
        ),
    ),
)  # fmt: skip
_DOCTOR: Final = Command(
    name="doctor",
    summary="show what is missing on this machine, and how to fix it",
    run="slipway.cli.doctor:run",
    arguments=(
        option(
            "--aws", "STACK",
            "check the AWS account of a stack instead: identity, quotas, zones, versions, state. It only reads",
        ),
        JSON,
    ),
)  # fmt: skip
SHELLS: Final = ("bash", "zsh", "fish")
_COMPLETION: Final = Command(
    name="completion",
    summary="print a script that completes commands and options in a shell",
    run="slipway.cli.shell:completion",
    epilog="""\
  bash   eval "$(slipway completion bash)"                      in ~/.bashrc
  zsh    slipway completion zsh > "${fpath[1]}/_slipway"        once, before compinit
  fish   slipway completion fish > ~/.config/fish/completions/slipway.fish
""",
    arguments=(choice("shell", SHELLS, "the shell"),),
)

COMMANDS: Final = (
    *_OPERATIONS, _RECOVER, _STATE, _INIT, _CHECK, _POLICIES, _PACK, _RENDER, _COST, STATEMENT, _PRICES, _REPORT,
    _FIT, REPLAY, ADVISE, _QUICKSTART, _CHARTS, _SANDBOX, _DOCTOR, _VERIFY, _WHY, _AUDIT, _TRY, REHEARSE, _COMPLETION,
)  # fmt: skip
