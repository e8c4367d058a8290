package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// version of the input that this engine reads.
const version = 1

// input is one replay: what is configured, what nodes may be launched, and which jobs are submitted when.
type input struct {
	Version int       `json:"version"`
	Start   time.Time `json:"start"`
	// Until ends the replay, in seconds after Start; running jobs are cut. Nil: until no job can change any more.
	Until *float64 `json:"until"`
	// MaxWallSeconds ends the replay after this much real time; zero: never.
	MaxWallSeconds float64 `json:"maxWallSeconds"`
	Kueue          struct {
		Configuration json.RawMessage   `json:"configuration"`
		Objects       []json.RawMessage `json:"objects"`
	} `json:"kueue"`
	Cluster struct {
		Objects []json.RawMessage `json:"objects"`
		// Scheduler is a KubeSchedulerConfiguration, whose first profile places the pods.
		Scheduler json.RawMessage `json:"scheduler"`
	} `json:"cluster"`
	Pools []*pool   `json:"pools"`
	Jobs  []jobSpec `json:"jobs"`
}

// jobSpec is a job as submitted. All of its pods start together, and run for Duration.
type jobSpec struct {
	Name          string `json:"name"`
	Namespace     string `json:"namespace"`
	Queue         string `json:"queue"`
	Team          string `json:"team"`
	Class         string `json:"class"`
	PriorityClass string `json:"priorityClass"`
	// Submitted is in seconds after the start of the replay; the others are durations in seconds.
	Submitted       float64  `json:"submitted"`
	Duration        float64  `json:"duration"`
	GracePeriod     float64  `json:"gracePeriod"`
	CheckpointEvery *float64 `json:"checkpointEvery"`
	PodSets         []podSet `json:"podSets"`
}

type podSet struct {
	Name            string              `json:"name"`
	Count           int32               `json:"count"`
	Requests        corev1.ResourceList `json:"requests"`
	NodeSelector    map[string]string   `json:"nodeSelector"`
	Affinity        *corev1.Affinity    `json:"affinity"`
	Tolerations     []corev1.Toleration `json:"tolerations"`
	TopologyRequest struct {
		Required  *string `json:"required"`
		Preferred *string `json:"preferred"`
	} `json:"topologyRequest"`
}

// read refuses an input that it does not understand to the last field.
func read(from io.Reader) (*input, error) {
	content, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	in := &input{}
	if err := decoder.Decode(in); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if in.Version != version {
		return nil, fmt.Errorf("input: version %d: this engine reads version %d", in.Version, version)
	}
	names := map[string]bool{}
	for i := range in.Jobs {
		j := &in.Jobs[i]
		at := fmt.Sprintf("input: jobs[%d]", i)
		switch {
		case j.Name == "" || names[j.Name]:
			return nil, fmt.Errorf("%s: name %q is empty or not unique", at, j.Name)
		case j.Submitted < 0 || j.Duration <= 0 || j.GracePeriod < 0:
			return nil, fmt.Errorf("%s (%s): submitted %g, duration %g, gracePeriod %g: a time is negative, or the duration not positive",
				at, j.Name, j.Submitted, j.Duration, j.GracePeriod)
		case j.CheckpointEvery != nil && *j.CheckpointEvery <= 0:
			return nil, fmt.Errorf("%s (%s): checkpointEvery %g: give a positive number of seconds, or null", at, j.Name, *j.CheckpointEvery)
		case len(j.PodSets) == 0:
			return nil, fmt.Errorf("%s (%s): it has no podSets", at, j.Name)
		}
		for _, set := range j.PodSets {
			if set.Count < 1 {
				return nil, fmt.Errorf("%s (%s): podSet %s has count %d", at, j.Name, set.Name, set.Count)
			}
		}
		names[j.Name] = true
	}
	return in, nil
}

// seconds is a duration of the input, rounded to microseconds.
func seconds(s float64) time.Duration {
	return time.Duration(s*1e6+0.5) * time.Microsecond
}
