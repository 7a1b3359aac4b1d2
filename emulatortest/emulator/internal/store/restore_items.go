package store

import (
	"runtime"
	"sync"
)

// restoreItems decodes a container's items with all processors and puts them into their physical partitions.
func (c *Container) restoreItems(records []numbered) error {
	items := make([]*item, len(records))
	parts := min(runtime.GOMAXPROCS(0), len(records))
	errs := make([]error, parts)
	inParallel(parts, func(part int) {
		for i := part * len(records) / parts; i < (part+1)*len(records)/parts && errs[part] == nil; i++ {
			items[i], errs[part] = decodeItem(c, records[i].n, records[i].text)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	owners := make(map[*partition][]*item, len(c.partitions))
	for _, it := range items {
		p := c.owner(it.epk)
		owners[p] = append(owners[p], it)
	}
	inParallel(len(c.partitions), func(part int) {
		s := c.partitions[part].state
		for _, it := range owners[c.partitions[part]] {
			s.share(it)
			s.swap(nil, it, c.definition.DefaultTTL)
		}
	})
	return nil
}

// inParallel calls do with the numbers up to n and waits for all of them, with no more at a time than there are processors.
func inParallel(n int, do func(int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
