package sql_test

import (
	"testing"

	"github.com/cosmosgrove/grove/emulatortest/emulator/internal/sql"
)

func BenchmarkParse(b *testing.B) {
	const text = `SELECT VALUE {"id": c.id, "n": ARRAY_LENGTH(c.tags)} FROM c WHERE c.tenantId = @t AND c.entityType = @e ` +
		`AND (c.title LIKE "a%" OR c.count BETWEEN 1 AND 10) ORDER BY c.createdAt DESC OFFSET 0 LIMIT 100`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sql.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
