package registry

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/cosmosgrove/grove/tenantitem"
)

// errLineTooLong is a line that no document can be; the next one is fine.
var errLineTooLong = fmt.Errorf("%w: the line is longer than any document", tenantitem.ErrInvalid)

// lineReader gives the lines of a file, whether it is zipped, begins with a
// byte order mark or holds lines of any length.
type lineReader struct {
	r   *bufio.Reader
	max int
	buf []byte
}

const byteOrderMark = "\ufeff"

func newLineReader(r io.Reader, longest int) (*lineReader, error) {
	plain := bufio.NewReaderSize(r, 64<<10)
	if head, _ := plain.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		zipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, fmt.Errorf("unzip: %w", err)
		}
		plain = bufio.NewReaderSize(zipped, 64<<10)
	}
	if head, _ := plain.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = plain.Discard(len(byteOrderMark)) // it was peeked at
	}
	return &lineReader{r: plain, max: longest}, nil
}

// next returns a line without its end, good until the next call; io.EOF behind
// the last one.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > l.max {
			tooLong = true
		}
		if !tooLong {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(l.buf) > 0 || tooLong):
		case err != nil:
			return nil, err //nolint:wrapcheck // the caller names the line
		}
		if tooLong {
			return nil, errLineTooLong
		}
		return bytes.TrimSuffix(l.buf, []byte("\n")), nil
	}
}
