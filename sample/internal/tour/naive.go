package tour

import "github.com/cosmosgrove/grove/tenantitem"

// What the same things look like as the tables of a relational model, a row a
// document: the other way of the comparisons. They use the same verbs.

// Row is one row of any of those tables.
type Row struct {
	tenantitem.TenantItem[Row]
	Table string `json:"table"`
	// Of is the row that this one belongs to.
	Of string `json:"of"`
	// To is the second foreign key of a joining table.
	To     string `json:"to,omitempty"`
	Number int    `json:"number"`
	Text   string `json:"text,omitempty"`
}
