package engine

import (
	"fmt"
	"strings"
)

// KeyText is a key's values as one comparable text: no two keys have the same,
// whatever another writer has put into them.
func KeyText(values []any) string {
	var b strings.Builder
	for _, v := range values {
		if text, ok := v.(string); ok {
			b.WriteString("string:")
			b.WriteString(strings.ReplaceAll(text, "\x00", "\x00\x01"))
		} else {
			fmt.Fprintf(&b, "%T:%v", v, v)
		}
		b.WriteByte(0)
	}
	return b.String()
}
