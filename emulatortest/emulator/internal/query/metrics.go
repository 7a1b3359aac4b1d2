package query

import (
	"fmt"
	"time"
)

// Metrics counts what a page took.
type Metrics struct {
	// RetrievedDocuments and RetrievedBytes are what the service would have loaded: the items that the indexed part of the
	// filter lets through.
	RetrievedDocuments, RetrievedBytes int
	// OutputDocuments and OutputBytes are what the page holds.
	OutputDocuments, OutputBytes int
	Elapsed                      time.Duration
}

// Header returns the value of x-ms-documentdb-query-metrics. All time is reported as execution time: the emulator has no
// phases that would compare with the service's.
func (m Metrics) Header() string {
	ratio := 1.0
	if m.RetrievedDocuments > 0 {
		ratio = min(1, float64(m.OutputDocuments)/float64(m.RetrievedDocuments))
	}
	spent := float64(m.Elapsed) / float64(time.Millisecond)
	return fmt.Sprintf("totalExecutionTimeInMs=%.2f;queryCompileTimeInMs=0.00;queryLogicalPlanBuildTimeInMs=0.00;"+
		"queryPhysicalPlanBuildTimeInMs=0.00;queryOptimizationTimeInMs=0.00;VMExecutionTimeInMs=%.2f;indexLookupTimeInMs=0.00;"+
		"documentLoadTimeInMs=0.00;systemFunctionExecuteTimeInMs=0.00;userFunctionExecuteTimeInMs=0.00;retrievedDocumentCount=%d;"+
		"retrievedDocumentSize=%d;outputDocumentCount=%d;outputDocumentSize=%d;writeOutputTimeInMs=0.00;indexUtilizationRatio=%.2f",
		spent, spent, m.RetrievedDocuments, m.RetrievedBytes, m.OutputDocuments, m.OutputBytes, ratio)
}
