package changefeed

import (
	"context"
	"net/http"
)

// Epochs grow for as long as a processor's name is used, also when leases are
// deleted that held the newest: the start document says which none has passed yet.
// It is raised by many at once, before a lease begins the first of them, so that
// hardly any epoch costs a request.

// epochBlock is how many epochs are reserved at once.
const epochBlock = 1000

// reserveEpoch returns when the start document allows an epoch.
func (p *Processor) reserveEpoch(ctx context.Context, epoch int64) error {
	for p.start.Epochs < epoch {
		doc, err := p.readStart(ctx, p.store.names)
		if err != nil {
			return err
		}
		if doc == nil { // deleted by hand
			again := *p.start
			again.ETag = ""
			doc = &again
		}
		if doc.Epochs < epoch {
			// Leases of a former version have begun epochs that nobody reserved.
			doc.Epochs = max(epoch, p.missing.epoch) + epochBlock
			switch err := p.writeStart(ctx, doc); statusOf(err) {
			case http.StatusConflict, http.StatusPreconditionFailed, http.StatusNotFound:
				// Another instance was faster, or this one's answer was lost.
				if err := p.pause(ctx, p.cfg.Backoff); err != nil {
					return err
				}
				continue
			default:
				if err != nil {
					return err
				}
			}
		}
		p.start.Epochs = doc.Epochs
	}
	return nil
}

// passedEpoch is one that no lease of the processor has passed, the deleted ones
// included. The next owner of a lease that begins behind it reserves others.
func (p *Processor) passedEpoch(ctx context.Context) (int64, error) {
	doc, err := p.readStart(ctx, p.store.names)
	if err != nil {
		return 0, err
	}
	if doc != nil {
		p.start.Epochs = max(p.start.Epochs, doc.Epochs)
	}
	return max(p.missing.epoch, p.start.Epochs) + 1, nil
}
