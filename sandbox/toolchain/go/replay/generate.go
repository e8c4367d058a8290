//go:build ignore

// Writes defaults.json: the defaults of Kueue's CRDs, taken from the CRDs of the module that go.mod pins.
// Run it with `go run generate.go` after a change of Kueue's version.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// Kinds that the engine reads or creates.
var plurals = []string{"admissionchecks", "clusterqueues", "cohorts", "localqueues", "resourceflavors", "topologies",
	"workloadpriorityclasses", "workloads"}

// pruned keeps the defaults of a schema, and what is needed to reach them; nil where there are none.
func pruned(s *apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
	kept := &apiextensions.JSONSchemaProps{Type: s.Type, Default: s.Default, XIntOrString: s.XIntOrString, Nullable: s.Nullable}
	found := s.Default != nil
	for name, property := range s.Properties {
		if below := pruned(&property); below != nil {
			if kept.Properties == nil {
				kept.Properties = map[string]apiextensions.JSONSchemaProps{}
			}
			kept.Properties[name], found = *below, true
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		if below := pruned(s.Items.Schema); below != nil {
			kept.Items, found = &apiextensions.JSONSchemaPropsOrArray{Schema: below}, true
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		if below := pruned(s.AdditionalProperties.Schema); below != nil {
			kept.AdditionalProperties, found = &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: below}, true
		}
	}
	if !found {
		return nil
	}
	return kept
}

func main() {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		log.Fatal(err)
	}
	schemas := map[string]*apiextensions.JSONSchemaProps{}
	for _, plural := range plurals {
		path := filepath.Join(strings.TrimSpace(string(folder)), "config/components/crd/bases", "kueue.x-k8s.io_"+plural+".yaml")
		content, err := os.ReadFile(path)
		if err != nil {
			log.Fatal(err)
		}
		var crd apiextensions.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &crd); err != nil {
			log.Fatalf("%s: %v", path, err)
		}
		for _, version := range crd.Spec.Versions {
			if version.Storage {
				schemas[crd.Spec.Names.Kind] = pruned(version.Schema.OpenAPIV3Schema)
			}
		}
	}
	content, err := json.MarshalIndent(schemas, "", " ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("defaults.json", append(content, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}
