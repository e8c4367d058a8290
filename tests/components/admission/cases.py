"""What each rule accepts and what it denies, with a part of the message."""

from collections.abc import Mapping
from typing import Any, Final

from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.samples import GPU, IMAGE, SLICE, Object, container, gpus, on, pool_taint, spec

CLAIM: Final = {"name": "state", "persistentVolumeClaim": {"claimName": "checkpoints"}}
WRITES: Final = {**gpus(), "volumeMounts": [{"name": "state", "mountPath": "/checkpoints"}]}
READS: Final = {**gpus(), "volumeMounts": [{"name": "state", "mountPath": "/checkpoints", "readOnly": True}]}
UNEQUAL: Final = container(resources={"limits": {GPU: "2"}, "requests": {GPU: "1"}})
LATEST: Final = spec(container(image="registry.example.com:5000/team/train"))
DIGEST: Final = f"team/train@sha256:{'0' * 64}"
PRIVILEGED: Final = spec(container(securityContext={"privileged": True}))
DISRUPT: Final = "karpenter.sh/do-not-disrupt"
KEPT: Final = {DISRUPT: "true"}
HOST_PATH: Final = spec(volumes=[{"name": "root", "hostPath": {"path": "/"}}])


def affinity(*pools: str, operator: str = "In") -> Object:
    term = {"matchExpressions": [{"key": make.POOL, "operator": operator, "values": list(pools)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def tolerant(*taints: Object, body: Object | None = None, **more: object) -> Object:
    return {**(body or spec(gpus())), "tolerations": list(taints), **more}


def kept(workload: Object, value: str = "true", key: str = DISRUPT, labels: Object | None = None) -> Object:
    """The same workload with an annotation of its pods: by default, that Karpenter does not evict them."""
    template = workload["spec"]["template"]
    metadata = {**template.get("metadata", {}), "annotations": {key: value}, **({"labels": labels} if labels else {})}
    return {**workload, "spec": {**workload["spec"], "template": {**template, "metadata": metadata}}}


def workflow(deadline: int, kind: str = "Workflow", **step: Any) -> Object:
    """A workflow on the pool h100, whose second template asks for a GPU."""
    steps = [{"name": "load", "container": container()}, {"name": "train", "container": gpus(), **step}]
    where = {"nodeSelector": {make.POOL: "h100"}}
    return make.workflow(kind, activeDeadlineSeconds=deadline, templates=steps, **where)


EACH: Final[dict[str, Any]] = {"resourcesPerNode": {"limits": {GPU: "1"}}}
WEEK: Final = 7 * 86400
FIRST: Final = {**gpus(), "name": "first"}
WHOLE: Final = {"name": "torch-distributed-h100"}
"""The platform's runtime of whole nodes."""

QUEUE: Final = "yunikorn.apache.org/queue"
APP: Final = "yunikorn.apache.org/app-id"
SCHEDULED: Final = spec(schedulerName="yunikorn")

PODSET: Final = "kueue.x-k8s.io/podset-"
NEAR: Final = f"{PODSET}preferred-topology"

ACCEPTED: Final[Mapping[str, Mapping[str, Object]]] = {
    "scheduler": {
        "a pod of its team's queue": make.pod(SCHEDULED, **{QUEUE: "root.vision"}),
        "an application of its namespace": make.pod(SCHEDULED, **{QUEUE: "root.vision", APP: "scheduler.sweep"}),
    },
    "gpu-pool": {
        "a pod without GPUs": make.pod(),
        "a pod on its pool": make.pod(on("h100")),
        "a pod that tolerates everything": make.pod(tolerant({"operator": "Exists"})),
        "a pod that tolerates a pool and selects none": make.pod(tolerant(pool_taint("spot"))),
        "a slice with both taints": make.pod(on("a100", gpus(1, SLICE))),
        "two containers that share a node": make.pod(on("a100", gpus(7, SLICE), {**gpus(7, SLICE), "name": "b"})),
        "an affinity to two pools": make.pod(tolerant(pool_taint("spot"), affinity=affinity("spot", "cpu"))),
        "two parts of shared GPUs": make.pod(on("turns", gpus(), {**gpus(), "name": "b"})),
        "a container that needs the GPU before another": make.pod(on("spot", gpus(), initContainers=[FIRST])),
        "a job on its pool": make.job(on("h100"), queued=False),
        "a queued job that tolerates the GPU alone": make.job(tolerant(make.GPU_TAINT)),
        "a deployment on its pool": make.deployment(on("h100")),
    },
    "device-claims": {
        "a template for one GPU": make.claim_template("large"),
        "a template whose name tells its number": make.claim_template("gpu-12", count=12),
        "a runtime without claims": make.train_job(),
    },
    "gpu-limits": {"limits alone": make.job_set(on("h100")),
        "equal limits": make.pytorch_job(on("h100", container(resources={"limits": {GPU: 1}, "requests": {GPU: 1}})))},
    "job-bounds": {
        "a bounded job": make.job(),
        "a job bounded by index": make.job(backoffLimit=None, backoffLimitPerIndex=1, maxFailedIndexes=5,
            completionMode="Indexed", completions=9),
        "a job whose indexes are retried as often as a job": make.job(backoffLimit=None, backoffLimitPerIndex=2,
            completionMode="Indexed", completions=10),
        "a bounded cron job, cleaned up by its history": make.cron_job(ttlSecondsAfterFinished=None),
        "a bounded RayJob": ray.job(),
        "a RayJob on a cluster of the team": ray.selecting(),
        "a bounded JobSet": make.job_set(failurePolicy={"maxRestarts": 20}),
        "a JobSet that restarts when a node is taken away": make.reclaimed(
            {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            {"action": "Ignore", "onPodConditions": [{"type": "Ready", "status": "False"}]}),
    },
    "job-cost": {
        "a job of an hour": make.job(on("h100")),
        "a job without GPUs": make.job(activeDeadlineSeconds=2 * WEEK, parallelism=50),
        "a job that may use a cheaper pool": make.job(
            tolerant(make.GPU_TAINT, body=spec(gpus())), activeDeadlineSeconds=WEEK
        ),
        "a TrainJob whose runtime selects the pool": make.train_job(deadline=WEEK, **EACH),
        "a TrainJob of a runtime without GPUs": make.train_job(nodes=100, deadline=2 * WEEK),
        "a TrainJob of whole nodes": make.given(make.train_job(), runtimeRef=WHOLE),
        "a cron job whose runs do not overlap": make.given(make.cron_job(on("h100")), concurrencyPolicy="Forbid"),
        "a cron job without GPUs whose runs overlap": make.cron_job(activeDeadlineSeconds=WEEK),
        "a RayJob": ray.job(),
        "a workflow of a week whose step with GPUs has an hour": workflow(WEEK, activeDeadlineSeconds="3600"),
        "an experiment of twelve hours": make.experiment(make.job(on("h100"))),
        "an experiment that no rule of costs can add up": make.experiment(maxTrialCount=None),
    },
    "experiment-bounds": {
        "a bounded experiment": make.experiment(),
        "one whose counts and policy Katib fills in": make.experiment(parallelTrialCount=None, resumePolicy=None),
        "trials of another kind": make.experiment(make.train_job()),
        "values and metrics of Katib's own": make.experiment(
            parameters=[{"name": "lr", "feasibleSpace": {"list": ["sgd", "0.1", 3]}}],
            metricsCollectorSpec={"collector": {"kind": "File"}}),
    },
    "spot-checkpoint": {"a job on spot that writes to a claim": make.job(on("spot", WRITES, volumes=[CLAIM])),
        "a job that is not on spot": make.job(on("h100")),
        "a queued job that the spot pool can't run": make.job(tolerant(make.GPU_TAINT, body=spec(gpus(1, SLICE)))),
        "a service on spot": make.deployment(on("spot"))},
    "spot-eviction": {
        "a job on spot that can be evicted": make.job(on("spot")),
        "a job that is not on spot": kept(make.job(on("h100"))),
        "a queued job that the spot pool can't run": kept(
            make.job(tolerant(make.GPU_TAINT, body=spec(gpus(1, SLICE))))),
        "a value that Karpenter does not know": kept(make.job(on("spot")), "no"),
        "a notebook": kept(make.job(on("spot")), labels={"platform.slipway/notebook": "one"}),
        "a head that is not on spot": ray.cluster(worker=on("spot"), head_annotations=KEPT),
    },
    "ray-cluster": {
        "a cluster with its head on CPU": ray.cluster(worker=on("h100")),
        "a cluster with workers on spot": ray.cluster(worker=on("spot")),
        "a head that the queue can't put on spot, which it doesn't tolerate": ray.job(worker=on("spot")),
        "a job on a cluster of the team": ray.selecting(),
        "a service without a second cluster": ray.service(),
    },
    "queue-name": {"a queued job": make.job(), "a queued cron job": make.cron_job(),
        "a queued TrainJob": make.train_job()},
    "queue-topology": {
        "a job that may be anywhere": kept(make.job(on("h100")), key=f"{PODSET}unconstrained-topology"),
        "a job whose pods are near each other": kept(make.job(on("h100")), "kubernetes.io/hostname", NEAR),
        "a job on another pool": make.job(on("spot")),
        "no boolean, on another pool": kept(make.job(on("spot")), "yes", f"{PODSET}unconstrained-topology"),
        "a job that another pool can have": make.job(tolerant(make.GPU_TAINT)),
        "a job without a queue": make.job(on("h100"), queued=False),
        "a job without GPUs": make.job(),
        "layers of slices": kept(make.job(on("h100")), "[]", f"{PODSET}slice-required-topology-constraints"),
        "a value that is false": kept(make.job(on("h100")), "false", f"{PODSET}unconstrained-topology"),
    },
    "image-tag": {"a tag": make.pod(spec(container(image="registry.example.com:5000/team/train:1.0"))),
        "a digest": make.pod(spec(container(image=DIGEST))),
        "a model in S3": make.inference_service(model={"storageUri": "s3://models/vision/latest"}),
        "a model in an image": make.inference_service(model={"storageUri": "oci+native://team/qwen:1.0"})},
    "host-access": {"a pod without host access": make.pod(spec(volumes=[{"name": "tmp", "emptyDir": {}}]))},
    "scale-bounds": {
        "a deployment at zero": make.deployment(replicas=0),
        "a hundred pods": make.job(parallelism=100),
        "a hundred workers": ray.cluster(replicas=100),
        "a bounded autoscaled cluster": ray.cluster(autoscaled=True, maxReplicas=100),
        "a bounded autoscaler": make.autoscaler(100),
        "a bounded ScaledObject": make.scaled_object(maxReplicaCount=20),
        "a bounded InferenceService": make.inference_service(minReplicas=0, maxReplicas=8),
    },
}  # fmt: skip

DENIED: Final[Mapping[str, Mapping[str, tuple[Object, str]]]] = {
    "scheduler": {
        "another scheduler": (make.pod(None, **{QUEUE: "root.vision"}), "remove schedulerName"),
        "no queue": (make.pod(SCHEDULED), "in their team's queue"),
        "another team's queue": (make.pod(SCHEDULED, **{QUEUE: "root.language"}), "in their team's queue"),
        "another namespace's application": (
            make.pod(SCHEDULED, **{QUEUE: "root.vision", APP: "language.sweep"}),
            "begin yunikorn.apache.org/app-id with the name of the namespace",
        ),
        "another application, by a key that counts less": (
            make.pod(SCHEDULED, **{QUEUE: "root.vision", "spark-app-selector": "language.sweep"}),
            "begin yunikorn.apache.org/app-id",
        ),
    },
    "gpu-pool": {
        "a GPU without a toleration": (make.pod(spec(gpus())), "it requests nvidia.com/gpu 1. Nodes offer: a100"),
        "one of two taints": (make.pod(on("h100", taints=[pool_taint("h100")])), "no pool fits this pod"),
        "a slice without the toleration of the GPU": (make.pod(on("a100", gpus(1, SLICE), taints=[pool_taint("a100")])),
            "it requests nvidia.com/mig-1g.5gb 1"),
        "an init container that alone requests a GPU": (make.pod(spec(container(), initContainers=[FIRST])),
            "it requests nvidia.com/gpu 1. Nodes offer"),
        "an init container with more GPUs than a node has": (
            make.pod(on("h100", gpus(), initContainers=[{**gpus(2), "name": "first"}])), "no pool fits this pod"),
        "a sidecar that doesn't fit beside the container": (
            make.pod(on("spot", gpus(), initContainers=[{**FIRST, "restartPolicy": "Always"}])),
            "no pool fits this pod"),
        "more GPUs than a node has": (make.pod(on("h100", gpus(2))),
            "h100 (nvidia.com/gpu 1, taint dedicated=ml-workloads:NoSchedule)"),
        "containers that don't fit together": (make.pod(on("spot", gpus(), {**gpus(), "name": "b"})),
            "it requests nvidia.com/gpu 1, nvidia.com/gpu 1"),
        "two parts of one shared GPU": (make.pod(on("turns", gpus(2))), "turns (nvidia.com/gpu 4, one per container)"),
        "several devices, in order": (
            make.pod(on("a100", container(resources={"limits": {SLICE: "1", GPU: "1", "nvidia.com/mig-9g.9gb": "1"}}))),
            "it requests nvidia.com/gpu 1, nvidia.com/mig-1g.5gb 1, nvidia.com/mig-9g.9gb 1. Nodes"),
        "a device of a class, which no quota counts": (
            make.pod(on("h100", gpus(1, f"deviceclass.resource.kubernetes.io/{GPU.replace('/', '.')}"))),
            "it requests deviceclass.resource.kubernetes.io/nvidia.com.gpu 1. Nodes"),
        "a slice that no pool has": (make.pod(on("a100", gpus(1, "nvidia.com/mig-9g.9gb"))), "mig-9g.9gb 1"),
        "the taint of another pool": (make.pod(on("spot", taints=[pool_taint("a100")])),
            "Select the pool and tolerate"),
        "an affinity to a pool without GPUs": (make.pod(tolerant(pool_taint("spot"), affinity=affinity("cpu"))),
            "no pool fits this pod"),
        "an effect that is not the taint's": (make.pod(tolerant({**pool_taint("spot"), "effect": "NoExecute"})),
            "no pool fits this pod"),
        "a job without a toleration": (make.job(spec(gpus()), queued=False), "nodeSelector {platform.slipway/pool"),
        "a queued job that does not tolerate the GPU": (make.job(spec(gpus())),
            "key: nvidia.com/gpu, operator: Exists"),
        "a deployment without a toleration": (make.deployment(spec(gpus())), "no pool fits this pod"),
        "a stateful set": (make.stateful_set(spec(gpus())), "no pool fits this pod"),
        "a daemon set": (make.daemon_set(spec(gpus())), "no pool fits this pod"),
        "a cron job": (make.cron_job(spec(gpus())), "no pool fits this pod"),
        "a JobSet": (make.job_set(spec(gpus())), "no pool fits this pod"),
        "a PyTorchJob": (make.pytorch_job(spec(gpus())), "no pool fits this pod"),
        "a worker of a RayCluster": (ray.cluster(worker=spec(gpus())), "no pool fits this pod"),
        "a worker of a RayJob": (ray.job(worker=spec(gpus())), "no pool fits this pod"),
        "a worker of a RayService": (ray.service(worker=spec(gpus())), "no pool fits this pod"),
        "the submitter of a RayJob": (ray.selecting(spec(gpus())), "no pool fits this pod"),
        "an MPIJob": (make.mpi_job(spec(gpus())), "no pool fits this pod"),
    },
    "device-claims": {
        "a name that tells another number": (make.claim_template("gpu-2"), "1 in a template named for 2"),
        "all devices": (make.claim_template(allocationMode="All", count=None), "allocationMode All of request gpu"),
        "another class": (make.claim_template(deviceClassName="mig.nvidia.com"), "deviceClassName mig.nvidia.com"),
    },
    "gpu-limits": {
        "unequal limits of a JobSet": (make.job_set(on("spot", UNEQUAL)),
            "container main has different request and limit"),
        "a request alone": (make.pytorch_job(spec(container(resources={"requests": {GPU: 1}}))),
            "Set resources.limits and resources.requests to the same number"),
        "unequal limits of a Ray worker": (ray.cluster(worker=on("spot", UNEQUAL)), "a GPU can't be overcommitted"),
        "unequal limits of an MPIJob": (make.mpi_job(on("spot", UNEQUAL)), "a GPU can't be overcommitted"),
    },
    "job-bounds": {
        "a job without TTL": (make.job(ttlSecondsAfterFinished=None), "fix spec.ttlSecondsAfterFinished. For example"),
        "a job without deadline": (make.job(activeDeadlineSeconds=None), "fix spec.activeDeadlineSeconds. For example"),
        "a job of many retries": (make.job(backoffLimit=1000), "fix spec.backoffLimit. For example"),
        "a job without any bound": (
            make.job(activeDeadlineSeconds=None, backoffLimit=99, ttlSecondsAfterFinished=None),
            "fix spec.ttlSecondsAfterFinished, spec.activeDeadlineSeconds, spec.backoffLimit. For example",
        ),
        "a cron job without deadline": (
            make.cron_job(activeDeadlineSeconds=None),
            "fix spec.jobTemplate.spec.activeDeadlineSeconds",
        ),
        "a JobSet without TTL": (make.job_set(ttlSecondsAfterFinished=None), "fix spec.ttlSecondsAfterFinished"),
        "a RayJob without deadline": (
            ray.job(activeDeadlineSeconds=None),
            "fix spec.activeDeadlineSeconds (of each attempt)",
        ),
        "a RayJob whose attempts take too long": (
            ray.job(activeDeadlineSeconds=7 * 86400, backoffLimit=2),
            "fix spec.activeDeadlineSeconds (of each attempt)",
        ),
        "a RayJob of many retries": (ray.job(activeDeadlineSeconds=60, backoffLimit=21), "fix spec.backoffLimit. For"),
        "a RayJob that keeps its nodes": (
            ray.job(ttlSecondsAfterFinished=86400),
            "fix spec.ttlSecondsAfterFinished. For",
        ),
        "a RayJob that keeps its cluster": (
            ray.job(shutdownAfterJobFinishes=None),
            "fix spec.shutdownAfterJobFinishes. For",
        ),
        "a JobSet of many restarts": (
            make.job_set(failurePolicy={"maxRestarts": 99}),
            "fix spec.failurePolicy.maxRestarts. For",
        ),
        "a JobSet without deadlines": (
            make.job_set(deadline=None),
            "fix spec.replicatedJobs[node].template.spec.activeDeadlineSeconds. For",
        ),
        "a JobSet whose attempts take too long": (
            make.job_set(deadline=604_800, failurePolicy={"maxRestarts": 2}),
            "fix spec.replicatedJobs[node].template.spec.activeDeadlineSeconds (of each attempt)",
        ),
        **{
            f"a JobSet with {action}": (
                make.job_set(failurePolicy={"maxRestarts": 1, "rules": [{"name": "a", "action": action}]}),
                f"fix spec.failurePolicy.rules.action ({action})",
            )
            for action in ("RestartJobSetAndIgnoreMaxRestarts", "RestartJobAndIgnoreMaxRestarts", "Later")
        },
        "a JobSet that its program restarts without counting": (
            make.reclaimed({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}),
            "fix spec.failurePolicy.rules.action (RestartJobSetAndIgnoreMaxRestarts)",
        ),
        "a JobSet that restarts by another condition": (
            make.reclaimed({"action": "FailJob", "onPodConditions": [{"type": "Ready", "status": "False"}]}),
            "fix spec.failurePolicy.rules.action (RestartJobSetAndIgnoreMaxRestarts)",
        ),
    },
    "job-cost": {
        # 6.88 USD an hour for 168 hours.
        "a week of one GPU": (
            make.job(on("h100"), activeDeadlineSeconds=WEEK),
            "this job may cost 1155 USD or more until its deadline, and one job of this team at most 1000. Lower",
        ),
        "a cron job": (
            make.given(make.cron_job(on("h100"), activeDeadlineSeconds=WEEK), concurrencyPolicy="Forbid"),
            "may cost 1155 USD",
        ),
        "a step of a workflow": (workflow(WEEK), "may cost 1155 USD"),
        "a step of a schedule": (workflow(WEEK, "CronWorkflow"), "may cost 1155 USD"),
        "a step that stands in a task": (
            make.workflow(activeDeadlineSeconds=WEEK, templates=[{"name": "all", "dag": {"tasks": [
                {"name": "train", "inline": {"container": gpus(), "nodeSelector": {make.POOL: "h100"}}}]}}]),
            "may cost 1155 USD"),
        "a step whose deadline is an input": (
            workflow(WEEK, activeDeadlineSeconds="{{inputs.parameters.seconds}}"), "may cost 1155 USD"),
        "a cron job whose runs overlap": (
            make.given(make.cron_job(on("h100")), concurrencyPolicy="Allow"), "runs overlap: concurrencyPolicy is not"),
        "all jobs that KEDA starts at once": (
            make.scaled_job(on("h100"), maximum=50, activeDeadlineSeconds=4 * 3600), "may cost 1376 USD"),
        "as many jobs as KEDA starts by default": (
            {**make.scaled_job(), "spec": {"jobTargetRef": make.job(on("h100"), activeDeadlineSeconds=7200)["spec"]}},
            "may cost 1376 USD"),
        "a TrainJob whose runtime has the GPUs": (
            make.given(make.train_job(deadline=WEEK), runtimeRef=WHOLE), "may cost 2311 USD"),
        "a TrainJob of a runtime of the team": (
            make.given(make.train_job(), runtimeRef={"name": "own", "kind": "TrainingRuntime"}),
            "may cost an unknown number of USD: the GPUs of its nodes are not in trainer.resourcesPerNode"),
        "a TrainJob that patches its runtime": (
            make.given(make.train_job(), runtimePatches=[{"manager": "it", "trainingRuntimeSpec": {"template": {
                "spec": make.job_set(on("h100"))["spec"]}}}]),
            "may cost an unknown number of USD"),
        "workers of several hosts": (
            ray.job(worker=on("h100"), numOfHosts=15, activeDeadlineSeconds=4 * 3600), "may cost 3302 USD"),
        "workers that an autoscaler adds": (
            ray.job(worker=on("h100"), autoscaled=True, maxReplicas=30, activeDeadlineSeconds=4 * 3600),
            "may cost 3302 USD"),
        "an elastic job": (
            make.given(make.operated("PyTorchJob", on("h100"), activeDeadlineSeconds=4 * 3600),
                elasticPolicy={"maxReplicas": 50}),
            "may cost 1376 USD"),
        "a negative number beside a large one": (
            make.given(make.job_set(), replicatedJobs=[
                {**job, "replicas": number} for number in (1, -99)
                for job in make.job_set(on("h100"), deadline=WEEK)["spec"]["replicatedJobs"]]),
            "may cost 1155 USD"),
        "no deadline": (make.job(on("h100"), activeDeadlineSeconds=None), "may cost 2311 USD"),
        "all attempts of a JobSet": (
            make.job_set(on("h100"), parallelism=2, deadline=WEEK // 6, failurePolicy={"maxRestarts": 2}),
            "may cost 1155 USD",
        ),
        "many instances": (
            make.job(on("a100", gpus(7, SLICE)), activeDeadlineSeconds=2 * WEEK, parallelism=2),
            "may cost 1843 USD",
        ),
        "all groups of a job, with its operator's deadline": (
            make.operated("PyTorchJob", on("h100"), replicas=2, activeDeadlineSeconds=WEEK // 2),
            "may cost 1155 USD",
        ),
        "a RayJob, all attempts": (
            ray.job(on("h100"), activeDeadlineSeconds=WEEK // 2, backoffLimit=1),
            "may cost 1155 USD",
        ),
        "a TrainJob, at the lowest price": (
            make.train_job(nodes=100, deadline=WEEK, **EACH),
            "may cost 6720 USD",
        ),
        "all trials of an experiment": (
            make.experiment(make.job(on("h100"), activeDeadlineSeconds=WEEK // 12)),
            "may cost 1155 USD",
        ),
        "all trials of several pods": (
            make.experiment(make.train_job(nodes=100, deadline=WEEK // 12, **EACH)),
            "may cost 6720 USD",
        ),
    },
    "experiment-bounds": {
        "no maximum": (make.experiment(maxTrialCount=None), "fix maxTrialCount. maxTrialCount is at most 500"),
        "too many trials": (make.experiment(maxTrialCount=501), "fix maxTrialCount. "),
        "too many at once": (make.experiment(parallelTrialCount=101, maxTrialCount=200), "fix parallelTrialCount. "),
        "an algorithm that stays": (make.experiment(resumePolicy="LongRunning"), "fix resumePolicy. "),
        "a volume that stays": (make.experiment(resumePolicy="FromVolume"), "fix resumePolicy. "),
        "parameters that are JSON": (make.experiment(nasConfig={}), "fix nasConfig. "),
        "no template": (make.experiment(trialTemplate=None), "fix trialTemplate.trialSpec. "),
        "a template elsewhere": (
            make.experiment(trialTemplate={"configMap": {"configMapName": "a"}}), "fix trialTemplate.trialSpec. "),
        **{
            f"a trial that is a {kind}": (
                make.experiment(template={"trialSpec": {"apiVersion": version, "kind": kind}}),
                "fix the kind of trialTemplate.trialSpec. ")
            for version, kind in (
                ("rbac.authorization.k8s.io/v1", "RoleBinding"), ("v1", "PersistentVolumeClaim"),
                ("apps/v1", "Deployment"), ("kubeflow.org/v1", "MPIJob"), ("batch/v1", "${trialParameters.rate}"))
        },
        "a trial of no kind": (make.experiment(template={"trialSpec": {}}), "fix the kind of trialTemplate."),
        "a trial with a finalizer": (
            make.experiment(template={"trialSpec": {"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"labels": {}, "finalizers": ["a/b"]}}}),
            "fix trialTemplate.trialSpec.metadata. "),
        "a value that ends the text of the template": (
            make.experiment(parameters=[{"name": "lr", "feasibleSpace": {"list": ["a", '"}}, "kind": "Role"']}}]),
            "fix parameters.feasibleSpace.list. "),
        "a value that hides the end": (
            make.experiment(parameters=[{"name": "lr", "feasibleSpace": {"list": ["\\"]}}]),
            "fix parameters.feasibleSpace.list. "),
        "an annotation for a value": (
            make.experiment(template={"trialParameters": [
                {"name": "a", "reference": "${trialSpec.Annotations[a]}"}]}),
            "fix trialTemplate.trialParameters.reference. "),
        "a container of its own beside each trial": (
            make.experiment(metricsCollectorSpec={"collector": {"kind": "Custom", "customCollector": gpus()}}),
            "fix metricsCollectorSpec.collector.customCollector. "),
    },
    "spot-checkpoint": {
        "a job on spot without a claim": (make.job(on("spot")), "the nodes of pool spot are Spot"),
        "a job on spot that only reads": (make.job(on("spot", READS, volumes=[CLAIM])), "mount the volume claim"),
        "a job by affinity": (make.job(tolerant(make.GPU_TAINT, affinity=affinity("h100", "spot"))),
            "the nodes of pool spot are Spot"),
        "a job that its queue may put on spot": (make.job(tolerant(make.GPU_TAINT)), "select a pool that is not Spot"),
        "a JobSet on spot": (make.job_set(on("spot")), "the nodes of pool spot are Spot"),
    },
    "spot-eviction": {
        "a job on spot": (kept(make.job(on("spot"))), f"remove the annotation {DISRUPT} from the pod template"),
        "a job on spot, for some time": (kept(make.job(on("spot")), "4h"), "the nodes of pool spot are Spot"),
        "a job that its queue may put on spot": (kept(make.job(tolerant(make.GPU_TAINT))), "select a pool that is not"),
        "a service on spot": (kept(make.deployment(on("spot"))), "the nodes of pool spot are Spot"),
        "a worker of a RayCluster": (ray.cluster(worker=on("spot"), worker_annotations=KEPT),
            "the nodes of pool spot are Spot"),
    },
    "ray-cluster": {
        "a head on spot": (ray.cluster(on("spot", container()), worker=on("spot")),
            "fix a head that may run on Spot. Select"),
        "a head of a job on spot by affinity": (
            ray.job(tolerant(pool_taint("spot"), make.GPU_TAINT, body=spec(), affinity=affinity("cpu", "spot"))),
            "a head that may run on Spot"),
        "workers that the queue does not count": (ray.cluster(replicas=0, minReplicas=8),
            "fix minReplicas of group workers. Select"),
        "workers of a service that the queue does not count": (ray.service(replicas=1, minReplicas=2),
            "minReplicas of group workers"),
        "a second cluster during upgrades": (ray.service(strategy=None), "fix upgradeStrategy.type. Select"),
        "a second cluster by name": (ray.service(strategy="NewCluster"), "fix upgradeStrategy.type"),
        "an Ingress of the dashboard": (ray.cluster(enableIngress=True), "fix enableIngress. Select"),
        "a submitter with GPUs": (ray.selecting(on("h100")), "fix GPUs of submitterPodTemplate"),
    },
    "queue-name": {
        "a RayJob without a queue": (ray.job(queued=False), "add the label kueue.x-k8s.io/queue-name: default"),
        "a job without a queue": (make.job(queued=False), "add the label kueue.x-k8s.io/queue-name: default"),
        "a cron job without a queue": (make.cron_job(queued=False), "in jobTemplate.metadata.labels"),
        "a JobSet without a queue": (make.job_set(queued=False), "add the label kueue.x-k8s.io/queue-name"),
        "a TrainJob without a queue": (make.train_job(queued=False), "add the label kueue.x-k8s.io/queue-name"),
        "a PyTorchJob without a queue": (make.pytorch_job(queued=False), "add the label kueue.x-k8s.io/queue-name"),
    },
    "queue-topology": {
        "a job that selects the pool": (make.job(on("h100")), 'podset-unconstrained-topology: "true"'),
        "pods with another annotation": (kept(make.job(on("h100"))), "annotate the pod template"),
        "an affinity to the pool": (
            make.job(tolerant(pool_taint("h100"), make.GPU_TAINT, affinity=affinity("h100"))), "by their topology"),
        "all pools but others": (
            make.job(tolerant(make.GPU_TAINT, affinity=affinity("a100", "cpu", "spot", "turns", operator="NotIn"))),
            "by their topology",
        ),
        "no boolean": (kept(make.job(on("h100")), "yes", f"{PODSET}unconstrained-topology"), "by their topology"),
        "slices without a size": (kept(make.job(on("h100")), "rack", f"{PODSET}slice-required-topology"), "by their"),
        "a size without slices": (kept(make.job(on("h100")), "2", f"{PODSET}slice-size"), "by their topology"),
        "a CronJob": (make.cron_job(on("h100")), "by their topology"),
        "a JobSet": (make.job_set(on("h100")), "by their topology"),
        "workers": (make.pytorch_job(on("h100")), "by their topology"),
    },
    "image-tag": {
        "no tag": (make.pod(LATEST), "image registry.example.com:5000/team/train has no fixed version"),
        "the tag latest": (make.pod(spec(container(image="train:latest"))), "image train:latest has no fixed version"),
        "the head of a RayService": (ray.service(LATEST), "image registry.example.com:5000/team/train has no fixed"),
        "an init container": (make.deployment(spec(initContainers=[container(name="first", image="fetch")])),
            "image fetch has no fixed version: use a tag other than latest"),
        "two images of a JobSet": (make.job_set(
                spec(container(image="a"), container(name="b", image="b:latest"), container(name="c", image=IMAGE))),
            "image a, b:latest has no fixed version"),
        "a model's image": (make.inference_service(model={"storageUri": "oci+native://team/qwen:latest"}),
            "image team/qwen:latest has no fixed version"),
        "one of several models' images": (
            make.inference_service(storageUris=[{"uri": "s3://models/base"}, {"uri": "oci://team/adapter"}]),
            "image team/adapter has no fixed version"),
    },
    "host-access": {
        "a privileged pod": (make.pod(PRIVILEGED), "remove privileged of container main"),
        "a path of the host": (make.job(HOST_PATH), "remove hostPath of volume root"),
        "the host's network": (make.deployment(spec(hostNetwork=True)), "remove hostNetwork"),
        "a user of Windows": (
            make.pod(spec(container(securityContext={"windowsOptions": {"runAsUserName": "ContainerAdministrator"}}))),
            "remove windowsOptions of container main"),
        "a port of the host": (make.pod(spec(container(ports=[{"containerPort": 80, "hostPort": 80}]))),
            "remove hostPort of container main"),
    },
    "scale-bounds": {
        "too many replicas": (make.deployment(replicas=101), "too many pods in this workload: 101. Set a maximum"),
        "too many pods of a job": (make.job(parallelism=500), "too many pods in this workload: 500"),
        "too many pods of a JobSet": (make.job_set(parallelism=101), "too many pods in this workload: 101"),
        "too many workers": (ray.cluster(replicas=101), "too many pods in this workload: 101"),
        "too many workers at least": (ray.cluster(replicas=0, minReplicas=101), "too many pods in this workload: 101"),
        "too many hosts": (ray.job(replicas=26, numOfHosts=4), "too many pods in this workload: 104"),
        "an autoscaled cluster without a maximum": (ray.service(autoscaled=True, maxReplicas=None),
            "too many pods in this workload: no maximum"),
        "an autoscaler too high": (make.autoscaler(1000), "Set a maximum of at most 100: maxReplicas of an autoscaler"),
        "a ScaledObject without a maximum": (make.scaled_object(), "too many pods in this workload: no maximum"),
        "an InferenceService without a maximum": (make.inference_service(minReplicas=1), "no maximum"),
        "an InferenceService with a maximum of zero": (make.inference_service(maxReplicas=0), "no maximum"),
    },
}  # fmt: skip
