package epk

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Compare orders two effective partition keys as the service does: as strings, except that a longer key equals a
// shorter one when all it adds is zeros. It returns -1, 0 or +1.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	switch {
	case strings.Trim(a[n:], "0") != "":
		return 1
	case strings.Trim(b[n:], "0") != "":
		return -1
	default:
		return 0
	}
}

// LowerBound returns an inclusive lower bound in the form that a request may carry: the service refuses an empty one beside the id of a
// partition key range, and "00" is the same bound.
func LowerBound(minInclusive string) string {
	if minInclusive == Min {
		return "00"
	}
	return minInclusive
}

// SplitEvenly returns the n+1 bounds that cut the key space of a scheme into n equal ranges, from [Min] to [Max].
// An n below 1 counts as 1.
func SplitEvenly(s Scheme, n int) []string {
	n = max(n, 1)
	bounds := make([]string, 0, n+1)
	bounds = append(bounds, Min)
	for i := 1; i < n; i++ {
		bounds = append(bounds, boundAt(s, i, n))
	}
	return append(bounds, Max)
}

// boundAt is the i-th of n even cuts through the hashes of a scheme.
func boundAt(s Scheme, i, n int) string {
	if s == HashV1 {
		cut := float64(uint64(i) * (math.MaxUint32 + 1) / uint64(n))
		return strings.ToUpper(fmt.Sprintf("%x", appendSortableNumber(nil, cut)))
	}
	step := new(big.Int).Lsh(big.NewInt(1), 126)
	step.Quo(step, big.NewInt(int64(n)))
	return fmt.Sprintf("%0*X", hexDigits, step.Mul(step, big.NewInt(int64(i))))
}

// Middle returns a bound strictly between two bounds of a scheme, halving the hashes between them, and whether there is
// one. It is where a split cuts a range in two.
func Middle(s Scheme, minInclusive, maxExclusive string) (string, bool) {
	lo, hi := position(s, minInclusive), position(s, maxExclusive)
	mid := new(big.Int).Add(lo, hi)
	mid.Rsh(mid, 1)
	if mid.Cmp(lo) <= 0 {
		return "", false
	}
	if s == HashV1 {
		return strings.ToUpper(fmt.Sprintf("%x", appendSortableNumber(nil, float64(mid.Uint64())))), true
	}
	return fmt.Sprintf("%0*X", hexDigits, mid), true
}

// position is where a bound lies in the space of hashes of its scheme.
func position(s Scheme, bound string) *big.Int {
	space := uint(126)
	if s == HashV1 {
		space = 32
	}
	switch {
	case bound == Min:
		return new(big.Int)
	case bound == Max:
		return new(big.Int).Lsh(big.NewInt(1), space)
	case s == HashV1:
		return new(big.Int).SetUint64(uint64(parseSortableNumber(bound)))
	}
	digits := (bound + strings.Repeat("0", hexDigits))[:hexDigits]
	n, ok := new(big.Int).SetString(digits, 16)
	if !ok {
		return new(big.Int)
	}
	return n
}
