"""Acts that a list of what is allowed decides: monitors, labels of nodes, artifacts, variables, sizes; with ordinary
work beside each.
"""

from typing import Any, Final

from components.admission.isolation import EXCLUSIVE, NODE
from components.admission.objects import LARGEST
from components.admission.pods import DEVICE_VARIABLES
from tests.components.admission import samples as make
from tests.components.admission.actors import ADMIN, EDIT, PLATFORM, Act
from tests.components.admission.samples import QUEUE, Object, container, gpus, on, spec

POD_LABELS: Final = "__meta_kubernetes_pod_label_"
CREDENTIALS: Final = {"secret": {"name": "it", "key": "a"}}
ZONE: Final = "topology.kubernetes.io/zone"


def pod_monitor(**endpoint: Any) -> Object:
    body = {"selector": {}, "podMetricsEndpoints": [{"port": "http", **endpoint}]}
    return {**make.service_monitor(), "kind": "PodMonitor", "spec": body}


def whole(**fields: Any) -> Object:
    made = make.service_monitor()
    return {**made, "spec": {**made["spec"], **fields}}


def monitors(rule: str, **monitor: Object) -> tuple[Act, ...]:
    return tuple(
        Act(f"a monitor with {what.replace('_', ' ')}", EDIT, manifest, rule) for what, manifest in monitor.items()
    )


def target(**rule: Any) -> Object:
    return make.service_monitor(relabelings=[rule])


def metric(**rule: Any) -> Object:
    return make.service_monitor(metricRelabelings=[rule])


MONITORS: Final = (
    *monitors("monitor-scope", a_proxy=make.service_monitor(proxyUrl="http://10.0.0.1:3128"),
        the_proxy_of_Prometheus=make.service_monitor(proxyFromEnvironment=True),
        headers_for_a_proxy_of_its_pods=pod_monitor(proxyConnectHeader={"x": [{"name": "it", "key": "a"}]}),
        tokens_of_an_address=make.service_monitor(
            oauth2={"clientId": CREDENTIALS, "clientSecret": CREDENTIALS["secret"], "tokenUrl": "http://10.0.0.1"}),
        a_class_of_the_platform=whole(scrapeClass="platform"), a_field_of_a_later_version=whole(later={}),
        a_field_of_an_endpoint_of_a_later_version=make.service_monitor(later="a"),
        the_job_of_a_label=whole(jobLabel="job"),
        a_counted_label_of_its_Service=whole(targetLabels=["app", "namespace"]),
        a_counted_label_of_its_pods=whole(podTargetLabels=["exported-namespace"]),
        no_namespace=metric(action="labeldrop", regex="name.*"), no_job=target(action="LabelDrop", regex="j.b"),
        the_default_of_labeldrop=metric(action="labeldrop"),
        other_labels_alone=target(action="labelkeep", regex="__.*|job|instance"),
        a_map_of_its_metrics=metric(action="labelmap", regex=f"{POD_LABELS}(.+)"),
        a_map_of_counted_labels=target(action="labelmap", regex=f"{POD_LABELS}(app|team)"),
        a_map_of_a_part_of_labels=target(action="labelmap", regex=f"{POD_LABELS}x(.+)"),
        a_map_of_annotations=target(action="labelmap", regex="__meta_kubernetes_pod_annotation_(.+)"),
        a_map_to_labels_of_Prometheus=target(action="labelmap", regex=f"{POD_LABELS}(.+)", replacement="__${1}__"),
        a_map_to_labels_that_it_moved=target(action="labelmap", regex=f"{POD_LABELS}(.+)", replacement="exported_$1"),
        a_map_of_everything=target(action="labelmap"), another_name_in_the_namespace=target(targetLabel="namespace",
            sourceLabels=["__meta_kubernetes_namespace"], replacement="other"), a_part_of_the_namespace=target(
            targetLabel="namespace", sourceLabels=["__meta_kubernetes_namespace"], regex="(.).*"),
        a_hash_in_the_namespace=target(action="hashmod", targetLabel="namespace",
            sourceLabels=["__meta_kubernetes_namespace"], modulus=2)),
    *monitors("", all_labels_of_its_pods=target(action="labelmap", regex=f"{POD_LABELS}(.+)"),
        all_labels_of_its_pods_with_anchors=target(action="LabelMap", regex=f"^{POD_LABELS}(.*)$", replacement="${1}"),
        some_labels_of_its_pods=target(action="labelmap", regex=f"{POD_LABELS}(app|version)"),
        labels_of_nodes=whole(attachMetadata={"node": True}),
        labels_with_a_prefix=target(action="labelmap", regex=f"{POD_LABELS}(.+)", replacement="pod_$1"),
        metrics_with_a_prefix=metric(action="labelmap", regex="mine_(.*)", replacement="my_label_${1}"),
        labels_that_its_pods_have=whole(podTargetLabels=["app", "app.kubernetes.io/version"], targetLabels=["tier"]),
        a_label_less=metric(action="labeldrop", regex="pod_template_hash|le"),
        few_labels=metric(action="labelkeep", regex="__name__|namespace|job|pod|le"),
        the_real_namespace=target(targetLabel="namespace", sourceLabels=["__meta_kubernetes_namespace"]),
        a_label_for_a_moment=target(targetLabel="__tmp_port", sourceLabels=["__meta_kubernetes_pod_container_name"]),
        equal_ports_alone=target(action="keepequal", sourceLabels=["__meta_kubernetes_pod_container_port_number"],
            targetLabel="__meta_kubernetes_pod_annotation_port"),
        metrics_that_it_drops=metric(action="drop", sourceLabels=["__name__"], regex="go_.*"),
        a_password=pod_monitor(basicAuth={"username": CREDENTIALS["secret"], "password": CREDENTIALS["secret"]}),
        limits=whole(sampleLimit=1000, labelLimit=30, targetLimit=10)),
    *(
        Act(f"a {manifest['kind']} labelled {label}", EDIT,
            {**manifest, "metadata": {"name": "it", "labels": {label: value}}}, rule)
        for manifest in (make.pod(), make.service())
        for label, value, rule in (
            ("namespace", "other", "team-labels"), ("exported.namespace", "other", "team-labels"),
            ("job", "kube-state-metrics", "team-labels"), ("job-name", "other", ""), ("app", "job", ""))
    ),
    Act("a ServiceMonitor with a file of TLS", EDIT, make.service_monitor(tlsConfig={"caFile": "/etc/ca"}),
        "monitor-files"),
    Act("a ServiceMonitor with a file of a later version", EDIT, make.service_monitor(tlsConfig={"later": "/etc/ca"}),
        "monitor-files"),
    Act("a ServiceMonitor with TLS", EDIT, make.service_monitor(tlsConfig={"ca": CREDENTIALS, "serverName": "it"})),
)  # fmt: skip


def requires(key: str, operator: str, *values: str, how: str = "required") -> Object:
    term = {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}
    rule = f"{how}DuringSchedulingIgnoredDuringExecution"
    terms = {"nodeSelectorTerms": [term]} if how == "required" else [{"weight": 1, "preference": term}]
    return make.pod(spec(affinity={"nodeAffinity": {rule: terms}}))


def of_node(rule: str, **pods: Object) -> tuple[Act, ...]:
    return tuple(Act(f"a pod on {what.replace('_', ' ')}", EDIT, manifest, rule) for what, manifest in pods.items())


INSTANCE: Final = "karpenter.k8s.aws/instance-"
TYPE: Final = "node.kubernetes.io/instance-type"
NODES: Final = (
    *of_node("node-selection", a_huge_type=make.pod(spec(nodeSelector={TYPE: "m7i.48xlarge"})),
        a_huge_type_by_affinity=requires(TYPE, "In", "m7i.xlarge", "m7i.48xlarge"),
        a_huge_type_by_preference=requires(TYPE, "In", "m7i.metal-24xl", how="preferred"),
        no_small_type=requires(f"{INSTANCE}size", "NotIn", "large", "xlarge"),
        a_size=requires(f"{INSTANCE}size", "In", "48xlarge"), many_processors=requires(f"{INSTANCE}cpu", "Gt", "190"),
        much_memory=requires(f"{INSTANCE}memory", "Gt", "700000"),
        a_fast_network=requires(f"{INSTANCE}network-bandwidth", "Gt", "50000"),
        metal=requires(f"{INSTANCE}hypervisor", "In", ""),
        a_node_that_no_pool_has=requires("example.com/huge", "Exists")),
    *of_node("", a_small_type=requires(TYPE, "In", "m7i.xlarge", "m7i.4xlarge"),
        few_processors=requires(f"{INSTANCE}cpu", "Lt", "17"), four_processors=requires(f"{INSTANCE}cpu", "In", "4"),
        a_family=requires(f"{INSTANCE}family", "In", "m7i"),
        a_new_generation=requires(f"{INSTANCE}generation", "Gt", "5"),
        Intel=requires(f"{INSTANCE}cpu-manufacturer", "In", "intel", how="preferred"),
        a_local_disk=requires(f"{INSTANCE}local-nvme", "Exists"), its_zone_and_system=make.pod(spec(nodeSelector={
                    "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", ZONE: "us-east-1a", make.POOL: "cpu",
                    "platform.slipway/role": "general"})),
        a_feature=requires("feature.node.kubernetes.io/cpu-cpuid.AVX512F", "In", "true"),
        a_place_in_the_network=requires("topology.k8s.aws/network-node-layer-3", "Exists")),
    Act("a job on a type with GPUs", EDIT,
        make.job(on("h100") | {"nodeSelector": {make.POOL: "h100", TYPE: "p5.48xlarge"}})),
)  # fmt: skip


def by_webhook(topology: str, **change: Any) -> Object:
    """A pod as JobSet's webhook leaves the first of a job with a topology for itself alone."""
    keys = {"matchExpressions": [
        {"key": "jobset.sigs.k8s.io/job-key", "operator": "Exists"},
        {"key": "jobset.sigs.k8s.io/job-key", "operator": "NotIn", "values": ["a"]},
        {"key": "jobset.sigs.k8s.io/priority", "operator": "In", "values": ["0"]}]}  # fmt: skip
    term = {"labelSelector": keys, "topologyKey": topology, "namespaceSelector": {}, **change}
    affinity = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
                for kind in ("podAffinity", "podAntiAffinity")}  # fmt: skip
    return noted(make.owned(make.pod(spec(affinity=affinity))), topology)


def noted(manifest: Object, topology: str) -> Object:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {EXCLUSIVE: topology}}}


FOLLOWER: Final = make.owned(make.pod(spec(nodeSelector={NODE: "ip-10-0-0-1"})))
PLACED: Final = (
    Act("a JobSet with nodes for itself", EDIT, noted(make.job_set(), NODE)),
    Act("a JobSet with a zone for itself", EDIT, noted(make.job_set(), ZONE), "node-selection"),
    Act("the first pod of a JobSet with nodes for itself", "job controller", by_webhook(NODE)),
    Act("a later pod of a JobSet with nodes for itself", "job controller", noted(FOLLOWER, NODE)),
    Act("a pod of a JobSet with a zone for itself", "job controller", by_webhook(ZONE), "node-selection"),
    Act("a pod of a JobSet that repels other pods", "job controller", by_webhook(NODE, labelSelector={}),
        "node-selection"),
    Act("a pod of a JobSet that repels pods by their labels", "job controller",
        by_webhook(NODE, labelSelector={"matchLabels": {"app": "it"}}), "node-selection"),
    Act("a pod with nodes for itself", EDIT,
        {**by_webhook(NODE), "metadata": {"name": "it", "annotations": {EXCLUSIVE: NODE}}}, "node-selection"),
    Act("a pod of a job on one node", "job controller", FOLLOWER, "node-selection"),
)  # fmt: skip


def made_from(kind: str = "CronJob", **more: Any) -> Object:
    """A Job as `kubectl create job --from=cronjob/NAME` makes it."""
    made = make.owned(make.job(**{"ttlSecondsAfterFinished": None, **more}))
    owner = {"apiVersion": "batch/v1", "kind": kind, "name": "nightly", "uid": "1", "controller": True}
    notes = {"cronjob.kubernetes.io/instantiate": "manual"}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner], "annotations": notes}}


def debugging(**fields: Any) -> Object:
    return {**make.pod(), "spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox:1.37", **fields}]}}


def debugs(what: str, rule: str = "", **fields: Any) -> Act:
    return Act(what, EDIT, debugging(**fields), rule, before=make.pod(), method="PATCH",
        subresource="ephemeralcontainers")  # fmt: skip


WORK: Final = (
    Act("a Job from a CronJob", EDIT, made_from()),
    Act("an endless Job from a CronJob", EDIT, made_from(activeDeadlineSeconds=None), "job-bounds"),
    Act("a Job from another owner", EDIT, made_from("JobSet", ttlSecondsAfterFinished=60), "controller-reference"),
    debugs("a debugging container"),
    debugs("a debugging container without a version", "image-tag", image="busybox"),
    debugs("a privileged debugging container", "host-access", securityContext={"privileged": True}),
    debugs("a debugging container that sees all GPUs", "device-variables",
           env=[{"name": DEVICE_VARIABLES[0], "value": "all"}]),
)  # fmt: skip


def sees(name: str, **source: Any) -> Object:
    return make.pod(spec(container(env=[{"name": name, **source}])))


def of_map(**data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it"}, "data": data}


DEVICES: Final = (
    *(Act(f"a pod with {name}", EDIT, sees(name, value="all"), "device-variables") for name in DEVICE_VARIABLES),
    Act("a job with devices of a field", EDIT, make.job(spec(gpus(), initContainers=[container(name="first", env=[{
                                "name": DEVICE_VARIABLES[0],
                                "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])])), "device-variables"),
    Act("a pod with a prefix of the variable", EDIT,
        make.pod(spec(container(envFrom=[{"prefix": "NVIDIA_", "configMapRef": {"name": "it"}}]))), "device-variables"),
    Act("a ConfigMap with the variable", EDIT, of_map(**{DEVICE_VARIABLES[0]: "all"}), "device-variables"),
    Act("a pod without devices", EDIT, sees(DEVICE_VARIABLES[0], value="void")),
    Act("a pod with other variables of NVIDIA", EDIT, sees("NVIDIA_DRIVER_CAPABILITIES", value="compute,utility")),
    Act("a pod with variables of a ConfigMap", EDIT,
        make.pod(spec(container(envFrom=[{"configMapRef": {"name": "it"}}])))),
    Act("a ConfigMap", EDIT, of_map(a="b")),
    Act("a ConfigMap that changes", EDIT, of_map(a="c"), method="PATCH", before=of_map(a="b")),
)  # fmt: skip

LARGE: Final = container(args=["x" * 100_000] * 3)
LABELLED: Final = {"name": "it", "labels": {f"{number:x>60}": "x" * 63 for number in range(4000)}}
SIZES: Final = (
    Act("a large Deployment without pods", EDIT, make.deployment(spec(LARGE), replicas=0), "object-size"),
    Act("a large workflow", EDIT, make.workflow(entrypoint="x" * 2 * LARGEST), "object-size"),
    Act("a workflow of a long program", EDIT, make.workflow(entrypoint="x" * LARGEST)),
    Act("a large ConfigMap", EDIT, of_map(a="x" * 500_000)),
    Act("a larger ConfigMap", EDIT, of_map(a="x" * 260_000, b="x" * 270_000), "object-size"),
    Act("a ConfigMap that grows", EDIT, of_map(b="x" * 500_000), "object-size", method="PATCH",
        before=of_map(a="x" * 500_000)),
    Act("labels of a megabyte", EDIT, {**make.service(), "metadata": LABELLED}, "object-size"),
    Act("an annotation that makes it large", EDIT, {**make.service(), "metadata": {**LABELLED, "labels": {},
        "annotations": {"a": "x" * 200_000}}}, "object-size", method="PATCH", before=make.service()),
    Act("a Deployment of half the size", EDIT, make.deployment(spec(container(args=["x" * 50_000] * 2)), replicas=0)),
)  # fmt: skip


def plain(api: str, kind: str, **fields: Any) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "it"}, **fields}


def held(manifest: Object, *finalizers: str) -> Object:
    return {**manifest, "metadata": {**manifest["metadata"], "finalizers": list(finalizers)}}


def budget(**spec: Any) -> Object:
    return plain("policy/v1", "PodDisruptionBudget", spec={"selector": {}, **spec})


def claim(**spec: Any) -> Object:
    size = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
    return plain("v1", "PersistentVolumeClaim", spec={**size, **spec})


def of_template(*finalizers: str) -> Object:
    made = make.job()
    template = {**made["spec"]["template"], "metadata": {"finalizers": list(finalizers)}}
    return {**made, "spec": {**made["spec"], "template": template}}


def annotated(manifest: Object) -> Object:
    note = {"kubernetes.io/service-account.name": "workload"}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": note}}


def scheduled(manifest: Object, **fields: Any) -> Object:
    return {**manifest, "spec": {**manifest["spec"], **fields}}


KEPT: Final = held(of_map(a="b"), "example.com/never")
REACHES: Final = (
    Act(what="a job that never goes", actor=EDIT, rule="object-reach", manifest=held(
        make.job(), "example.com/never")),
    Act(what="a job whose pods never go", actor=EDIT, rule="object-reach", manifest=of_template("example.com/never")),
    Act(what="a pod with Kueue's finalizer that Kueue does not hold", actor=EDIT, rule="object-reach", manifest=held(
        make.pod(), "kueue.x-k8s.io/managed")),
    Act(what="a job whose pods say that Kueue holds them", actor=EDIT, rule="object-reach", manifest=of_template(
        "kueue.x-k8s.io/managed")),
    Act(what="a finalizer later", actor=EDIT, method="PATCH", rule="object-reach", before=of_map(a="b"),
        manifest=held(of_map(a="b"), "example.com/never")),
    Act(what="a change of what a controller keeps", actor=EDIT, method="PATCH", before=KEPT,
        manifest={**KEPT, "data": {"a": "c"}}),
    Act(what="a ConfigMap that waits for its dependents", actor=EDIT, manifest=held(
        of_map(a="b"), "foregroundDeletion")),
    Act(what="a budget of no pod", actor=EDIT, rule="object-reach", manifest=budget(maxUnavailable=0)),
    Act(what="a budget of no percent", actor=EDIT, rule="object-reach", manifest=budget(maxUnavailable="0%")),
    Act(what="a budget of all", actor=EDIT, rule="object-reach", manifest=budget(minAvailable="100%")),
    Act(what="a budget of one pod", actor=EDIT, manifest=budget(maxUnavailable=1)),
    Act(what="a budget of half", actor=EDIT, manifest=budget(minAvailable="50%")),
    Act(what="a claim of a volume", actor=EDIT, rule="object-reach", manifest=claim(volumeName="theirs")),
    Act(what="a claim", actor=EDIT, manifest=claim()),
    *(Act(what=f"a claim of a StatefulSet with {what}", actor="stateful set controller", manifest=manifest, rule=rule)
        for what, manifest, rule in (("a volume", claim(volumeName="theirs"), "object-reach"), ("a class", claim(), ""),
            ("a finalizer", held(claim(), "example.com/never"), "object-reach"))),
    Act(what="a claim of a workflow with a volume", actor="Argo", rule="object-reach",
        manifest=claim(volumeName="theirs")),
    Act(what="a claim of the platform", actor=PLATFORM, manifest=claim(volumeName="ours", storageClassName="")),
    Act(what="a token in a Secret", actor=EDIT, rule="object-reach", manifest={
        **annotated(plain("v1", "Secret", type="kubernetes.io/service-account-token")),
    }),
    Act(what="a Secret", actor=EDIT, manifest=plain("v1", "Secret", type="Opaque")),
    Act(what="a Secret without a type", actor=EDIT, manifest=plain("v1", "Secret")),
    Act(what="a schedule that keeps all its jobs", actor=EDIT, rule="job-bounds", manifest=scheduled(
        make.cron_job(), failedJobsHistoryLimit=10000)),
    Act(what="a schedule that keeps ten jobs", actor=EDIT, manifest=scheduled(
        make.cron_job(), successfulJobsHistoryLimit=10)),
    Act(what="workflows beside each other", actor=EDIT, rule="job-bounds", manifest=scheduled(
        make.workflow("CronWorkflow"), concurrencyPolicy="Allow")),
)  # fmt: skip


def with_artifact(kind: str = "Workflow", /, **artifact: Any) -> Object:
    place = {"name": "a", "path": "/a", **artifact}
    return make.workflow(kind, templates=[{"name": "x", "inputs": {"artifacts": [place]}}])


def in_workflow(rule: str, **workflows: Object) -> tuple[Act, ...]:
    return tuple(
        Act(f"a {manifest['kind']} with {what.replace('_', ' ')}", EDIT, manifest, rule)
        for what, manifest in workflows.items()
    )


THEIRS: Final = {"s3": {"key": "argo/other/train/x"}}
OURS: Final = {"s3": {"key": "argo/acts/train/x"}}
NODE_OF_OTHERS: Final = {"nodes": {"x": {"outputs": {"artifacts": [{"name": "a", **THEIRS}]}}}}
SHARED: Final = (
    *in_workflow("workflow-scope", a_priority=make.workflow(priority=1),
        a_priority_each_night=make.workflow("CronWorkflow", priority=100),
        a_priority_for_all=make.workflow("WorkflowTemplate", priority=7),
        metrics=make.workflow(metrics={"prometheus": [{"name": "up"}]}),
        metrics_of_a_step=make.workflow(templates=[{"name": "x", "metrics": {"prometheus": []}}]),
        metrics_of_all_steps=make.workflow(templateDefaults={"metrics": {"prometheus": []}}),
        a_key_of_others=with_artifact(**THEIRS),
        a_key_of_a_parameter=with_artifact(s3={"key": "{{inputs.parameters.a}}"}),
        a_key_that_begins_so=with_artifact(s3={"key": "arg{{inputs.parameters.a}}"}),
        a_key_with_a_slash=with_artifact(s3={"key": "/argo/other/x"}),
        an_endpoint=with_artifact(s3={"key": "argo/acts/x", "endpoint": "10.0.0.1:9000"}),
        a_role=with_artifact(s3={"key": "argo/acts/x", "roleARN": "arn:aws:iam::1:role/a"}),
        an_address=with_artifact(http={"url": "http://169.254.169.254/"}),
        another_cloud=with_artifact(gcs={"bucket": "a", "key": "b"}), a_plugin_in_a_step=make.workflow(templates=[
                {"name": "x", "steps": [[{"name": "s", "arguments": {"artifacts": [{"name": "a", "plugin": {}}]}}]]}]),
        a_key_of_others_in_a_task=make.workflow(templates=[{"name": "x", "dag": {
                        "tasks": [{"name": "s", "inline": {"outputs": {"artifacts": [{"name": "a", **THEIRS}]}}}]}}]),
        logs_at_others=make.workflow(templates=[{"name": "x", "archiveLocation": THEIRS}]),
        a_repository_of_its_own=make.workflow(artifactRepositoryRef={"configMap": "mine"}),
        a_key_of_others_in_its_status={**make.workflow(), "status": NODE_OF_OTHERS}),
    Act("a key of others in its status later", EDIT, {**make.workflow(), "status": NODE_OF_OTHERS}, "workflow-scope",
        method="PATCH", before=make.workflow()),
    Act("repositories of artifacts", EDIT, {**of_map(a="b"), "metadata": {"name": "artifact-repositories"}},
        "workflow-scope"),
    Act("Argo reports the artifacts of a step", "Argo",
        {**make.workflow(), "status": {"nodes": {"x": {"outputs": {"artifacts": [{"name": "a", **OURS}]}}}}},
        method="PATCH", before=make.workflow()),
    *in_workflow("", no_priority=make.workflow(priority=0), a_key_of_its_own=with_artifact(**OURS),
        a_key_of_its_namespace=with_artifact(s3={"key": "argo/{{workflow.namespace}}/{{workflow.name}}/x"}),
        data_of_its_team=with_artifact(
            s3={"bucket": "raw", "key": "vision/{{inputs.parameters.day}}", "endpoint": "s3.us-east-1.amazonaws.com"}),
        code=with_artifact(git={"repo": "https://github.com/a/b.git", "revision": "main"}),
        text=with_artifact("WorkflowTemplate", raw={"data": "a"}),
        a_download=with_artifact(http={"url": "https://example.com/a"}), an_artifact_of_another_step=make.workflow(
            templates=[{"name": "x", "steps": [[{"name": "s", "arguments": {
                                    "artifacts": [{"name": "a", "from": "{{steps.b.outputs.artifacts.c}}"}]}}]],
                    "outputs": {"artifacts": [{"name": "a", "path": "/a", "archive": {"none": {}}}]}}])),
)  # fmt: skip


def health(rule: str, **notes: str) -> tuple[Act, ...]:
    prefixed = {f"alb.ingress.kubernetes.io/{name.replace('_', '-')}": text for name, text in notes.items()}
    model = make.inference_service(maxReplicas=1)
    manifest = {**model, "metadata": {**model["metadata"], "annotations": prefixed}}
    return (Act(f"a model with {', '.join(notes.values())}", EDIT, manifest, rule),)


BALANCED: Final = (
    *health("ingress-scope", load_balancer_name="acts-models"),
    *health("ingress-scope", target_group_attributes="nothing.of.it=1"),
    *health("ingress-scope", target_group_attributes="deregistration_delay.timeout_seconds=3601"),
    *health("ingress-scope", healthcheck_port="65536"),
    *health("ingress-scope", healthcheck_interval_seconds="301"),
    *health("ingress-scope", healthcheck_interval_seconds="10", healthcheck_timeout_seconds="10"),
    *health("ingress-scope", healthcheck_timeout_seconds="15"),
    *health("ingress-scope", backend_protocol_version="GRPC", success_codes="200"),
    *health("ingress-scope", success_codes="12"),
    *health("ingress-scope", unhealthy_threshold_count="11"),
    *health("", healthcheck_interval_seconds="30", healthcheck_timeout_seconds="29", healthcheck_port="65535"),
    *health("", backend_protocol_version="GRPC", success_codes="0,12-14"),
    *health("", target_group_attributes="stickiness.enabled=true,stickiness.lb_cookie.duration_seconds=86400"),
    *health("", success_codes="200-299,404"),
    Act("an Ingress whose time limit is its interval", ADMIN, make.ingress(**{"healthcheck-interval-seconds": "5"}),
        "ingress-scope"),
)  # fmt: skip

PRIORITIZED: Final = (
    *(Act(f"a {manifest['kind']} whose patch {what}", EDIT, manifest, "node-selection")
      for what, manifest in (
          ("tolerates everything", make.train_job() | {"spec": {**make.train_job()["spec"], "runtimePatches": [
              {"manager": "a", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{
                  "name": "node", "template": {"spec": {"template": {"spec": {
                      "tolerations": [{"operator": "Exists"}]}}}}}]}}}}]}}),
          ("selects a node", make.train_job() | {"spec": {**make.train_job()["spec"], "runtimePatches": [
              {"manager": "a", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{
                  "name": "node", "template": {"spec": {"template": {"spec": {
                      "nodeSelector": {NODE: "a"}}}}}}]}}}}]}}))),
)  # fmt: skip


def retried(count: str, **more: Any) -> Object:
    """A workflow as Kubeflow Pipelines compiles `set_retry`: its limit is an input, which a task gives as a number."""
    limit = "{{inputs.parameters.count}}"
    passed = {"name": "executor", "template": "run", "arguments": {"parameters": [{"name": "count", "value": limit}]}}
    first = {"name": "a", "template": "once", "arguments": {"parameters": [{"name": "count", "value": count}]}}
    return {
        "entrypoint": "root",
        "templates": [
            {"name": "run", "inputs": {"parameters": [{"name": "count"}]}, "retryStrategy": {"limit": limit}},
            {
                "name": "once",
                "inputs": {"parameters": [{"name": "count", "default": "0"}]},
                "dag": {"tasks": [passed]},
            },
            {"name": "root", "dag": {"tasks": [first]}},
        ],
        **more,
    }


RESTARTED: Final = (
    Act("a workflow whose defaults retry forever", EDIT,
        make.workflow(templateDefaults={"retryStrategy": {"retryPolicy": "Always"}}), "job-bounds"),
    *(Act(f"a {kind} whose retries are {what}", EDIT, make.workflow(kind, **retried(**given)), rule)
      for kind, what, given, rule in (
          ("Workflow", "a parameter of 3", {"count": "3"}, ""),
          ("Workflow", "a parameter of a million", {"count": "1000000"}, "job-bounds"),
          ("Workflow", "a parameter by an expression", {"count": "{{=10000000}}"}, "job-bounds"),
          ("Workflow", "a parameter of the workflow", {"count": "{{workflow.parameters.count}}"}, "job-bounds"),
          ("Workflow", "a parameter of 3 with a hook that gives a million", {"count": "3", "hooks": {"exit": {
              "template": "run", "arguments": {"parameters": [{"name": "count", "value": "1000000"}]}}}}, "job-bounds"),
          ("Workflow", "a parameter of 3 and of a million for its first step", {"count": "3", "arguments": {
              "parameters": [{"name": "count", "value": "1000000"}]}}, "job-bounds"),
          ("Workflow", "a parameter of 3 and of a million by a step", {"count": "3", "templates": [
              *retried("3")["templates"], {"name": "other", "steps": [[{"name": "a", "template": "run", "arguments": {
                  "parameters": [{"name": "count", "value": "1000000"}]}}]]}]}, "job-bounds"),
          ("Workflow", "a parameter of 3 and of a ConfigMap", {"count": "3", "arguments": {"parameters": [
              {"name": "count", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}]}}, "job-bounds"),
          ("WorkflowTemplate", "a parameter", {"count": "3"}, "job-bounds"),
          ("CronWorkflow", "a parameter", {"count": "3"}, "job-bounds"))),
    Act("a workflow whose inline step retries forever", EDIT, make.workflow(templates=[{"name": "all", "steps": [[
            {"name": "a", "inline": {"retryStrategy": {}, "container": {"name": "main", "image": "a:1"}}}]]}]),
        "job-bounds"),
    Act("a runtime that restarts forever", EDIT, {"apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainingRuntime", "metadata": {"name": "it"}, "spec": {"template": {"spec": {
                        "failurePolicy": {"rules": [{"name": "a", "action": "RestartJobSetAndIgnoreMaxRestarts"}]},
                        "replicatedJobs": []}}}}, "job-bounds"),
    *(Act(f"a Job that {what}", EDIT, {**make.job(suspend=True), "spec": {**make.job(suspend=True)["spec"], **fields}},
        "job-bounds")
      for what, fields in (
          ("nobody runs", {"managedBy": "example.com/nobody"}),
          ("retries each index a million times", {"completionMode": "Indexed", "backoffLimitPerIndex": 1_000_000}),
          ("ignores every failure", {"podFailurePolicy": {"rules": [
              {"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [0]}}]}}))),
    Act("a Job that ignores lost nodes", EDIT, {**make.job(suspend=True), "spec": {**make.job(suspend=True)["spec"],
                "podFailurePolicy": {"rules": [
                        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}}}),
    *(Act(f"a {manifest['kind']} whose pods stop after months", EDIT, manifest, "job-bounds")
      for manifest in (
          make.job(make.spec(terminationGracePeriodSeconds=10_000_000), suspend=True),
          make.cron_job(make.spec(terminationGracePeriodSeconds=10_000_000)),
          make.pytorch_job(make.spec(terminationGracePeriodSeconds=10_000_000)))),
    Act("a Job whose pods stop within minutes", EDIT,
        make.job(make.spec(terminationGracePeriodSeconds=600), suspend=True)),
    Act("a TrainJob whose pods stop after months", EDIT, make.train_job() | {"spec": {**make.train_job()["spec"],
                "runtimePatches": [{"manager": "a", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{
                                            "name": "node", "template": {"spec": {"template": {"spec": {
                                                            "terminationGracePeriodSeconds": 10_000_000}}}}}]}}}}]}},
        "job-bounds"),
    Act("a JobSet that nobody runs", EDIT, make.job_set(managedBy="example.com/a"), "job-bounds"),
    Act("a JobSet that restarts jobs", EDIT, make.job_set(failurePolicy={"maxRestarts": 3,
                "rules": [{"name": "a", "action": "RestartJob"}, {"name": "b", "action": "FailJobSet"}]})),
)  # fmt: skip

ORDERED: Final = (
    Act(
        "annotations that are listed in order",
        ADMIN,
        make.ingress(
        **{"tags": "c=d", "subnets": "b", "security-groups": "a", "scheme": "internal"}),
        "remove alb.ingress.kubernetes.io/security-groups: a, alb.ingress.kubernetes.io/subnets: b, "
        "alb.ingress.kubernetes.io/tags: c=d. Of",
    ),
    Act(
        "keys that are listed in order",
        EDIT,
        {**make.job(), "metadata": {
        "name": "it", "labels": {QUEUE: "default", "kueue.x-k8s.io/managed": "true"}, "annotations": {
            "kueue.x-k8s.io/role-hash": "a", "kueue.x-k8s.io/is-group-workload": "b"}}},
        "annotations: kueue.x-k8s.io/is-group-workload=b, kueue.x-k8s.io/managed=true, "
        "kueue.x-k8s.io/role-hash=a. Remove",
    ),
)  # fmt: skip

LISTED: Final = (
    *ORDERED,
    *MONITORS, *NODES, *PLACED, *WORK, *DEVICES, *SIZES, *REACHES, *SHARED, *BALANCED, *PRIORITIZED, *RESTARTED,
)  # fmt: skip
