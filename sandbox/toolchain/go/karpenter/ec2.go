package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/samber/lo"
	"k8s.io/utils/clock"

	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// unavailable is how long an offering without capacity is not asked for again (karpenter-provider-aws v1.14.1,
// pkg/cache/cache.go, UnavailableOfferingsTTL).
const unavailable = 3 * time.Minute

// Control is the file in which a user says what EC2 has no capacity for (sandbox/nodes/ec2.py).
type Control struct {
	Path string
}

// Refusal is a lack of capacity; an empty field matches everything.
type Refusal struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}

func (r Refusal) covers(kind string, offer Offer) bool {
	return lo.Contains([]string{"", kind}, r.InstanceType) &&
		lo.Contains([]string{"", offer.Zone}, r.Zone) && lo.Contains([]string{"", offer.CapacityType}, r.CapacityType)
}

// refusals are those of this moment; none where there is no file.
func (c Control) refusals() ([]Refusal, error) {
	text, err := os.ReadFile(c.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	document := struct {
		Refused []Refusal `json:"refused"`
	}{}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	return document.Refused, nil
}

// EC2 launches instances, which are nothing but their IDs: Karpenter records them in its NodeClaims.
type EC2 struct {
	catalogs *Catalogs
	control  Control
	clock    clock.Clock

	mutex      sync.Mutex
	missing    map[string]time.Time
	terminated map[string]bool
}

// NewEC2 is an EC2 with catalogs.
func NewEC2(catalogs *Catalogs, control Control, clock clock.Clock) *EC2 {
	return &EC2{catalogs: catalogs, control: control, clock: clock, missing: map[string]time.Time{}, terminated: map[string]bool{}}
}

// InstanceTypes are all types, with the settings of a node class; an offering that lately had no capacity is marked.
func (e *EC2) InstanceTypes(settings Settings) ([]*cloudprovider.InstanceType, error) {
	if settings.Region == "" {
		// Not an empty list: the controller of overlays would take the pool as evaluated, without the capacity of its
		// overlay, until the next change (karpenter v1.14.1, pkg/controllers/nodeoverlay/controller.go).
		return nil, errors.New("no subnets found")
	}
	types, err := e.catalogs.Region(settings.Region)
	if err != nil {
		return nil, err
	}
	return lo.Map(types, func(kind Type, _ int) *cloudprovider.InstanceType {
		return kind.instanceType(settings, func(offer Offer) bool { return !e.isMissing(kind.Name, offer) })
	}), nil
}

// Launch starts the lowest-priced offering that has capacity; EC2's Fleet also weighs how likely an interruption is.
func (e *EC2) Launch(claim *karpv1.NodeClaim, types []*cloudprovider.InstanceType) (*cloudprovider.InstanceType, *cloudprovider.Offering, string, error) {
	requirements := scheduling.NewNodeSelectorRequirementsWithMinValues(claim.Spec.Requirements...)
	candidates := candidates(types, requirements)
	if len(candidates) == 0 {
		return nil, nil, "", cloudprovider.NewInsufficientCapacityError(fmt.Errorf("all requested instance types were unavailable during launch"))
	}
	refused, err := e.control.refusals()
	if err != nil {
		return nil, nil, "", cloudprovider.NewCreateError(err, "CapacityFileInvalid", err.Error())
	}
	var failures error
	for _, one := range candidates {
		offer := Offer{Zone: one.offering.Zone(), CapacityType: one.offering.CapacityType()}
		if !lo.ContainsBy(refused, func(r Refusal) bool { return r.covers(one.kind.Name, offer) }) {
			return one.kind, one.offering, instanceID(claim), nil
		}
		e.MarkUnavailable(one.kind.Name, offer)
		failures = errors.Join(failures, shortage(one.kind.Name, offer))
	}
	return nil, nil, "", cloudprovider.NewInsufficientCapacityError(fmt.Errorf("with fleet error(s), %w", failures))
}

// MarkUnavailable notes that an offering has no capacity.
func (e *EC2) MarkUnavailable(kind string, offer Offer) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.missing[key(kind, offer)] = e.clock.Now().Add(unavailable)
}

func (e *EC2) isMissing(kind string, offer Offer) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.clock.Now().Before(e.missing[key(kind, offer)])
}

// Terminate ends an instance; false if it has ended before.
func (e *EC2) Terminate(providerID string) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	ended := e.terminated[providerID]
	e.terminated[providerID] = true
	return !ended
}

// Terminated says whether an instance has ended.
func (e *EC2) Terminated(providerID string) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.terminated[providerID]
}

type candidate struct {
	kind     *cloudprovider.InstanceType
	offering *cloudprovider.Offering
}

// candidates are the offerings that a claim allows, the lowest price first: of Spot if it allows that and Spot is
// available, else on demand, as Karpenter asks a Fleet for one capacity type.
func candidates(types []*cloudprovider.InstanceType, requirements scheduling.Requirements) []candidate {
	for _, capacity := range []string{karpv1.CapacityTypeSpot, karpv1.CapacityTypeOnDemand} {
		found := lo.FlatMap(types, func(kind *cloudprovider.InstanceType, _ int) []candidate {
			return lo.FilterMap(kind.Offerings.Available().Compatible(requirements), func(offering *cloudprovider.Offering, _ int) (candidate, bool) {
				return candidate{kind, offering}, offering.CapacityType() == capacity
			})
		})
		sort.Slice(found, func(a, b int) bool {
			return rank(found[a]) < rank(found[b])
		})
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// rank sorts by price; equal prices by type and zone, so that the same launch has the same result.
func rank(one candidate) string {
	return fmt.Sprintf("%012.6f %s %s", one.offering.Price, one.kind.Name, one.offering.Zone())
}

// instanceID is the same when a launch is repeated, as with EC2's client token.
func instanceID(claim *karpv1.NodeClaim) string {
	sum := sha256.Sum256([]byte(claim.UID))
	return "i-" + hex.EncodeToString(sum[:])[:17]
}

func key(kind string, offer Offer) string {
	return kind + " " + offer.Zone + " " + offer.CapacityType
}

// shortage has EC2's words (EC2 User Guide, "Troubleshoot instance launch issues"; "Spot request status").
func shortage(kind string, offer Offer) error {
	if offer.CapacityType == karpv1.CapacityTypeSpot {
		return fmt.Errorf("InsufficientInstanceCapacity: There is no Spot capacity available that matches your request (%s in %s)", kind, offer.Zone)
	}
	return fmt.Errorf("InsufficientInstanceCapacity: We currently do not have sufficient %s capacity in the Availability Zone you requested (%s)", kind, offer.Zone)
}
