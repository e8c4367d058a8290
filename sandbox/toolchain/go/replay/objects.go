package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Written by generate.go from the CRDs of Kueue's module.
//
//go:embed defaults.json
var crdDefaults []byte

// schemas are the parts of Kueue's CRDs that have defaults, by kind. No API server is here to fill them in.
var schemas = sync.OnceValue(func() map[string]*structural.Structural {
	var written map[string]*apiextensionsv1.JSONSchemaProps
	must(json.Unmarshal(crdDefaults, &written))
	found := map[string]*structural.Structural{}
	for kind, props := range written {
		if props == nil {
			continue
		}
		internal := &apiextensions.JSONSchemaProps{}
		must(apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props, internal, nil))
		schema, err := structural.NewStructural(internal)
		must(err)
		found[kind] = schema
	}
	return found
})

// newScheme knows the kinds that are read: Kueue's, its configuration, and Kubernetes' own.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(kueue.AddToScheme(scheme))
	must(config.AddToScheme(scheme))
	scheme.AddKnownTypes(schema.GroupVersion{Group: "karpenter.sh", Version: "v1"}, &karpv1.NodePool{})
	return scheme
}

// withDefaults fills an object in as the API server does, with upstream's own code.
func withDefaults(kind string, object map[string]any) {
	if schema, ok := schemas()[kind]; ok {
		defaulting.Default(object, schema)
	}
}

// decode reads a rendered object, with the defaults of its CRD.
func decode(decoder runtime.Decoder, raw json.RawMessage) (client.Object, error) {
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, err
	}
	kind, _ := content["kind"].(string)
	withDefaults(kind, content)
	filled, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	decoded, _, err := decoder.Decode(filled, nil, nil)
	if err != nil {
		return nil, err
	}
	o, ok := decoded.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no object of a cluster", kind)
	}
	return o, nil
}

// configuration reads Kueue's configuration as its manager does: strict, and with upstream's defaults.
func configuration(scheme *runtime.Scheme, raw json.RawMessage) (*config.Configuration, error) {
	found := &config.Configuration{}
	if text := string(raw); text == "" || text == "null" || text == "{}" {
		scheme.Default(found)
		return found, nil
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	if err := runtime.DecodeInto(codecs.UniversalDecoder(), raw, found); err != nil {
		return nil, fmt.Errorf("input: kueue.configuration: %w", err)
	}
	return found, nil
}

// platform is what the rendered stack has: the objects by kind, in the order in which they came.
type platform struct {
	flavors        []*kueue.ResourceFlavor
	topologies     []*kueue.Topology
	cohorts        []*kueue.Cohort
	clusterQueues  []*kueue.ClusterQueue
	localQueues    []*kueue.LocalQueue
	checks         []*kueue.AdmissionCheck
	workloadLevels []*kueue.WorkloadPriorityClass
	podLevels      []*schedulingv1.PriorityClass
	namespaces     []*corev1.Namespace
	nodePools      map[string]*karpv1.NodePool
}

func readPlatform(scheme *runtime.Scheme, in *input) (*platform, error) {
	p := &platform{nodePools: map[string]*karpv1.NodePool{}}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, part := range []struct {
		name    string
		objects []json.RawMessage
	}{{"kueue", in.Kueue.Objects}, {"cluster", in.Cluster.Objects}} {
		for i, raw := range part.objects {
			o, err := decode(decoder, raw)
			if runtime.IsNotRegisteredError(err) && part.name == "cluster" {
				continue // a kind that nothing here reads, as an EC2NodeClass
			}
			if err != nil {
				return nil, fmt.Errorf("input: %s.objects[%d]: %w", part.name, i, err)
			}
			switch o := o.(type) {
			case *kueue.ResourceFlavor:
				p.flavors = append(p.flavors, o)
			case *kueue.Topology:
				p.topologies = append(p.topologies, o)
			case *kueue.Cohort:
				p.cohorts = append(p.cohorts, o)
			case *kueue.ClusterQueue:
				p.clusterQueues = append(p.clusterQueues, o)
			case *kueue.LocalQueue:
				p.localQueues = append(p.localQueues, o)
			case *kueue.AdmissionCheck:
				p.checks = append(p.checks, o)
			case *kueue.WorkloadPriorityClass:
				p.workloadLevels = append(p.workloadLevels, o)
			case *schedulingv1.PriorityClass:
				p.podLevels = append(p.podLevels, o)
			case *corev1.Namespace:
				p.namespaces = append(p.namespaces, o)
			case *karpv1.NodePool:
				p.nodePools[o.Name] = o
			default:
				if part.name == "kueue" {
					return nil, fmt.Errorf("input: kueue.objects[%d]: the engine reads no %T", i, o)
				}
			}
		}
	}
	return p, nil
}
