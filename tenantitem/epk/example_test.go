package epk_test

import (
	"fmt"

	"github.com/cosmosgrove/grove/tenantitem/epk"
)

// Every key of a tenant lies between two bounds, since the levels of a
// hierarchical key are hashed one by one.
func Example() {
	key := epk.Hash(epk.MultiHash, epk.String("acme"), epk.String("Note"))
	first, end := epk.PrefixRange(epk.MultiHash, epk.String("acme"))
	fmt.Println(epk.Compare(first, key) <= 0, epk.Compare(key, end) < 0)
	// Output: true true
}

// The scheme follows from the kind and the version of the container's key.
func ExampleHash() {
	for _, scheme := range []epk.Scheme{epk.HashV1, epk.HashV2, epk.MultiHash} {
		fmt.Println(epk.Hash(scheme, epk.String("acme")))
	}
	// Output:
	// 05C1E34BC1EBB00862646E6600
	// 07EF3A153CC1F5F24E265206D86474BD
	// 07EF3A153CC1F5F24E265206D86474BD
}

// Keys are compared as texts, but for zeros at the end.
func ExampleCompare() {
	fmt.Println(epk.Compare("05C1", "05C1E0"), epk.Compare("05C1", "05C100"), epk.Compare("", "FF"))
	// Output: -1 0 -1
}

// Which of a container's physical partitions holds a document.
func ExampleSplitEvenly() {
	bounds := epk.SplitEvenly(epk.HashV2, 4)
	key := epk.Hash(epk.HashV2, epk.String("acme"))
	for i := range len(bounds) - 1 {
		if epk.Compare(bounds[i], key) <= 0 && epk.Compare(key, bounds[i+1]) < 0 {
			fmt.Println("partition", i, "of", len(bounds)-1)
		}
	}
	// Output: partition 0 of 4
}

// A physical partition that grows is divided in the middle of its range.
func ExampleMiddle() {
	middle, ok := epk.Middle(epk.HashV2, epk.Min, epk.Max)
	fmt.Println(middle, ok)
	// Output: 20000000000000000000000000000000 true
}

// A request for a range can't carry an empty lower bound.
func ExampleLowerBound() {
	fmt.Printf("%q %q\n", epk.LowerBound(epk.Min), epk.LowerBound("05C1"))
	// Output: "00" "05C1"
}

// A missing field, a null, and each type of value have keys of their own.
func ExampleComponent() {
	for _, c := range []epk.Component{epk.Undefined(), epk.Null(), epk.Bool(true), epk.Number(7), epk.String("7")} {
		text, isText := c.AsString()
		number, isNumber := c.AsNumber()
		_, isBool := c.AsBool()
		switch {
		case c.IsUndefined():
			fmt.Println("no field")
		case c.IsNull():
			fmt.Println("null")
		case isBool:
			fmt.Println("a boolean")
		case isNumber:
			fmt.Println("the number", number)
		case isText:
			fmt.Println("the text", text)
		}
	}
	// Output:
	// no field
	// null
	// a boolean
	// the number 7
	// the text 7
}

// Documents are grouped by their logical partition.
func ExampleComponent_AppendCanonical() {
	groups := map[string]int{}
	for _, city := range []string{"Berlin", "Paris", "Berlin"} {
		key := epk.String("acme").AppendCanonical(nil)
		key = epk.String(city).AppendCanonical(key)
		groups[string(key)]++
	}
	fmt.Println(len(groups), "logical partitions")
	// Output: 2 logical partitions
}
