package store

import (
	"bytes"
	"strings"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/value"
)

// node is one JSON value that can be edited while whatever is not edited keeps its text: the escapes in strings and the
// order of members. It is opened level by level, when somebody looks inside. The text must
// have passed value.Parse; nothing here checks it again.
type node struct {
	raw      []byte
	opened   bool
	members  []member
	elements []*node
}

// member is one named value of an object; rawName is the name's JSON text with its quotes.
type member struct {
	name    string
	rawName []byte
	value   *node
}

// parseNode checks a text and returns it both as a tree to edit and as a value to look at.
func parseNode(text []byte) (*node, value.Value, error) {
	v, err := value.Parse(text)
	if err != nil {
		return nil, value.Value{}, err
	}
	return &node{raw: normalize(text)}, v, nil
}

func (n *node) isObject() bool { return n.raw[0] == '{' }
func (n *node) isArray() bool  { return n.raw[0] == '[' }
func (n *node) isNumber() bool { return n.raw[0] == '-' || (n.raw[0] >= '0' && n.raw[0] <= '9') }

// open splits an object or array into its parts. Of members with one name the last one counts, at the first one's place,
// as package value has it.
func (n *node) open() {
	if n.opened {
		return
	}
	n.opened = true
	switch {
	case n.isObject():
		var places map[string]int
		for at := 1; n.raw[at] != '}'; {
			if n.raw[at] == ',' {
				at++
			}
			nameEnd := skipString(n.raw, at)
			valueEnd := skipValue(n.raw, nameEnd+1)
			m := member{rawName: n.raw[at:nameEnd], value: &node{raw: n.raw[nameEnd+1 : valueEnd]}}
			m.name = unquote(m.rawName)
			n.addMember(m, &places)
			at = valueEnd
		}
	case n.isArray():
		for at := 1; n.raw[at] != ']'; {
			if n.raw[at] == ',' {
				at++
			}
			end := skipValue(n.raw, at)
			n.elements = append(n.elements, &node{raw: n.raw[at:end]})
			at = end
		}
	}
}

// addMember keeps names unique. The map comes into being only for objects so wide that scanning them would be quadratic.
func (n *node) addMember(m member, places *map[string]int) {
	const wide = 32
	at := -1
	if *places != nil {
		if i, seen := (*places)[m.name]; seen {
			at = i
		}
	} else {
		at = n.place(m.name)
	}
	if at >= 0 {
		n.members[at] = m
		return
	}
	n.members = append(n.members, m)
	switch {
	case *places != nil:
		(*places)[m.name] = len(n.members) - 1
	case len(n.members) == wide:
		*places = make(map[string]int, 2*wide)
		for i := range n.members {
			(*places)[n.members[i].name] = i
		}
	}
}

func (n *node) place(name string) int {
	n.open()
	for i := range n.members {
		if n.members[i].name == name {
			return i
		}
	}
	return -1
}

// get returns a member's value, nil when the node is no object or has no such member.
func (n *node) get(name string) *node {
	if i := n.place(name); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// set changes a member in place or appends it.
func (n *node) set(name string, v *node) {
	if i := n.place(name); i >= 0 {
		n.members[i].value = v
		return
	}
	n.members = append(n.members, member{name: name, rawName: value.AppendString(nil, name), value: v})
}

// setDefault appends a member unless there is one.
func (n *node) setDefault(name, text string) {
	if n.place(name) < 0 {
		n.set(name, leaf(text))
	}
}

// remove takes a member out and reports whether it was there.
func (n *node) remove(name string) bool {
	i := n.place(name)
	if i >= 0 {
		n.members = append(n.members[:i], n.members[i+1:]...)
	}
	return i >= 0
}

// leaf makes a node of a JSON text that the caller vouches for.
func leaf(text string) *node { return &node{raw: []byte(text)} }

// stringNode makes a node of a string.
func stringNode(s string) *node { return &node{raw: value.AppendString(nil, s)} }

// appendTo appends the node's JSON.
func (n *node) appendTo(dst []byte) []byte {
	switch {
	case !n.opened || !n.isObject() && !n.isArray():
		return append(dst, n.raw...)
	case n.isObject():
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, m.rawName...)
			dst = append(dst, ':')
			dst = m.value.appendTo(dst)
		}
		return append(dst, '}')
	default:
		dst = append(dst, '[')
		for i, e := range n.elements {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendTo(dst)
		}
		return append(dst, ']')
	}
}

// skipString returns where the string that begins at text[at] ends.
func skipString(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// skipValue returns where the value that begins at text[at] ends.
func skipValue(text []byte, at int) int {
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '"':
			at = skipString(text, at) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				return at
			}
			depth--
		case ',':
			if depth == 0 {
				return at
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return at + 1
		}
	}
	return at
}

// unquote returns the string that a JSON string's text stands for.
func unquote(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	v, err := value.Parse(text)
	if err != nil {
		return strings.Trim(string(text), `"`)
	}
	s, _ := v.Str()
	return s
}
