package registry

import (
	"bufio"
	"bytes"
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

// placesOf are the places that a line may be of: that in the container of its
// entity type or, where it is not registered, those in all of them.
func (x *exporter) placesOf(line []byte) []place {
	if home, _ := x.homeOf(line); home != nil {
		return []place{placeIn(*home, line)}
	}
	var places []place
	for _, c := range x.containers {
		if p := placeIn(c, line); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

// homeOf finds the container by whose names a line is of one of its entity
// types; nil for none.
func (x *exporter) homeOf(line []byte) (home *tenantContainer, entityType string) {
	for i := range x.containers {
		c := &x.containers[i]
		entityType = c.HeaderOf(line).EntityType
		if x.tenants.db.plan.named(c.id, entityType) != nil {
			return c, entityType
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
		good, err = x.readLines(bufio.NewReader(source))
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
		if err := x.readPart(bufio.NewReader(zipped), part); err != nil {
			return good, ignoreTorn(err)
		}
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

// readPart reads the lines of a whole part.
func (x *exporter) readPart(lines *bufio.Reader, part *exportPart) error {
	for {
		line, err := lines.ReadBytes('\n')
		if err == nil || errors.Is(err, io.EOF) {
			part.add(x, bytes.TrimSuffix(line, []byte("\n")))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err //nolint:wrapcheck // the caller says of what
		}
	}
}

func (x *exporter) readLines(lines *bufio.Reader) (good int64, err error) {
	whole := newExportPart()
	defer x.takeOver(whole)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil // a last line without an end is half written
		}
		if err != nil {
			return good, fmt.Errorf("read what an earlier run wrote: %w", err)
		}
		good += int64(len(line))
		whole.add(x, line[:len(line)-1])
	}
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

func (p *exportPart) add(x *exporter, line []byte) {
	if len(line) == 0 {
		return
	}
	for _, at := range x.placesOf(line) {
		p.written[at]++
	}
	_, entityType := x.homeOf(line)
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
