package changefeed

import (
	"errors"
	"reflect"
	"testing"

	"github.com/cosmosgrove/grove/tenantitem"
)

func FuzzWatchPosition(f *testing.F) {
	for _, w := range []*watchPosition{
		{Container: "c", Ranges: []startPosition{{keyRange{"", "FF"}, ""}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "80"}, `"7"`}, {keyRange{"8000", "FF"}, `"9"`}}},
		{Container: "d", Ranges: []startPosition{{keyRange{"", "FF"}, ""}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "40"}, ""}, {keyRange{"80", "FF"}, ""}}},
		{Container: "c"},
	} {
		f.Add(w.String())
	}
	f.Add("")
	f.Add("w1.e30")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := parseWatchPosition(text, "c")
		if err != nil {
			return
		}
		if len(uncovered(everything, rangesOfPositions(w.Ranges))) != 0 {
			t.Errorf("%v leaves a gap", w)
		}
		again, err := parseWatchPosition(w.String(), "c")
		if err != nil || !reflect.DeepEqual(again, w) {
			t.Errorf("%v came back as %v, %v", w, again, err)
		}
	})
}

func rangesOfPositions(positions []startPosition) (out []keyRange) {
	for _, p := range positions {
		out = append(out, p.keyRange)
	}
	return out
}

func TestPositionsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, w := range []*watchPosition{
		{Container: "d", Ranges: []startPosition{{keyRange{"", "FF"}, ""}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "40"}, ""}, {keyRange{"80", "FF"}, ""}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "80"}, ""}, {keyRange{"40", "FF"}, ""}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "x"}, ""}, {keyRange{"x", "FF"}, ""}}},
		{Container: "c"},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "FF"}, "a\r\nb"}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "FF"}, "\x00"}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "80"}, `"7"`}, {keyRange{"80", "FF"}, `"7ä"`}}},
		{Container: "c", Ranges: []startPosition{{keyRange{"", "FF"}, "\xff"}}},
	} {
		if _, err := parseWatchPosition(w.String(), "c"); !errors.Is(err, tenantitem.ErrInvalid) {
			t.Errorf("%+v is taken: %v", w, err)
		}
	}
}

func FuzzParseSession(f *testing.F) {
	for _, text := range []string{"0:-1#7", "0:7", "0:-1#7,1:2#9#3=4", "s1.aXRlbXMAMDotMSM3", "x", "0:1#", ",,", "0:-1#7,0:-1#9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for id, part := range parseSession(text) {
			again, ok := parseSession(id + ":" + part.text)[id]
			if !ok || again != part {
				t.Errorf("%s:%s came back as %v", id, part.text, again)
			}
		}
	})
}
