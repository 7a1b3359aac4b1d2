package code

import (
	"time"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

// snippet: resources
// Cluster is {"id", "partitionKey", "resourceID", "resourceType", "properties": {...}}
// with ids such as "|subscriptions|s1|clusters|blue".
type Cluster struct {
	tenantitem.TenantItem[Cluster]
	ResourceID string `json:"resourceID"`
	Region     string `json:"region"`
	Owner      string `json:"owner,omitempty"`
}

var resources = layout.Layout{
	Names:    map[string]string{"tenantId": "partitionKey", "entityType": "resourceType"},
	Envelope: "properties",
	Outside:  []string{"resourceID"},
}

var clusters = registry.EntityOf[Cluster](
	registry.In("resources"), registry.Named("acme.io/clusters"), registry.WithLayout(resources), registry.SoftDelete(24*time.Hour),
)

// end snippet

// NodePool is a child of a Cluster.
type NodePool struct {
	parented.ParentedItem[NodePool, Cluster]
	Nodes int `json:"nodes"`
}

// Billing copies from a Cluster.
type Billing struct {
	tenantitem.TenantItem[Billing]
	ClusterID tenantitem.Ref[Cluster] `json:"clusterId"`
	Region    string                  `json:"region" denorm:"sync,ref=clusterId,field=region"`
}

// snippet: snake
// Project is {"id", "tenant_id", "type": "project", "name", "deleted_at", "doc_ops"}.
type Project struct {
	tenantitem.TenantItem[Project]
	Name string `json:"name"`
}

var snake = layout.Layout{Names: map[string]string{
	"tenantId": "tenant_id", "entityType": "type",
	"deletedAt": "deleted_at", "_ops": "doc_ops", "_op": "doc_op",
}}

var projects = registry.EntityOf[Project](
	registry.In("projects"), registry.Named("project"), registry.WithLayout(snake), registry.SoftDelete(24*time.Hour),
)

// end snippet

// Milestone is a child, in a container of its own.
type Milestone struct {
	parented.ParentedItem[Milestone, Project]
	Title string `json:"title"`
}

// Report copies from a Project.
type Report struct {
	tenantitem.TenantItem[Report]
	ProjectID   tenantitem.Ref[Project] `json:"project_id"`
	ProjectName string                  `json:"project_name" denorm:"sync,ref=project_id,field=name"`
}

// snippet: organisations
// Device is {"id", "orgId", "entity_type": "device", "label"}; documents from
// before there were types have no entity_type.
type Device struct {
	tenantitem.TenantItem[Device]
	Label string `json:"label"`
}

var byOrganisation = map[string]string{"tenantId": "orgId", "entityType": "entity_type"}

var devices = registry.EntityOf[Device](
	registry.In("org-data"), registry.Named("device"), registry.SoftDelete(24*time.Hour),
	registry.WithLayout(layout.Layout{Names: byOrganisation, Untyped: layout.SomeUntyped}),
)

// end snippet

// Sensor is a child of a Device.
type Sensor struct {
	parented.ParentedItem[Sensor, Device]
	Unit string `json:"unit"`
}

// Alarm copies from a Device.
type Alarm struct {
	tenantitem.TenantItem[Alarm]
	DeviceID tenantitem.Ref[Device] `json:"deviceId"`
	Label    string                 `json:"label" denorm:"sync,ref=deviceId,field=label"`
}

// snippet: byid
// Kitten is {"id", "tenantId", "entityType", "name"} under the key /id: every
// document is a logical partition.
type Kitten struct {
	tenantitem.TenantItem[Kitten]
	Name string `json:"name"`
}

var kittens = registry.EntityOf[Kitten](
	registry.In("kittens"), registry.WithLayout(layout.Layout{}), registry.SoftDelete(24*time.Hour),
)

// end snippet

// Toy is a child of a Kitten.
type Toy struct {
	parented.ParentedItem[Toy, Kitten]
	Kind string `json:"kind"`
}

// Photo copies from a Kitten.
type Photo struct {
	tenantitem.TenantItem[Photo]
	KittenID tenantitem.Ref[Kitten] `json:"kittenId"`
	Name     string                 `json:"name" denorm:"sync,ref=kittenId,field=name"`
}

// snippet: states
// Basket is {"id": "shop||b1", "partitionKey": "shop||b1", "value": {...}, "isBinary": false}
// as a state store writes it: no type, no tenant.
type Basket struct {
	tenantitem.TenantItem[Basket]
	Buyer string `json:"buyer"`
	Total int    `json:"total"`
}

var baskets = registry.EntityOf[Basket](
	registry.In("state"), registry.SoftDelete(24*time.Hour),
	registry.WithLayout(layout.Layout{
		Key:      []layout.KeySource{layout.FromField("id")},
		IDPrefix: "shop||",
		Untyped:  layout.AllUntyped,
		Envelope: "value",
		Global:   true,
	}),
)

// end snippet

// Coupon is a child of a Basket, in a container of its own.
type Coupon struct {
	parented.ParentedItem[Coupon, Basket]
	Percent int `json:"percent"`
}

// Receipt copies from a Basket.
type Receipt struct {
	tenantitem.TenantItem[Receipt]
	BasketID tenantitem.Ref[Basket] `json:"basketId"`
	Buyer    string                 `json:"buyer" denorm:"sync,ref=basketId,field=buyer"`
}

// snippet: efcore
// Invoice is {"id": "Invoice|7", "TenantId", "$type": "Invoice", "Number", "Amount"}
// under the key /TenantId, as EF Core writes it.
type Invoice struct {
	tenantitem.TenantItem[Invoice]
	Number string  `json:"Number"`
	Amount float64 `json:"Amount"`
}

var efCore = layout.Layout{
	Names:    map[string]string{"tenantId": "TenantId", "entityType": "$type"},
	IDPrefix: "Invoice|",
}

var efInvoices = registry.EntityOf[Invoice](
	registry.In("App"), registry.WithLayout(efCore), registry.SoftDelete(24*time.Hour),
)

// end snippet

// Payment is a child of an Invoice.
type Payment struct {
	parented.ParentedItem[Payment, Invoice]
	Amount float64 `json:"Amount"`
}

// Statement copies from an Invoice.
type Statement struct {
	tenantitem.TenantItem[Statement]
	InvoiceID tenantitem.Ref[Invoice] `json:"InvoiceId"`
	Number    string                  `json:"Number" denorm:"sync,ref=InvoiceId,field=Number"`
}

// snippet: benday
// Lesson is {"id", "tenantId", "entityType": "Lesson", "title", "timestamp"},
// flat under /partitionKey, or under /tenantId,/entityType, which is Grove's
// own key and needs no layout.
type Lesson struct {
	tenantitem.TenantItem[Lesson]
	Title     string    `json:"title"`
	Timestamp time.Time `json:"timestamp"`
}

var lessons = registry.EntityOf[Lesson](
	registry.In("flat"), registry.SoftDelete(24*time.Hour),
	registry.WithLayout(layout.Layout{Key: []layout.KeySource{layout.FromTenant()}}),
)

// end snippet

// Exercise is a child of a Lesson.
type Exercise struct {
	parented.ParentedItem[Exercise, Lesson]
	Task string `json:"task"`
}

// Plan copies from a Lesson.
type Timetable struct {
	tenantitem.TenantItem[Timetable]
	LessonID tenantitem.Ref[Lesson] `json:"lessonId"`
	Title    string                 `json:"title" denorm:"sync,ref=lessonId,field=title"`
}
