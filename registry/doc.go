// Package registry puts a service's entities into containers: it says which
// entity type lives where, creates and checks the containers, and
// gives out one repository for each entity type. It is the only package that an
// application wires; with fx that takes one line for each entity:
//
//	fx.New(
//		fx.Provide(newClient), // func() (*azcosmos.Client, error), see NewClient
//		registry.Module(registry.Config{Database: "notes", Provision: true}),
//		registry.Entity[Person](),
//		registry.Entity[Note](),
//		fx.Invoke(func(notes *repository.Repository[Note]) { ... }),
//	)
//
// Everything lives in one container, keyed by tenant and entity type, unless
// [In] names another one of [Config].Containers. Where an entity lives is said
// here and nowhere else: application code does not change when it moves.
//
// # The types, in the order of need
//
//   - [ClientConfig], which account, for [NewClient]; [AccountKey], a key that
//     can be replaced.
//   - [Config], which database, with a [Container] for each that is not the
//     default one, and [Throughput] where a new one needs it.
//   - [Option], what is special about an entity type: [In], [SoftDelete],
//     [TTL], [CheckRefs], [Named], [WithLayout].
//   - [Database], what an application holds once it is started.
//   - [Tenants], about all that a tenant has: [ExportOptions], [ExportTarget]
//     and [Exported]; [ImportOptions], [ImportedLine], [LineOutcome] and
//     [Imported]; [EraseOptions], [ErasePlan], [ErasedDocument] and the
//     certificate, [Erasure]; [StatsOptions], [TenantStats], [EntityTypeStats]
//     and [PartitionStats]; [TenantProgress] of each.
//   - Without fx: [Declaration], [Plan], and [Registered], what a plan says of
//     an entity type; [Extension], what another package adds to a plan.
//   - [Difference] and [DriftError], what [Check] and [Provision] find in a
//     database that is there.
//
// # Without fx
//
// The same in plain calls; fx adds nothing but their order:
//
//	plan, err := registry.NewPlan(cfg, []registry.Declaration{
//		registry.EntityOf[Person](),
//		registry.EntityOf[Note](),
//	})
//	db, err := registry.Open(client, plan)
//	err = db.Prepare(ctx)
//	notes, err := registry.RepositoryOf[Note](db)
//
// # What is refused at start-up
//
// Registrations that contradict each other, and a database that contradicts
// the registrations, are errors before the first document is touched. The
// first kind names both registrations with the lines they were made in, the
// second both values. Nothing that exists is changed: a container that
// differs in a way that would make the application wrong stops it, any
// other difference is logged. See [Provision].
package registry
