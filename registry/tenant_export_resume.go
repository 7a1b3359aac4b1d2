package registry

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosmosgrove/grove/internal/codec"
	"github.com/cosmosgrove/grove/internal/document"
)

// ExportTarget is a file that an export can be gone on with; an *os.File is
// one.
type ExportTarget interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// ExportFile is [Tenants.Export] to a file that an earlier run may have begun:
// what it holds is read, what a dying process left half written at its end is
// cut off, and documents that it has are not written again. So an export
// that was stopped is taken up by calling it again with the same file and
// options, until it returns no error.
//
// A document that was written and changed since stays as it was written; one that was
// deleted since stays too. Memory is bounded by a page of documents, and about
// 50 bytes for each document that an earlier run wrote.
func (t *Tenants) ExportFile(ctx context.Context, tenant string, file ExportTarget, opts *ExportOptions) (*Exported, error) {
	ctx, x, err := newExporter(ctx, t, tenant, file, opts)
	if err != nil {
		return nil, err
	}
	if err := x.readBack(file); err != nil {
		return x.done(), fmt.Errorf("registry: export: %w", err)
	}
	err = x.run(ctx)
	return x.done(), err
}

// place names a document by its entity type, key and id. A line does not say
// the container that it is of, so two documents in two containers may have one.
type place [16]byte

// placeIn is the place of a document that lies in a container.
func placeIn(c tenantContainer, stored []byte) place {
	text := c.HeaderOf(stored).EntityType
	if id, key, err := c.KeyOf(stored); err == nil {
		text += fmt.Sprintf(" %#v %q", key, id)
	} else { // another writer's, under a key that Grove writes none of
		text += " " + string(codec.Canonical(stored, func(string) bool { return false }))
	}
	sum := sha256.Sum256([]byte(text))
	return place(sum[:16])
}

// placesOf are the places that a line may be of: that in its container or,
// where its entity type is not registered, those in all of them.
func (x *exporter) placesOf(line []byte, container *tenantContainer) []place {
	if container != nil {
		return []place{placeIn(*container, line)}
	}
	var places []place
	for _, c := range x.containers {
		if p := placeIn(c, line); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

// containerOf finds the container by whose names a line is of one of its entity
// types; nil for none. What says its type comes first, as in an import.
func (x *exporter) containerOf(line []byte) (container *tenantContainer, entityType string) {
	for _, says := range []bool{true, false} {
		for i := range x.containers {
			c := &x.containers[i]
			if c.SaysType(line) != says || !says && !c.canHold(line) {
				continue
			}
			entityType = c.HeaderOf(line).EntityType
			if x.tenants.db.plan.named(c.id, entityType) != nil {
				return c, entityType
			}
		}
	}
	return nil, document.ReadHeader(line).EntityType
}

// hasWritten reports whether an earlier run wrote a document. Of several at one
// place that run wrote the first ones, since containers are read in their order.
func (x *exporter) hasWritten(c tenantContainer, stored []byte) bool {
	if x.written == nil {
		return false
	}
	p := placeIn(c, stored)
	if x.written[p] == 0 {
		return false
	}
	x.written[p]--
	return true
}

// readBack takes over what a file holds, and leaves it at its last whole line.
func (x *exporter) readBack(file ExportTarget) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("go to the beginning: %w", err)
	}
	source := &countingReader{r: bufio.NewReader(file)}
	x.written = map[place]int{}
	var good int64
	var err error
	if x.opts.Gzip {
		good, err = x.readZipped(source)
	} else {
		part := newExportPart()
		good, _, err = part.readLines(x, bufio.NewReader(source)) // a last line without an end is half written
		x.takeOver(part)
		if err != nil {
			err = fmt.Errorf("read what an earlier run wrote: %w", err)
		}
	}
	if err != nil {
		return err
	}
	if err := file.Truncate(good); err != nil {
		return fmt.Errorf("cut off what is half written: %w", err)
	}
	if _, err := file.Seek(good, io.SeekStart); err != nil {
		return fmt.Errorf("go to the end: %w", err)
	}
	return nil
}

// readZipped takes over the whole parts of a zipped file.
func (x *exporter) readZipped(source *countingReader) (good int64, err error) {
	zipped, err := gzip.NewReader(source)
	for {
		if err != nil {
			return good, ignoreTorn(err)
		}
		zipped.Multistream(false)
		part := newExportPart()
		_, rest, err := part.readLines(x, bufio.NewReader(zipped))
		if err != nil {
			return good, ignoreTorn(err)
		}
		part.add(x, rest) // the part is whole, and so is its last line
		x.takeOver(part)
		good = source.n
		if err := zipped.Reset(source); err != nil {
			return good, ignoreTorn(err)
		}
	}
}

// ignoreTorn passes over what a torn end of a zipped file gives.
func ignoreTorn(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return nil
	}
	return fmt.Errorf("read what an earlier run wrote: %w", err)
}

// exportPart is what an earlier run wrote into a part of its file, which counts
// once the part is known to be whole.
type exportPart struct {
	written map[place]int
	lines   int64
	counts  exportCounts
}

func newExportPart() *exportPart {
	return &exportPart{written: map[place]int{}, counts: newExportCounts()}
}

// readLines adds the lines up to the end, and returns how many bytes they are
// long, and what stands after the last of them.
func (p *exportPart) readLines(x *exporter, lines *bufio.Reader) (size int64, rest []byte, err error) {
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return size, line, nil
		}
		if err != nil {
			return size, nil, err //nolint:wrapcheck // the caller says of what
		}
		size += int64(len(line))
		p.add(x, line[:len(line)-1])
	}
}

func (p *exportPart) add(x *exporter, line []byte) {
	if len(line) == 0 {
		return
	}
	container, entityType := x.containerOf(line)
	for _, at := range x.placesOf(line, container) {
		p.written[at]++
	}
	p.counts.add(entityType, line)
	p.lines++
}

// takeOver notes the documents that an earlier run wrote.
func (x *exporter) takeOver(p *exportPart) {
	for at, n := range p.written {
		x.written[at] += n
	}
	x.counts.plus(p.counts)
	x.resumed += p.lines
}

// countingReader counts what a decompressor takes, byte by byte so that it
// takes no more than it needs.
type countingReader struct {
	r *bufio.Reader
	n int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err //nolint:wrapcheck // io.EOF has to stay itself
}

// ReadByte implements io.ByteReader.
func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err //nolint:wrapcheck // io.EOF has to stay itself
}
