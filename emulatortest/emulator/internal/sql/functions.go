package sql

import "strings"

// Unlimited as [Function.MaxArgs] means that a function takes any number of arguments.
const Unlimited = -1

// Function describes a built-in function.
type Function struct {
	Name             string // the spelling of Microsoft's reference; it is what [Call.Name] holds
	MinArgs, MaxArgs int
	Aggregate        bool // folds over rows; allowed in SELECT only
}

// LookupFunction finds a built-in function by name, in any case. It knows every function that Microsoft's reference lists,
// whether or not an evaluator implements it. Implementations are in eval/function.go.
func LookupFunction(name string) (Function, bool) {
	upper := strings.ToUpper(name)
	if f, ok := aggregateFunction(upper); ok {
		return f, true
	}
	for _, family := range []func(string) (Function, bool){
		stringFunction, mathFunction, typeFunction, arrayFunction, dateFunction, spatialFunction, searchFunction,
	} {
		if f, ok := family(upper); ok {
			return f, true
		}
	}
	return Function{}, false
}

func exactly(name string, n int) (Function, bool) { return between(name, n, n) }

func between(name string, low, high int) (Function, bool) {
	return Function{Name: name, MinArgs: low, MaxArgs: high}, true
}

func aggregateFunction(upper string) (Function, bool) {
	switch upper {
	case "AVG", "COUNT", "COUNTIF", "MAKELIST", "MAKESET", "MAX", "MIN", "SUM":
		return Function{Name: upper, MinArgs: 1, MaxArgs: 1, Aggregate: true}, true
	}
	return Function{}, false
}

func stringFunction(upper string) (Function, bool) {
	switch upper {
	case "CONCAT":
		return between(upper, 2, Unlimited)
	case "CONTAINS", "ENDSWITH", "STARTSWITH", "STRINGEQUALS":
		return between(upper, 2, 3)
	case "CONTAINS_ALL_CI", "CONTAINS_ALL_CS", "CONTAINS_ANY_CI", "CONTAINS_ANY_CS":
		return between(upper, 2, Unlimited)
	case "INDEX_OF", "LASTINDEXOF", "REGEXMATCH":
		return between(upper, 2, 3)
	case "LEFT", "RIGHT", "REPLICATE":
		return exactly(upper, 2)
	case "LENGTH", "LOWER", "UPPER", "REVERSE":
		return exactly(upper, 1)
	case "LTRIM", "RTRIM", "TRIM":
		return between(upper, 1, 2)
	case "REPLACE", "SUBSTRING":
		return exactly(upper, 3)
	case "STRINGJOIN":
		return exactly("StringJoin", 2)
	case "STRINGSPLIT":
		return exactly("StringSplit", 2)
	case "STRINGTOARRAY":
		return exactly("StringToArray", 1)
	case "STRINGTOBOOLEAN":
		return exactly("StringToBoolean", 1)
	case "STRINGTONULL":
		return exactly("StringToNull", 1)
	case "STRINGTONUMBER":
		return exactly("StringToNumber", 1)
	case "STRINGTOOBJECT":
		return exactly("StringToObject", 1)
	case "TOSTRING":
		return exactly("ToString", 1)
	}
	return Function{}, false
}

func mathFunction(upper string) (Function, bool) {
	switch upper {
	case "ABS", "ACOS", "ASIN", "ATAN", "CEILING", "COS", "COT", "DEGREES", "EXP", "FLOOR", "LOG10", "RADIANS", "SIGN", "SIN", "SQRT",
		"SQUARE", "TAN", "TRUNC":
		return exactly(upper, 1)
	case "ATN2", "POWER":
		return exactly(upper, 2)
	case "LOG", "ROUND":
		return between(upper, 1, 2)
	case "PI", "RAND":
		return exactly(upper, 0)
	case "NUMBERBIN":
		return between("NumberBin", 1, 2)
	case "INTADD":
		return exactly("IntAdd", 2)
	case "INTBITAND":
		return exactly("IntBitAnd", 2)
	case "INTBITLEFTSHIFT":
		return exactly("IntBitLeftShift", 2)
	case "INTBITNOT":
		return exactly("IntBitNot", 1)
	case "INTBITOR":
		return exactly("IntBitOr", 2)
	case "INTBITRIGHTSHIFT":
		return exactly("IntBitRightShift", 2)
	case "INTBITXOR":
		return exactly("IntBitXor", 2)
	case "INTDIV":
		return exactly("IntDiv", 2)
	case "INTMOD":
		return exactly("IntMod", 2)
	case "INTMUL":
		return exactly("IntMul", 2)
	case "INTSUB":
		return exactly("IntSub", 2)
	}
	return Function{}, false
}

// typeFunction covers type checks, the conditional function and functions of the item itself.
func typeFunction(upper string) (Function, bool) {
	switch upper {
	case "IS_ARRAY", "IS_BOOL", "IS_DATETIME", "IS_DEFINED", "IS_FINITE_NUMBER", "IS_INTEGER", "IS_NULL", "IS_NUMBER", "IS_OBJECT",
		"IS_PRIMITIVE", "IS_STRING":
		return exactly(upper, 1)
	case "IIF":
		return exactly(upper, 3)
	case "DOCUMENTID":
		return exactly("DocumentId", 1)
	}
	return Function{}, false
}

func arrayFunction(upper string) (Function, bool) {
	switch upper {
	case "ARRAY_AVG", "ARRAY_LENGTH", "ARRAY_MAX", "ARRAY_MEDIAN", "ARRAY_MIN", "ARRAY_SUM":
		return exactly(upper, 1)
	case "ARRAY_CONCAT", "ARRAY_CONTAINS_ALL", "ARRAY_CONTAINS_ANY", "CHOOSE":
		return between(upper, 2, Unlimited)
	case "ARRAY_CONTAINS", "ARRAYCONTAINS":
		return between("ARRAY_CONTAINS", 2, 3)
	case "ARRAY_SLICE":
		return between(upper, 2, 3)
	case "OBJECTTOARRAY":
		return between("ObjectToArray", 1, 3)
	case "SETDIFFERENCE":
		return exactly("SetDifference", 2)
	case "SETEQUAL":
		return exactly("SetEqual", 2)
	case "SETINTERSECT":
		return exactly("SetIntersect", 2)
	case "SETUNION":
		return exactly("SetUnion", 2)
	}
	return Function{}, false
}

func dateFunction(upper string) (Function, bool) {
	switch upper {
	case "AGO":
		return exactly("Ago", 2)
	case "DATETIMEADD":
		return exactly("DateTimeAdd", 3)
	case "DATETIMEBIN":
		return between("DateTimeBin", 2, 4)
	case "DATETIMEDIFF":
		return exactly("DateTimeDiff", 3)
	case "DATETIMEFORMAT":
		return exactly("DateTimeFormat", 2)
	case "DATETIMEFROMPARTS":
		return between("DateTimeFromParts", 3, 7)
	case "DATETIMEPART":
		return exactly("DateTimePart", 2)
	case "DATETIMETOTICKS":
		return exactly("DateTimeToTicks", 1)
	case "DATETIMETOTIMESTAMP":
		return exactly("DateTimeToTimestamp", 1)
	case "DAY":
		return exactly("Day", 1)
	case "MONTH":
		return exactly("Month", 1)
	case "YEAR":
		return exactly("Year", 1)
	case "GETCURRENTDATETIME":
		return exactly("GetCurrentDateTime", 0)
	case "GETCURRENTDATETIMESTATIC":
		return exactly("GetCurrentDateTimeStatic", 0)
	case "GETCURRENTTICKS":
		return exactly("GetCurrentTicks", 0)
	case "GETCURRENTTICKSSTATIC":
		return exactly("GetCurrentTicksStatic", 0)
	case "GETCURRENTTIMESTAMP":
		return exactly("GetCurrentTimestamp", 0)
	case "GETCURRENTTIMESTAMPSTATIC":
		return exactly("GetCurrentTimestampStatic", 0)
	case "NOW":
		return exactly("Now", 0)
	case "TICKSTODATETIME":
		return exactly("TicksToDateTime", 1)
	case "TIMESTAMPTODATETIME":
		return exactly("TimestampToDateTime", 1)
	}
	return Function{}, false
}

func spatialFunction(upper string) (Function, bool) {
	switch upper {
	case "ST_AREA", "ST_ISVALID", "ST_ISVALIDDETAILED":
		return exactly(upper, 1)
	case "ST_DISTANCE", "ST_INTERSECTS", "ST_WITHIN":
		return exactly(upper, 2)
	}
	return Function{}, false
}

// searchFunction covers vector and full-text search.
func searchFunction(upper string) (Function, bool) {
	switch upper {
	case "VECTORDISTANCE":
		return between("VectorDistance", 2, 4)
	case "FULLTEXTCONTAINS":
		return exactly("FullTextContains", 2)
	case "FULLTEXTCONTAINSALL":
		return between("FullTextContainsAll", 2, Unlimited)
	case "FULLTEXTCONTAINSANY":
		return between("FullTextContainsAny", 2, Unlimited)
	case "FULLTEXTSCORE":
		return between("FullTextScore", 2, Unlimited)
	case "RRF":
		return between("RRF", 2, Unlimited)
	case "_VECTORSCORE":
		return between(PartialVectorScore, 2, 4)
	case "_FULLTEXTSCORE":
		return exactly(PartialFullTextScore, 5)
	case "_FULLTEXTWORDCOUNT":
		return exactly(FullTextWordCount, 1)
	}
	return Function{}, false
}
