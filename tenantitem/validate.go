package tenantitem

import (
	"fmt"
	"math"
	"reflect"
)

// Limits of the service that are checked before a request is sent.
// Source: Microsoft Learn, "Azure Cosmos DB service quotas".
const (
	// MaxIDBytes is the longest id of a document.
	MaxIDBytes = 1023
	// MaxKeyBytes is the longest value of a partition key, all levels together.
	MaxKeyBytes = 2048
	// MaxKeyLevels is the largest number of levels of a hierarchical key.
	MaxKeyLevels = 3
	// MaxDocumentBytes is the largest document, as UTF-8 JSON.
	MaxDocumentBytes = 2 << 20
)

// ValidateKeyValue checks one level of a partition key. It accepts strings,
// booleans, finite numbers, integers within ±(2^53 − 1), and types made from
// them. A string may not be
// empty, over-long, end in a space, or hold control characters or characters
// outside Unicode's basic plane: azcosmos writes those into the partition key
// header in a form that is not JSON.
func ValidateKeyValue(path string, v any) error {
	what := "partition key value " + path
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.String:
		const hint = "set the field, or name the value in In(...)"
		if err := checkText(what, rv.String(), MaxKeyBytes, hint); err != nil {
			return err
		}
		return checkBasicPlane(what, rv.String())
	case reflect.Float32, reflect.Float64:
		if f := rv.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return &InvalidError{What: what, Reason: "not a finite number", Hint: "use a finite number"}
		}
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if rv.Int() > maxInteger || rv.Int() < -maxInteger {
			return tooLarge(what)
		}
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if rv.Uint() > maxInteger {
			return tooLarge(what)
		}
		return nil
	case reflect.Bool:
		return nil
	default:
		return &InvalidError{What: what, Reason: fmt.Sprintf("a %T can't be a key", v), Hint: "use a string, a number or a boolean"}
	}
}

// maxInteger is the largest integer that the service tells from its neighbours: it keeps doubles.
const maxInteger = 1<<53 - 1

func tooLarge(what string) error {
	return &InvalidError{What: what, Reason: "an integer lies beyond 2^53, where two numbers are one partition", Hint: "store it as text"}
}
