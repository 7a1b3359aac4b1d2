package codec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"
)

// CheckType looks for what can't be stored, or would not be stored as its
// author expects, in a type and all that it holds. It is called at start-up;
// the error names the field.
func CheckType(t reflect.Type) error {
	c := checker{seen: map[reflect.Type]bool{}}
	return c.check(t, t.String())
}

type checker struct{ seen map[reflect.Type]bool }

func (c *checker) check(t reflect.Type, where string) error {
	if c.seen[t] || t != timeType && t.Kind() != reflect.Interface && hasMethods(t) || t == timeType {
		return nil
	}
	c.seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return c.check(t.Elem(), where)
	case reflect.Map:
		if !isKeyType(t.Key()) {
			return &ValueError{Path: where, Reason: "a map's key of type " + t.Key().String() + " is neither text nor an integer"}
		}
		return c.check(t.Elem(), where)
	case reflect.Struct:
		return c.checkStruct(t)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return &ValueError{Path: where, Reason: "a " + t.String() + " can't be written as JSON", Hint: `leave it out with json:"-"`}
	}
	return nil
}

func isKeyType(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return hasMethods(t)
}

func (c *checker) checkStruct(t reflect.Type) error {
	for i := range t.NumField() {
		sf := t.Field(i)
		where := t.String() + "." + sf.Name
		if err := checkTag(sf, where); err != nil {
			return err
		}
		name, _, stored := nameOf(sf)
		if !stored || !sf.IsExported() && (name != "" || dereference(sf.Type).Kind() != reflect.Struct) {
			continue
		}
		if err := c.check(sf.Type, where); err != nil {
			return err
		}
	}
	// The library's own view of the struct.
	err := jsonv2.Unmarshal([]byte("{}"), reflect.New(t).Interface(), options)
	var semantic *jsonv2.SemanticError
	if errors.As(err, &semantic) && semantic.Err != nil {
		return &ValueError{Path: t.String(), Reason: semantic.Err.Error()}
	}
	return nil
}

// checkTag refuses the tag options that encoding/json does not have, or that
// it would ignore.
func checkTag(sf reflect.StructField, where string) error {
	tag, tagged := sf.Tag.Lookup("json")
	if !tagged || tag == "-" {
		return nil
	}
	refuse := func(reason, hint string) error { return &ValueError{Path: where, Reason: reason, Hint: hint} }
	if !sf.IsExported() && !sf.Anonymous {
		return refuse("a json tag stands on a field that is not exported", "export the field, or take the tag away")
	}
	name, rest, _ := strings.Cut(tag, ",")
	if !isName(name) {
		return refuse("the json tag's name holds characters that encoding/json does not take", "use letters, digits and - _ .")
	}
	if rest == "" {
		return nil
	}
	for option := range strings.SplitSeq(rest, ",") {
		word, _, _ := strings.Cut(option, ":")
		switch word {
		case "omitempty", "omitzero":
		case "string":
			if !isQuotable(sf.Type) {
				return refuse(fmt.Sprintf(`the json tag's option "string" does nothing on a %s`, sf.Type), "make the elements of a type that is stored as text")
			}
		case "unknown", "inline", "embed":
			return refuse(fmt.Sprintf("the json tag's option %q is not served", word), "members that the struct does not know are kept without it; to embed a struct leave the tag out")
		default:
			return refuse(fmt.Sprintf("the json tag's option %q is not one of encoding/json", word), "use omitempty, omitzero or string")
		}
	}
	return nil
}

// isName is the rule of encoding/json for names in tags.
func isName(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}
