package denorm

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/cosmosgrove/grove/tenantitem"
)

// position is where a Repair goes on.
type position struct {
	Stage      int    `json:"stage,omitempty"`
	EntityType string `json:"entityType"`
	ID         string `json:"id"`
	// Declarations is the fingerprint of what was kept then.
	Declarations string `json:"declarations"`
}

// positionIn is behind a document of a stage.
func (s *schema) positionIn(stage int, id string) position {
	return position{stage, s.stages[stage].typ.name(), id, s.fingerprint}
}

// resume sets where to go on. Where other declarations hold than then, that is the beginning:
// a new one holds for what was compared too.
func (w *walk) resume(text string) error {
	var at position
	if err := json.Unmarshal([]byte(text), &at); err != nil || at.EntityType == "" || at.Stage < 0 {
		return &tenantitem.InvalidError{What: "RepairOptions.Resume", Reason: "it is not one of ours", Hint: "pass what RepairProgress.Resume held, or nothing"}
	}
	s := w.schema
	if at.Declarations == s.fingerprint && at.Stage < len(s.stages) && at.EntityType == s.stages[at.Stage].typ.name() {
		w.from = at
	}
	return nil
}

// fingerprintOf tells what is kept, of what, in which stage of a Repair. The order of the
// declarations does not count.
func fingerprintOf(stages []stage) string {
	var kept []string
	for i, st := range stages {
		for _, c := range st.typ.claimed {
			kept = append(kept, fmt.Sprintln(i, st.typ.name(), c.field.Path))
		}
		for _, r := range st.rules {
			for _, text := range r.declared() {
				kept = append(kept, fmt.Sprintln(i, st.typ.name(), text))
			}
			for _, e := range r.follows() {
				from := ""
				if e.from.typ != nil {
					from = e.from.String()
				}
				kept = append(kept, fmt.Sprintln(i, e.to, from, e.value))
			}
		}
	}
	slices.Sort(kept)
	hash := fnv.New64a()
	for _, line := range kept {
		_, _ = hash.Write([]byte(line))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
