package layout

import (
	"encoding/json"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Patch returns canonical patch operations as they are sent, their condition
// included. The SDK pastes the condition into JSON as it is, so it is written
// escaped.
func (l *Layout) Patch(ops azcosmos.PatchOperations) (azcosmos.PatchOperations, error) {
	if l == nil {
		return ops, nil
	}
	raw, err := ops.MarshalJSON()
	if err != nil {
		return ops, err
	}
	var body struct {
		Condition  string `json:"condition"`
		Operations []struct {
			Op    string          `json:"op"`
			Path  string          `json:"path"`
			Value json.RawMessage `json:"value"`
		} `json:"operations"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return ops, err
	}
	var out azcosmos.PatchOperations
	for _, op := range body.Operations {
		path, kept := l.Pointer(op.Path)
		if !kept {
			continue
		}
		switch op.Op {
		case "set":
			out.AppendSet(path, op.Value)
		case "add":
			out.AppendAdd(path, op.Value)
		case "replace":
			out.AppendReplace(path, op.Value)
		case "remove":
			out.AppendRemove(path)
		case "incr":
			var by int64
			if err := json.Unmarshal(op.Value, &by); err != nil {
				return ops, err
			}
			out.AppendIncrement(path, by)
		}
	}
	if body.Condition != "" {
		quoted, _ := json.Marshal(l.SQL(body.Condition)) //nolint:errchkjson // a string always encodes
		out.SetCondition(strings.TrimSuffix(strings.TrimPrefix(string(quoted), `"`), `"`))
	}
	return out, nil
}
