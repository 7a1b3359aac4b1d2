package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// scalarTypes are the types that generated structs are made of.
func scalarTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint64](), reflect.TypeFor[float64](), reflect.TypeFor[float32](), reflect.TypeFor[time.Duration](),
		reflect.TypeFor[time.Time](), reflect.TypeFor[json.Number](), reflect.TypeFor[[]byte](), reflect.TypeFor[[2]uint8](), reflect.TypeFor[any](),
		reflect.TypeFor[reflect.Kind](), reflect.TypeFor[time.Month](), reflect.TypeFor[json.RawMessage](),
	}
}

func drawType(t *rapid.T, depth int) reflect.Type {
	scalars := scalarTypes()
	if depth == 0 {
		return rapid.SampledFrom(scalars).Draw(t, "type")
	}
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return reflect.SliceOf(drawType(t, depth-1))
	case 1:
		return reflect.MapOf(rapid.SampledFrom([]reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[time.Time]()}).Draw(t, "key"), drawType(t, depth-1))
	case 2:
		return reflect.PointerTo(drawType(t, depth-1))
	case 3:
		return reflect.ArrayOf(2, drawType(t, depth-1))
	case 4, 5:
		return drawStruct(t, depth-1)
	}
	return rapid.SampledFrom(scalars).Draw(t, "type")
}

func drawStruct(t *rapid.T, depth int) reflect.Type {
	n := rapid.IntRange(1, 6).Draw(t, "fields")
	fields := make([]reflect.StructField, n)
	for i := range fields {
		ft := drawType(t, depth)
		options := []string{"", "", ",omitempty", ",omitzero"}
		if isQuotable(ft) {
			options = append(options, ",string", ",omitempty,string")
		}
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: ft,
			Tag: reflect.StructTag(fmt.Sprintf(`json:"f%d%s"`, i, rapid.SampledFrom(options).Draw(t, "options"))),
		}
	}
	return reflect.StructOf(fields)
}

func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		at := time.Unix(rapid.Int64Range(-1<<33, 1<<37).Draw(t, "seconds"), 100*rapid.Int64Range(0, 9_999_999).Draw(t, "ticks")).UTC()
		v.Set(reflect.ValueOf(at))
		return
	case reflect.TypeFor[json.Number]():
		v.SetString(rapid.SampledFrom([]string{"", "0", "-1", "1.5", "9007199254740991", "1e300", "0.000001"}).Draw(t, "number"))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(rapid.SampledFrom([]string{"null", "1", `"x"`, `{"a":[1,2]}`}).Draw(t, "raw")))
		return
	case reflect.TypeFor[any]():
		content := rapid.SampledFrom([]any{nil, 1.5, "text", true, []any{"a", nil}, map[string]any{"k": 2.0}}).Draw(t, "any")
		if content != nil {
			v.Set(reflect.ValueOf(content))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.StringOfN(rapid.RuneFrom([]rune("aZ0<&>\"\\/\n\u2028é鱀😀 ")), 0, 8, -1).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, 1, -1.5, 1e-7, 1e20, 1e21, 123456.789, math.MaxFloat32, 9007199254740994}).Draw(t, "float"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), depth)
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i), depth)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), depth)
		}
	case reflect.Map:
		if n := rapid.IntRange(-1, 2).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(t, key, depth)
				fill(t, value, depth)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), depth)
		}
	default:
		bits := min(v.Type().Bits(), 53)
		if v.CanInt() {
			limit := int64(1)<<(bits-1) - 1
			if bits == 53 {
				limit = MaxInteger
			}
			v.SetInt(rapid.Int64Range(-limit, limit).Draw(t, "int"))
		} else {
			v.SetUint(rapid.Uint64Range(0, 1<<bits-1).Draw(t, "uint"))
		}
	}
}

// Whatever encoding/json stores and reads of a type, is stored and read here,
// and each reads what the other wrote.
func TestSameAsEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		typ := drawStruct(t, 2)
		value := reflect.New(typ)
		fill(t, value.Elem(), 2)
		theirs, err := json.Marshal(value.Interface())
		if err != nil {
			t.Skip("encoding/json refuses", err)
		}
		ours, err := Encode(value.Interface())
		if err != nil {
			t.Fatalf("%s\n%s: %v", typ, theirs, err)
		}
		want := reflect.New(typ)
		if err := json.Unmarshal(theirs, want.Interface()); err != nil {
			t.Skip("encoding/json does not read what it wrote", err)
		}
		for name, text := range map[string][]byte{"theirs": theirs, "ours": ours} {
			byThem, byUs, fast := reflect.New(typ), reflect.New(typ), reflect.New(typ)
			if err := json.Unmarshal(text, byThem.Interface()); err != nil {
				t.Fatalf("encoding/json, %s %s of %s: %v", name, text, typ, err)
			}
			if err := Decode(text, byUs.Interface()); err != nil {
				t.Fatalf("Decode, %s %s of %s: %v", name, text, typ, err)
			}
			if _, err := NewReader(nil).Document(text, fast.Interface()); err != nil {
				t.Fatalf("Document, %s %s of %s: %v", name, text, typ, err)
			}
			for who, got := range map[string]reflect.Value{"encoding/json": byThem, "Decode": byUs, "Document": fast} {
				if !reflect.DeepEqual(got.Interface(), want.Interface()) && string(theirs) == string(ours) {
					t.Fatalf("%s reads %s %s\nof %s\nas %+v\nnot %+v", who, name, text, typ, got.Elem(), want.Elem())
				}
			}
		}
	})
}

// drawJSON draws any value, many of which fit no field.
func drawJSON(t *rapid.T, depth int) string {
	scalars := []string{
		"null", "true", "false", "0", "-0", "1", "-1", "12", "300", "1.0", "1e2", "1.5", "9007199254740991", "18446744073709551615", "1e400", "1E+2", "0.1",
		`""`, `"a"`, `"é"`, `"12"`, `"true"`, `" 1"`, `"1e2"`, `"a\u00e9\n\ud83d\ude00"`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00.5+05:00"`, `"2026-13-01T00:00:00Z"`, `"AAEC"`,
	}
	if depth > 0 {
		switch rapid.IntRange(0, 5).Draw(t, "json form") {
		case 0:
			return "[" + drawJSON(t, depth-1) + " , " + drawJSON(t, depth-1) + "]"
		case 1:
			return drawObject(t, depth-1)
		case 2:
			return rapid.SampledFrom([]string{"[]", "{}", "[ ]", "{ }", "[1]", `["a"]`, `["a",null]`, `{"a":"b"}`}).Draw(t, "small")
		}
	}
	return rapid.SampledFrom(scalars).Draw(t, "scalar")
}

func drawObject(t *rapid.T, depth int) string {
	out := "{"
	for i := range rapid.IntRange(0, 5).Draw(t, "members") {
		if i > 0 {
			out += ","
		}
		out += strconv.Quote(fmt.Sprintf("f%d", i)) + ": " + drawJSON(t, depth)
	}
	return out + "}"
}

// Whatever another writer stored, it is read as encoding/json reads it, or
// refused as there.
func TestReadsWhatEncodingJSONReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		typ := drawStruct(t, 2)
		text := []byte(drawObject(t, 3))
		want, slow, fast := reflect.New(typ), reflect.New(typ), reflect.New(typ)
		wantErr := json.Unmarshal(text, want.Interface())
		slowErr := Decode(text, slow.Interface())
		_, fastErr := NewReader(nil).Document(text, fast.Interface())
		if (wantErr == nil) != (slowErr == nil) || (wantErr == nil) != (fastErr == nil) {
			t.Fatalf("%s into %s:\nencoding/json %v\nDecode %v\nDocument %v", text, typ, wantErr, slowErr, fastErr)
		}
		if wantErr != nil {
			return
		}
		if !reflect.DeepEqual(slow.Interface(), want.Interface()) || !reflect.DeepEqual(fast.Interface(), want.Interface()) {
			t.Fatalf("%s into %s:\nencoding/json %+v\nDecode %+v\nDocument %+v", text, typ, want.Elem(), slow.Elem(), fast.Elem())
		}
	})
}

// A document that is cut off, or changed in one place, is read as the library
// reads it.
func TestPlanAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		typ := drawStruct(t, 2)
		text := []byte(drawObject(t, 3))
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "cut") {
			text = text[:at]
		} else {
			text[at] = rapid.SampledFrom([]byte("{}[]\":,\\ 01-.eEntf\x00\x80\xff")).Draw(t, "byte")
		}
		want, got := reflect.New(typ), reflect.New(typ)
		wantErr := Decode(text, want.Interface())
		_, err := NewReader(nil).Document(text, got.Interface())
		if (wantErr == nil) != (err == nil) || err == nil && !reflect.DeepEqual(want.Interface(), got.Interface()) {
			t.Fatalf("%q into %s:\nDecode %+v %v\nDocument %+v %v", text, typ, want.Elem(), wantErr, got.Elem(), err)
		}
	})
}
