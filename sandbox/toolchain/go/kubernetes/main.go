// Pulumi's Kubernetes provider, as its own main serves it, without the schema that its build embeds: an engine that
// reads none, as that of a Python program, needs none.
package main

import (
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

func main() {
	provider.Serve("kubernetes", version.Version, []byte("{}"), []byte("{}"))
}
