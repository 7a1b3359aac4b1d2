package registry

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/cosmosgrove/grove/internal/codec"
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
	if err := checkTenant(ctx, tenant); err != nil {
		return nil, err
	}
	x := newExporter(t, tenant, file, opts)
	if err := x.readBack(file); err != nil {
		return x.done(), fmt.Errorf("registry: export: %w", err)
	}
	err := x.run(ctx)
	return x.done(), err
}

// placeOf tells the documents of a tenant apart.
func (x *exporter) placeOf(container string, stored []byte) [16]byte {
	text := container
	if id, key, err := x.container(container).KeyOf(stored); err == nil {
		text += fmt.Sprintf(" %#v %q", key, id)
	} else { // another writer's, under a key that Grove writes none of
		text += string(codec.Canonical(stored, func(string) bool { return false }))
	}
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:16])
}

func (x *exporter) container(id string) tenantContainer {
	for _, c := range x.tenants.contents() {
		if c.id == id {
			return c
		}
	}
	return tenantContainer{}
}

// readBack takes over what a file holds, and leaves it at its last whole line.
func (x *exporter) readBack(file ExportTarget) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("go to the beginning: %w", err)
	}
	source := &countingReader{r: bufio.NewReader(file)}
	x.written = map[[16]byte]bool{}
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
		part, err := io.ReadAll(zipped)
		if err != nil {
			return good, ignoreTorn(err)
		}
		for len(part) > 0 {
			n, line, _ := bufio.ScanLines(part, true)
			x.takeOver(line)
			part = part[n:]
		}
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

func (x *exporter) readLines(lines *bufio.Reader) (good int64, err error) {
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return good, nil // a last line without an end is half written
		}
		if err != nil {
			return good, fmt.Errorf("read what an earlier run wrote: %w", err)
		}
		good += int64(len(line))
		x.takeOver(line[:len(line)-1])
	}
}

// takeOver notes a document that an earlier run wrote.
func (x *exporter) takeOver(line []byte) {
	if len(line) == 0 {
		return
	}
	for _, c := range x.tenants.contents() { // the line does not say which
		x.written[x.placeOf(c.id, line)] = true
	}
	x.count(line)
	x.out.Resumed++
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
