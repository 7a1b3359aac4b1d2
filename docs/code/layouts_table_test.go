package code

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository/layout"
	"github.com/cosmosgrove/grove/tenantitem"
)

const changed = "changed"

func TestLayoutOfResources(t *testing.T) {
	t.Parallel()
	testLayout(t, layoutTest[Cluster, NodePool, Billing]{
		owner: owner{
			container: "resources", paths: []string{"/partitionKey"}, id: "first",
			docs: []string{
				`{"id":"first","partitionKey":"s1","resourceID":"/subscriptions/s1/clusters/first","resourceType":"acme.io/clusters","cosmosMetadata":{"v":1},"properties":{"region":"west","id":"inner","spec":{"a":1}}}`,
				`{"id":"|s1|operations|1","partitionKey":"s1","resourceType":"acme.io/operations","properties":{"region":7}}`,
				`{"id":"legacy","partitionKey":"s1","properties":"a text"}`,
				`{"id":"odd","partitionKey":"s1","resourceType":{"name":"acme.io/clusters"},"deletedAt":5}`,
			},
		},
		entity: clusters,
		child:  registry.ChildOf[NodePool, Cluster](parented.Cascade, registry.In("resources"), registry.Named("acme.io/pools"), registry.WithLayout(layout.Layout{Names: resources.Names, Envelope: "properties"})),
		copies: registry.EntityOf[Billing](),
		tenant: "s1",
		fresh: func(id string) *Cluster {
			return &Cluster{TenantItem: tenantitem.TenantItem[Cluster]{Meta: tenantitem.Meta{ID: id}}, ResourceID: "/s1/" + id, Region: "east"}
		},
		change: func(c *Cluster) { c.Region = changed }, field: "region", value: changed,
		newChild: func() *NodePool { return &NodePool{Nodes: 3} },
		newCopy:  func(ref string) *Billing { return &Billing{ClusterID: tenantitem.Ref[Cluster](ref)} },
		copied:   func(b *Billing) any { return b.Region },
		stored:   map[string]any{"partitionKey": "s1", "resourceType": "acme.io/clusters", "resourceID": "/s1/second", "properties": map[string]any{"region": "east"}, "tenantId": nil, "entityType": nil, "region": nil},
	})
}

func TestLayoutInSnakeCase(t *testing.T) {
	t.Parallel()
	testLayout(t, layoutTest[Project, Milestone, Report]{
		owner: owner{
			container: "projects", paths: []string{"/tenant_id"}, id: "first", version: 1,
			docs: []string{
				`{"id":"first","tenant_id":"t1","type":"project","name":"one","created_by":"x","tenantId":7}`,
				`{"id":"job-1","tenant_id":"t1","type":"job","deleted_at":170000000}`,
				`{"id":"odd","tenant_id":"t1","name":"no type"}`,
			},
		},
		entity:  projects,
		child:   registry.ChildOf[Milestone, Project](parented.Cascade, registry.In("milestones"), registry.Named("milestone"), registry.WithLayout(snake)),
		copies:  registry.EntityOf[Report](registry.In("projects"), registry.Named("report"), registry.WithLayout(snake)),
		further: []registry.Container{{ID: "milestones", PartitionKey: []string{"/tenant_id"}}},
		tenant:  "t1",
		fresh: func(id string) *Project {
			return &Project{TenantItem: tenantitem.TenantItem[Project]{Meta: tenantitem.Meta{ID: id}}, Name: "new"}
		},
		change: func(p *Project) { p.Name = changed }, field: "name", value: changed,
		newChild: func() *Milestone { return &Milestone{Title: "m"} },
		newCopy:  func(ref string) *Report { return &Report{ProjectID: tenantitem.Ref[Project](ref)} },
		copied:   func(r *Report) any { return r.ProjectName },
		stored:   map[string]any{"tenant_id": "t1", "type": "project", "name": "new", "tenantId": nil, "_ops": nil},
	})
}

func TestLayoutOfOrganisations(t *testing.T) {
	t.Parallel()
	testLayout(t, layoutTest[Device, Sensor, Alarm]{
		owner: owner{
			container: "org-data", paths: []string{"/orgId"}, id: "first",
			docs: []string{
				`{"id":"first","orgId":"o1","label":"old","firmware":{"v":2}}`, // from before there were types
				`{"id":"user-1","orgId":"o1","entity_type":"user","label":"a user"}`,
				`{"id":"odd","orgId":"o1","entity_type":7}`,
			},
		},
		entity: devices,
		child:  registry.ChildOf[Sensor, Device](parented.Cascade, registry.In("org-data"), registry.Named("sensor"), registry.WithLayout(layout.Layout{Names: byOrganisation})),
		copies: registry.EntityOf[Alarm](registry.In("org-data"), registry.Named("alarm"), registry.WithLayout(layout.Layout{Names: byOrganisation})),
		tenant: "o1",
		fresh: func(id string) *Device {
			return &Device{TenantItem: tenantitem.TenantItem[Device]{Meta: tenantitem.Meta{ID: id}}, Label: "new"}
		},
		change: func(d *Device) { d.Label = changed }, field: "label", value: changed,
		newChild: func() *Sensor { return &Sensor{Unit: "K"} },
		newCopy:  func(ref string) *Alarm { return &Alarm{DeviceID: tenantitem.Ref[Device](ref)} },
		copied:   func(a *Alarm) any { return a.Label },
		stored:   map[string]any{"orgId": "o1", "entity_type": "device", "label": "new"},
	})
}

func TestLayoutByID(t *testing.T) {
	t.Parallel()
	testLayout(t, layoutTest[Kitten, Toy, Photo]{
		owner: owner{
			container: "kittens", paths: []string{"/id"}, id: "first",
			docs: []string{
				`{"id":"first","tenantId":"t1","entityType":"Kitten","name":"Minka","claws":18}`,
				`{"id":"other","tenantId":"t1","entityType":"Cat","name":"Tom"}`,
				`{"id":"odd","name":5}`,
				`{"id":"stranger","tenantId":"t2","entityType":"Kitten","name":"Mila"}`,
			},
		},
		entity: kittens,
		child:  registry.ChildOf[Toy, Kitten](parented.Cascade, registry.In("kittens"), registry.WithLayout(layout.Layout{})),
		copies: registry.EntityOf[Photo](registry.In("kittens"), registry.WithLayout(layout.Layout{})),
		tenant: "t1",
		fresh: func(id string) *Kitten {
			return &Kitten{TenantItem: tenantitem.TenantItem[Kitten]{Meta: tenantitem.Meta{ID: id}}, Name: "new"}
		},
		change: func(k *Kitten) { k.Name = changed }, field: "name", value: changed,
		newChild: func() *Toy { return &Toy{Kind: "mouse"} },
		newCopy:  func(ref string) *Photo { return &Photo{KittenID: tenantitem.Ref[Kitten](ref)} },
		copied:   func(p *Photo) any { return p.Name },
		stored:   map[string]any{"tenantId": "t1", "entityType": "Kitten", "name": "new"},
	})
}

func TestLayoutOfStates(t *testing.T) {
	t.Parallel()
	global := registry.WithLayout(layout.Layout{Global: true})
	testLayout(t, layoutTest[Basket, Coupon, Receipt]{
		owner: owner{
			container: "state", paths: []string{"/partitionKey"}, id: "shop||first",
			docs: []string{
				`{"id":"shop||first","partitionKey":"shop||first","value":{"buyer":"Ada","total":3,"id":5},"isBinary":false}`,
			},
		},
		entity:  baskets,
		child:   registry.ChildOf[Coupon, Basket](parented.Cascade, registry.In("coupons"), global),
		copies:  registry.EntityOf[Receipt](registry.In("coupons"), global),
		further: []registry.Container{{ID: "coupons", PartitionKey: []string{"/entityType"}}},
		fresh: func(id string) *Basket {
			return &Basket{TenantItem: tenantitem.TenantItem[Basket]{Meta: tenantitem.Meta{ID: id}}, Buyer: "new"}
		},
		change: func(b *Basket) { b.Buyer = changed }, field: "buyer", value: changed,
		newChild: func() *Coupon { return &Coupon{Percent: 5} },
		newCopy:  func(ref string) *Receipt { return &Receipt{BasketID: tenantitem.Ref[Basket](ref)} },
		copied:   func(r *Receipt) any { return r.Buyer },
		stored:   map[string]any{"id": "shop||second", "partitionKey": "shop||second", "value": map[string]any{"buyer": "new", "total": 0.0}, "entityType": nil, "tenantId": nil},
	})
}

func TestLayoutOfEFCore(t *testing.T) {
	t.Parallel()
	child, holder := efCore, efCore
	child.IDPrefix, holder.IDPrefix = "Payment|", "Statement|"
	testLayout(t, layoutTest[Invoice, Payment, Statement]{
		owner: owner{
			container: "App", paths: []string{"/TenantId"}, id: "Invoice|first",
			docs: []string{
				`{"id":"Invoice|first","TenantId":"t1","$type":"Invoice","Number":"1","Amount":12.5,"Lines":[{"Text":"a"}]}`,
				`{"id":"Customer|first","TenantId":"t1","$type":"Customer","Name":"x"}`,
				`{"id":"Customer|second","TenantId":"t1"}`,
			},
		},
		entity: efInvoices,
		child:  registry.ChildOf[Payment, Invoice](parented.Cascade, registry.In("App"), registry.WithLayout(child)),
		copies: registry.EntityOf[Statement](registry.In("App"), registry.WithLayout(holder)),
		tenant: "t1",
		fresh: func(id string) *Invoice {
			return &Invoice{TenantItem: tenantitem.TenantItem[Invoice]{Meta: tenantitem.Meta{ID: id}}, Number: "new"}
		},
		change: func(i *Invoice) { i.Number = changed }, field: "Number", value: changed,
		newChild: func() *Payment { return &Payment{Amount: 1} },
		newCopy:  func(ref string) *Statement { return &Statement{InvoiceID: tenantitem.Ref[Invoice](ref)} },
		copied:   func(s *Statement) any { return s.Number },
		stored:   map[string]any{"TenantId": "t1", "$type": "Invoice", "Number": "new", "tenantId": nil},
	})
}

func TestLayoutOfBenday(t *testing.T) {
	t.Parallel()
	flat := registry.WithLayout(layout.Layout{Key: []layout.KeySource{layout.FromTenant()}})
	for name, tc := range map[string]struct {
		owner  owner
		entity registry.Declaration
		child  registry.Declaration
		copies registry.Declaration
		stored map[string]any
	}{
		"flat": {
			owner{
				container: "flat", paths: []string{"/partitionKey"}, kind: azcosmos.PartitionKeyKindHash,
				docs: []string{
					`{"id":"first","partitionKey":"t1","tenantId":"t1","entityType":"Lesson","title":"one","timestamp":"2026-01-02T03:04:05Z"}`,
					`{"id":"other","partitionKey":"t1","tenantId":"t1","entityType":"Person","title":5}`,
				},
			},
			lessons, registry.ChildOf[Exercise, Lesson](parented.Cascade, registry.In("flat"), flat), registry.EntityOf[Timetable](registry.In("flat"), flat),
			map[string]any{"partitionKey": "t1", "tenantId": "t1", "entityType": "Lesson", "title": "new"},
		},
		"hierarchical": {
			owner{
				container: "tree", paths: []string{"/tenantId", "/entityType"}, kind: azcosmos.PartitionKeyKindMultiHash,
				docs: []string{`{"id":"first","tenantId":"t1","entityType":"Lesson","title":"one","timestamp":"2026-01-02T03:04:05Z"}`},
			},
			registry.EntityOf[Lesson](registry.In("tree"), registry.SoftDelete(time.Hour)), registry.ChildOf[Exercise, Lesson](parented.Cascade, registry.In("tree")), registry.EntityOf[Timetable](registry.In("tree")),
			map[string]any{"tenantId": "t1", "entityType": "Lesson", "title": "new"},
		},
	} {
		tc.owner.id = "first"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testLayout(t, layoutTest[Lesson, Exercise, Timetable]{
				owner: tc.owner, entity: tc.entity, child: tc.child, copies: tc.copies, tenant: "t1", stored: tc.stored,
				fresh: func(id string) *Lesson {
					return &Lesson{TenantItem: tenantitem.TenantItem[Lesson]{Meta: tenantitem.Meta{ID: id}}, Title: "new"}
				},
				change: func(l *Lesson) { l.Title = changed }, field: "title", value: changed,
				newChild: func() *Exercise { return &Exercise{Task: "x"} },
				newCopy:  func(ref string) *Timetable { return &Timetable{LessonID: tenantitem.Ref[Lesson](ref)} },
				copied:   func(h *Timetable) any { return h.Title },
			})
		})
	}
}
