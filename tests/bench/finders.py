"""How the rows of `needs.yaml` find resources in a recorded program, where types and inputs alone don't say it."""

import ipaddress
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording
from spec.catalog import addons
from tests.support.cases import beside

DATA: Final = beside(__file__)
Found = list[RecordedResource]
ADDON: Final = "aws:eks/addon:Addon"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
BUILT_ON: Final[Mapping[str, str]] = {
    "kserve-resources": "cert-manager",
    "kubeflow-trainer": "jobset",
    "kueue": "kubeflow-trainer",
    "opencost": "kube-prometheus-stack",
}
"""Charts, and those whose pods theirs don't start without: KServe's pods mount the secret of a Certificate, which
cert-manager issues (KServe, "Kubernetes Deployment Installation Guide", v0.20: cert-manager is a prerequisite); Trainer
creates JobSets, and its manager opens a watch of their kind at the start (Kubeflow Trainer, "Installation", v2.3);
Kueue takes up TrainJobs once, and gives up without the CRDs of their runtimes (kueue v0.19.2, jobframework/setup.go);
OpenCost reads Prometheus (OpenCost, "Installation", prerequisites)."""
CRDS_APART: Final[Mapping[str, str]] = {
    "karpenter": "karpenter-crd",
    "kserve-resources": "kserve-crd",
    "kube-prometheus-stack": "kube-prometheus-stack",
}
"""Charts, and those that bring their CRDs: a controller ends where it finds none of its own, and Helm waits for it in
vain (Karpenter, "Upgrade Guide", CRD upgrades; KServe as above)."""
WEBHOOKS: Final[Mapping[str, str]] = {
    "kueue.x-k8s.io": "kueue",
    "serving.kserve.io": "kserve-resources",
    "trainer.kubeflow.org": "kubeflow-trainer",
}
"""API groups, and the chart with the webhook for their objects: until its pods run, `failurePolicy: Fail` refuses each
(kubernetes.io, "Dynamic Admission Control")."""
CRDS: Final[Mapping[str, str]] = DATA["charts by API group"]
"""Chart by API group, as found in the charts at the versions that are pinned (2026-11); those of Knative and of the
Gateway API by their own documentation: no copy of the two charts was at hand."""
BUILT_IN: Final = frozenset(
    {
        "", "apps", "autoscaling", "batch", "policy", "admissionregistration.k8s.io", "apiextensions.k8s.io",
        "apiregistration.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io",
        "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
    }
)  # fmt: skip
"""API groups of every API server (kubernetes.io, "Kubernetes API", 1.35)."""
DRIVERS: Final[Mapping[str, str]] = {
    "ebs.csi.aws.com": "aws-ebs-csi-driver",
    "efs.csi.aws.com": "aws-efs-csi-driver",
    "fsx.csi.aws.com": "aws-fsx-csi-driver",
    "s3.csi.aws.com": "aws-mountpoint-s3-csi-driver",
}
"""EKS add-on by the driver's name (EKS User Guide, 'Use application data storage for your cluster')."""
CLASS_KEYS: Final = ("storageClassName", "defaultStorageClass", "storageClass")
DEFINITION: Final = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
SUBNET: Final = "aws:ec2/subnet:Subnet"
INGRESS: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
RULES: Final = (INGRESS, "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule")
LINK: Final = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"


class Index:
    """The resources of one program, by type and by where their inputs come from."""

    def __init__(self, recording: Recording) -> None:
        self.recording: Final = recording
        self._by_type: dict[str, Found] = defaultdict(list)
        for resource in recording:
            self._by_type[resource.type].append(resource)

    def of_type(self, *tokens: str) -> Found:
        """Resources of these types."""
        return [resource for token in tokens for resource in self._by_type.get(token, ())]

    def behind(self, resource: RecordedResource, *properties: str) -> Found:
        """Resources whose outputs are in the values of these properties."""
        sources = resource.options.property_dependencies
        return [self.recording.resources[urn] for name in properties for urn in sources.get(name, ())]

    def on(self, sources: Iterable[RecordedResource], token: str, *properties: str) -> Found:
        """Resources of a type that have outputs of one of these in a property."""
        urns = {source.urn for source in sources}
        return [one for one in self.of_type(token) if urns & {each.urn for each in self.behind(one, *properties)}]

    def sharing(self, later: RecordedResource, token: str, mine: Iterable[str], *theirs: str) -> Found:
        """Resources of a type that have outputs of the same resource in a property as this one in one of its own."""
        return self.on(self.behind(later, *mine), token, *theirs)

    def policies_of(self, roles: Iterable[RecordedResource]) -> Found:
        """Inline and managed policies of these roles."""
        wanted = [role for role in roles if role.type == "aws:iam/role:Role"]
        policies = ("aws:iam/rolePolicy:RolePolicy", "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        return [policy for token in policies for policy in self.on(wanted, token, "role")]


def inputs(resource: RecordedResource) -> Mapping[str, Any]:
    """Inputs of a resource as plain values."""
    return resource.inputs.plain


def at(resource: RecordedResource, path: str) -> Any:
    """The value at a path of the inputs, such as `metadata.name`; `None` where there is none."""
    value: Any = inputs(resource)
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


# The network.


def way_out(index: Index, subnets: Iterable[RecordedResource]) -> Found:
    """What a machine in these subnets takes to the internet: the association of each with its route table, the routes
    of that table, and the same for the subnet of the NAT gateway that a route names."""
    ahead, found = list(subnets), dict[str, RecordedResource]()
    while ahead:
        for association in _associations(index, ahead.pop()):
            found[association.urn] = association
            for route in _routes(index, association):
                if route.urn not in found:
                    found[route.urn] = route
                    ahead += [
                        net for nat in index.behind(route, "natGatewayId") for net in index.behind(nat, "subnetId")
                    ]
    return list(found.values())


def _associations(index: Index, subnet: RecordedResource) -> Found:
    return index.on([subnet], "aws:ec2/routeTableAssociation:RouteTableAssociation", "subnetId")


def _routes(index: Index, association: RecordedResource) -> Found:
    return index.sharing(association, "aws:ec2/route:Route", ["routeTableId"], "routeTableId")


def _private_of(index: Index, zones: set[Any]) -> Found:
    """Subnets of these zones whose route table has no route to the internet gateway."""
    return [
        subnet
        for subnet in index.of_type(SUBNET)
        if inputs(subnet)["availabilityZone"] in zones
        and not any(
            index.behind(route, "gatewayId") for own in _associations(index, subnet) for route in _routes(index, own)
        )
    ]


def own_way_out(index: Index, gateway: RecordedResource) -> Found:
    return way_out(index, index.behind(gateway, "subnetId"))


def endpoints_without_nat(index: Index, _: RecordedResource) -> Found:
    """All VPC endpoints, where they are the only way out."""
    gateways = index.of_type("aws:ec2/natGateway:NatGateway")
    return [] if gateways else index.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")


def secondary_range(index: Index, subnet: RecordedResource) -> Found:
    """The secondary range of the VPC that a subnet lies in."""
    own = ipaddress.ip_network(inputs(subnet)["cidrBlock"])
    ranges = index.of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
    blocks = ((each, ipaddress.ip_network(inputs(each)["cidrBlock"])) for each in ranges)
    return [each for each, block in blocks if own.version == block.version and own.overlaps(block)]


# The control plane, its add-ons, and everything inside the cluster.


def addon(resource: RecordedResource) -> str:
    """Name of an EKS add-on; empty for anything else."""
    return str(inputs(resource).get("addonName", "")) if resource.type == ADDON else ""


def needs_nodes(resource: RecordedResource) -> bool:
    """Whether it is an add-on that becomes ACTIVE only on a node. One that the catalog does not have may be."""
    name = addon(resource)
    return bool(name) and (name not in addons.ADDONS or addons.get(name).needs_nodes)


def inside(resource: RecordedResource) -> bool:
    """Whether it is an object or a release in the cluster."""
    return resource.type.startswith("kubernetes:")


def system_groups(index: Index, _: RecordedResource) -> Found:
    """Node groups on which controllers run."""
    groups = index.of_type(NODE_GROUP)
    return [each for each in groups if (inputs(each).get("labels") or {}).get("platform.slipway/role") == "system"]


def administrators(index: Index, _: RecordedResource) -> Found:
    """Access policies of cluster administrators."""
    return [
        each
        for each in index.of_type("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
        if str(at(each, "policyArn")).endswith(":cluster-access-policy/AmazonEKSClusterAdminPolicy")
        and at(each, "accessScope.type") == "cluster"
    ]


def admitted(index: Index, _: RecordedResource) -> Found:
    """Rules of the cluster's own security group that admit networks by their range."""
    rules = index.on(index.of_type("aws:eks/cluster:Cluster"), INGRESS, "securityGroupId")
    return [each for each in rules if "cidrIpv4" in inputs(each)]


def policies_of_addon(index: Index, later: RecordedResource) -> Found:
    """Those without which its pods don't start well: permissions to use a key matter when a volume is created, see
    `_driver`."""
    found = index.policies_of(index.behind(later, "podIdentityAssociations"))
    return [policy for policy in found if not _is_about_keys(policy)]


def _is_about_keys(policy: RecordedResource) -> bool:
    text = inputs(policy).get("policy")
    actions = {action for each in json.loads(text)["Statement"] for action in each["Action"]} if text else {""}
    return all(action.startswith("kms:") for action in actions)


# Nodes: managed node groups, and what Karpenter launches.


def is_karpenter(resource: RecordedResource) -> bool:
    """Whether Karpenter acts on it: a NodePool, a class, an overlay."""
    return str(at(resource, "apiVersion")).startswith(("karpenter.sh/", "karpenter.k8s.aws/"))


def before_compute(index: Index, _: RecordedResource) -> Found:
    known = addons.ADDONS
    return [each for each in index.of_type(ADDON) if addon(each) in known and addons.get(addon(each)).before_compute]


def way_out_of_group(index: Index, group: RecordedResource) -> Found:
    """Of the zones of its subnets: with custom networking, pods are in other subnets of the same zone."""
    return _way_out_of_zones(index, index.behind(group, "subnetIds"))


def way_out_of_class(index: Index, node_class: RecordedResource) -> Found:
    """Of the zones of the subnets that it selects by their tags."""
    terms = [term["tags"] for term in at(node_class, "spec.subnetSelectorTerms")]
    chosen = [
        subnet
        for subnet in index.of_type(SUBNET)
        if any(term.items() <= inputs(subnet).get("tags", {}).items() for term in terms)
    ]
    return _way_out_of_zones(index, chosen)


def _way_out_of_zones(index: Index, subnets: Found) -> Found:
    return way_out(index, _private_of(index, {inputs(subnet)["availabilityZone"] for subnet in subnets}))


def _role_of_class(index: Index, node_class: RecordedResource) -> Found:
    profiles = [
        each for each in index.behind(node_class, "spec") if each.type == "aws:iam/instanceProfile:InstanceProfile"
    ]
    return [role for profile in profiles for role in index.behind(profile, "role")]


def policies_of_class(index: Index, node_class: RecordedResource) -> Found:
    return index.policies_of(_role_of_class(index, node_class))


def entry_of_class(index: Index, node_class: RecordedResource) -> Found:
    entries = index.on(_role_of_class(index, node_class), "aws:eks/accessEntry:AccessEntry", "principalArn")
    return [entry for entry in entries if inputs(entry).get("type") == "EC2_LINUX"]


def overlays_of_pool(index: Index, pool: RecordedResource) -> Found:
    """Overlays that name the pool."""
    return [
        each
        for each in index.of_type("kubernetes:karpenter.sh/v1alpha1:NodeOverlay")
        for term in at(each, "spec.requirements")
        if term["key"] == "karpenter.sh/nodepool" and at(pool, "metadata.name") in term["values"]
    ]


def controller(index: Index, _: RecordedResource) -> Found:
    return _of_charts(index, "karpenter")


# Helm releases and the objects of the cluster.


def is_crds_only(resource: RecordedResource) -> bool:
    """Whether a release has CRDs and no pods, by its own name or its chart's."""
    names = (chart_of(resource), str(inputs(resource).get("name", "")))
    return any(name.endswith(("-crd", "-crds")) for name in names)


def chart_of(release: RecordedResource) -> str:
    """Name of a release's chart."""
    return str(inputs(release).get("chart", "")).rpartition("/")[2]


def has_pods(resource: RecordedResource) -> bool:
    """Whether it is a release that Helm waits for pods of."""
    return resource.type == RELEASE and not is_crds_only(resource)


def is_built_on(resource: RecordedResource) -> bool:
    return has_pods(resource) and chart_of(resource) in BUILT_ON


def has_crds_apart(resource: RecordedResource) -> bool:
    return has_pods(resource) and chart_of(resource) in CRDS_APART


def has_webhook(resource: RecordedResource) -> bool:
    return is_custom(resource) and group_of(resource) in WEBHOOKS


def values_at(value: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """What is below one of these keys, at any depth; empty values are left out."""
    if isinstance(value, Mapping):
        yield from (inner for key, inner in value.items() if key in keys and inner)
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from values_at(inner, keys)


def has_monitors(resource: RecordedResource) -> bool:
    """Whether it is a release whose values ask for a ServiceMonitor; Kueue and LWS call that `enablePrometheus`."""
    values = inputs(resource).get("values") if resource.type == RELEASE else None
    asked = any(one.get("enabled") for one in values_at(values, ("serviceMonitor",)) if isinstance(one, Mapping))
    return asked or any(values_at(values, ("enablePrometheus",)))


def namespace_of(resource: RecordedResource) -> str | None:
    """The namespace that an object or a release is put into."""
    found = at(resource, "namespace" if resource.type == RELEASE else "metadata.namespace")
    return str(found) if found else None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _strings(inner)


def namespace(index: Index, later: RecordedResource) -> Found:
    name = namespace_of(later)
    return [
        each for each in index.of_type("kubernetes:core/v1:Namespace") if name and at(each, "metadata.name") == name
    ]


def identities(index: Index, release: RecordedResource) -> Found:
    """Of the accounts that its values name, or that its chart names after it."""
    name, named = str(inputs(release).get("name")), set(_strings(inputs(release).get("values")))
    return [
        each
        for each in index.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation")
        for account in [str(inputs(each)["serviceAccount"])]
        if inputs(each).get("namespace") == namespace_of(release)
        and (account == name or account.startswith(f"{name}-") or account in named)
    ]


def policies_of_pods(index: Index, release: RecordedResource) -> Found:
    return index.policies_of(role for each in identities(index, release) for role in index.behind(each, "roleArn"))


def mounted(index: Index, release: RecordedResource) -> Found:
    named, space = set(_strings(inputs(release).get("values"))), namespace_of(release)
    return [
        each
        for each in index.of_type("kubernetes:core/v1:ConfigMap", "kubernetes:core/v1:Secret")
        if namespace_of(each) == space and at(each, "metadata.name") in named
    ]


def _of_charts(index: Index, chart: str | None) -> Found:
    return [each for each in index.of_type(RELEASE) if chart_of(each) == chart]


def built_on(index: Index, release: RecordedResource) -> Found:
    return [each for each in _of_charts(index, BUILT_ON[chart_of(release)]) if has_pods(each)]


def own_crds(index: Index, release: RecordedResource) -> Found:
    return [each for each in _of_charts(index, CRDS_APART[chart_of(release)]) if is_crds_only(each)]


def monitor_crds(index: Index, _: RecordedResource) -> Found:
    return _bringing(index, "monitoring.coreos.com")


def answering(index: Index, later: RecordedResource) -> Found:
    return _of_charts(index, WEBHOOKS[group_of(later)])


def group_of(resource: RecordedResource) -> str:
    """API group of an object; empty for the core group and for a release."""
    return str(inputs(resource).get("apiVersion", "")).rpartition("/")[0]


def is_custom(resource: RecordedResource) -> bool:
    """Whether it is an object whose kind a CRD defines."""
    return resource.type.startswith("kubernetes:") and group_of(resource) not in BUILT_IN


def bringing(index: Index, resource: RecordedResource) -> Found:
    """The releases and CRDs that define the kind of a custom resource; none where nothing of the program does."""
    own = (group_of(resource), inputs(resource).get("kind"))
    definitions = index.of_type(DEFINITION)
    declared = [each for each in definitions if (at(each, "spec.group"), at(each, "spec.names.kind")) == own]
    return [*_bringing(index, group_of(resource)), *declared]


def _bringing(index: Index, group: str) -> Found:
    """A release that leaves its chart's CRDs alone (`skipCrds`) brings none."""
    return [each for each in _of_charts(index, CRDS.get(group)) if not inputs(each).get("skipCrds")]


# Volumes, and the buckets, file systems and databases that they are on.


def claims(resource: RecordedResource) -> list[str]:
    """Names of the storage classes whose volumes a claim, or the pods of a release, ask for."""
    key = {"kubernetes:core/v1:PersistentVolumeClaim": "spec", RELEASE: "values"}.get(resource.type, "")
    return [name for name in values_at(inputs(resource).get(key), CLASS_KEYS) if isinstance(name, str)]


def classes(index: Index, later: RecordedResource) -> Found:
    every = index.of_type("kubernetes:storage.k8s.io/v1:StorageClass")
    return [each for each in every if at(each, "metadata.name") in claims(later)]


def _driver(index: Index, name: Any) -> Found:
    """The add-on of a driver, and the policies of its role: with the key's, without which it can't do its work."""
    found = [each for each in index.of_type(ADDON) if addon(each) == DRIVERS.get(name)]
    return found + [
        policy for each in found for policy in index.policies_of(index.behind(each, "podIdentityAssociations"))
    ]


def drivers_of_classes(index: Index, later: RecordedResource) -> Found:
    return [each for found in classes(index, later) for each in _driver(index, inputs(found)["provisioner"])]


def driver_of_volume(index: Index, volume: RecordedResource) -> Found:
    return _driver(index, at(volume, "spec.csi.driver"))


def mount_targets(index: Index, volume: RecordedResource) -> Found:
    """Of the file system that it is on, with the rules that let nodes reach them."""
    targets = index.sharing(volume, "aws:efs/mountTarget:MountTarget", ["spec"], "fileSystemId")
    return targets + [rule for each in targets for rule in _rules(index, each, "securityGroups")]


def links_of_volume(index: Index, volume: RecordedResource) -> Found:
    """Links to buckets of the same Lustre file system, of the directory that the volume begins at."""
    path = f"/{str(at(volume, 'spec.csi.volumeAttributes.mountname') or '').partition('/')[2]}/"
    links = index.sharing(volume, LINK, ["spec"], "fileSystemId")
    return [each for each in links if path.startswith(f"{inputs(each)['fileSystemPath']}/")]


def imports_directories(resource: RecordedResource) -> bool:
    return resource.type == LINK and bool(inputs(resource).get("batchImportMetaDataOnCreate"))


def directories(index: Index, link: RecordedResource) -> Found:
    """Objects of the linked bucket that become directories."""
    objects = index.sharing(link, "aws:s3/bucketObjectv2:BucketObjectv2", ["dataRepositoryPath"], "bucket")
    return [each for each in objects if str(inputs(each)["key"]).endswith("/")]


def links_before(index: Index, link: RecordedResource) -> Found:
    """Links of the same file system whose path sorts before: any one order would do, and this is the project's."""
    links = index.sharing(link, LINK, ["fileSystemId"], "fileSystemId")
    return [each for each in links if inputs(each)["fileSystemPath"] < inputs(link)["fileSystemPath"]]


def _rules(index: Index, resource: RecordedResource, *properties: str) -> Found:
    """Rules of its security groups, and those of other groups that name one of them."""
    groups = index.behind(resource, *properties)
    named = ("securityGroupId", "referencedSecurityGroupId")
    return [rule for token in RULES for rule in index.on(groups, token, *named)]


def rules_of_lustre(index: Index, system: RecordedResource) -> Found:
    return _rules(index, system, "securityGroupIds")


def log_groups(index: Index, database: RecordedResource) -> Found:
    prefix = f"/aws/rds/instance/{inputs(database).get('identifier')}/"
    groups = index.of_type("aws:cloudwatch/logGroup:LogGroup")
    return [each for each in groups if str(inputs(each).get("name")).startswith(prefix)]
