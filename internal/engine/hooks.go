package engine

import (
	"context"
	"fmt"

	"github.com/cosmosgrove/grove/tenantitem"
)

// Owner is one of those that take part in the verbs of a collection. It has one
// hook of a kind at most: a second one is an error while the application is
// wired. Hooks of one kind are called in the order of their owners, in whatever
// order they were attached.
type Owner uint8

// The owners, in their order.
const (
	OwnerParented   Owner = iota // a child's parent: package parented
	OwnerLifetime                // times to live: package registry
	OwnerReferences              // what entities refer to: package registry
	OwnerCopies                  // copies, counts and links: package denorm
	owners
)

// String names the package.
func (o Owner) String() string {
	return [owners]string{"parented", "registry, for times to live,", "registry, for references,", "denorm"}[o]
}

// hooks are attached while the application is wired, before the first verb. Of a
// write, all validators come first, then all fillers, then the transaction hook,
// and once it is stored the observers; of a delete the guards, then the policy.
type hooks struct {
	validators  [owners]Validator
	fillers     [owners]Filler
	observers   [owners]Observer
	guards      [owners]DeleteGuard
	transaction TransactionHook
	read        ReadHook
	policy      DeletePolicy
	// guarded are the members that a patch may not change.
	guarded []GuardedPath
	// mayNotExpire is why no document may have a time to live of its own; "" where it may.
	mayNotExpire string
	// keepsParents makes a change of a child's parent leave the old one in the
	// document, see MovedField.
	keepsParents bool
}

// Validator sees the entities of one write, or of a whole bulk, as pointers to
// the repository's type, before they are encoded.
type Validator interface {
	Validate(ctx context.Context, tenant string, entities []any) error
}

// Filler sees the entities after all validators, and may change them and hide
// members beside them. A bulk's are seen many at a time.
type Filler interface {
	Fill(ctx context.Context, w *Write) error
}

// Observer sees entities once they are stored; created says that each of them
// is a new document, as far as the answer told. An error becomes the verb's.
type Observer interface {
	Stored(ctx context.Context, tenant string, entities []any, created bool) error
}

// DoubtObserver is an [Observer] that is told also of entities of which it is not known whether they are
// stored. It does no I/O.
type DoubtObserver interface {
	InDoubt(tenant string, entities []any)
}

// DeleteGuard may refuse the delete of a document by the application. It does
// not see what goes with another document.
type DeleteGuard interface {
	AllowDelete(ctx context.Context, d Deletion) error
}

// DeletePolicy takes the place of removing the one document. A collection has
// one at most.
type DeletePolicy interface {
	// Owner says whose the policy is, for the error about a second one.
	Owner() string
	// Plan says what CarryOut would do.
	Plan(ctx context.Context, d Deletion) (*DeletePlan, error)
	// Begin says how a delete begins inside a batch, and how it goes on once the
	// batch is applied. It does no I/O.
	Begin(d Deletion) (BatchDeletion, error)
	// CarryOut deletes the document and what goes with it.
	CarryOut(ctx context.Context, d Deletion) error
	// Finish ends what is under way of a document as it was read: the delete comes to its end or is refused. Of a later
	// one, or of another document of the id, it touches nothing.
	Finish(ctx context.Context, tenant string, begun Document) error
	// Restore brings a document back that was deleted softly, and Purge removes
	// it. Where documents are not, both fail with [Collection.NotSoftlyDeleted].
	Restore(ctx context.Context, d Deletion) error
	Purge(ctx context.Context, d Deletion) error
}

// ValidatorFunc is a [Validator] of one function.
type ValidatorFunc func(ctx context.Context, tenant string, entities []any) error

// Validate calls the function.
func (f ValidatorFunc) Validate(ctx context.Context, tenant string, entities []any) error {
	return f(ctx, tenant, entities)
}

// ObserverFunc is an [Observer] of one function.
type ObserverFunc func(ctx context.Context, tenant string, entities []any, created bool) error

// Stored calls the function.
func (f ObserverFunc) Stored(ctx context.Context, tenant string, entities []any, created bool) error {
	return f(ctx, tenant, entities, created)
}

// Deletion is a delete that a policy carries out.
type Deletion struct {
	// TenantID and ID name the document.
	TenantID, ID string
	// Key are the scope's further key values, as they were given to In.
	Key []any
	// ETag is what the caller requires the document to have; empty is any.
	ETag string
	// Confirmed is what a plan showed, by entity type; nil where there was none. The delete
	// does no more, see [PlanChangedError].
	Confirmed map[string]int64
	// Remove deletes the one document.
	Remove func(ctx context.Context, etag string) error
}

// BatchDeletion is a delete that begins with a mark in the document.
type BatchDeletion struct {
	// Mark holds the DeletedAt, TTL and Deletion that are set.
	Mark Document
	// Finish carries the delete out; nil when the mark is all of it.
	Finish func(ctx context.Context) error
}

// SetValidator attaches an owner's validator.
func (c *Collection) SetValidator(o Owner, v Validator) error {
	return attach(c, "validator", &c.hooks.validators, o, v)
}

// SetFiller attaches an owner's filler.
func (c *Collection) SetFiller(o Owner, f Filler) error {
	return attach(c, "filler", &c.hooks.fillers, o, f)
}

// SetObserver attaches an owner's observer.
func (c *Collection) SetObserver(o Owner, w Observer) error {
	return attach(c, "observer", &c.hooks.observers, o, w)
}

// SetDeleteGuard attaches an owner's delete guard.
func (c *Collection) SetDeleteGuard(o Owner, g DeleteGuard) error {
	return attach(c, "delete guard", &c.hooks.guards, o, g)
}

func attach[H comparable](c *Collection, kind string, hooks *[owners]H, o Owner, hook H) error {
	var none H
	if hooks[o] != none {
		return c.secondHook(kind, o.String(), o.String())
	}
	hooks[o] = hook
	return nil
}

// GuardPaths names members that a patch may not change.
func (c *Collection) GuardPaths(paths ...GuardedPath) {
	c.hooks.guarded = append(c.hooks.guarded, paths...)
}

// CheckExpiry refuses an entity that would end unseen by others which need to know.
func (c *Collection) CheckExpiry(entity any) error {
	if ttl := MetaOf(entity).TTL; c.hooks.mayNotExpire == "" || ttl == nil || *ttl < 1 {
		return nil
	}
	return &tenantitem.InvalidError{
		What: "ttl of " + c.entityType, Reason: c.hooks.mayNotExpire + ", and nobody gets to know that one expires",
		Hint: "leave TTL nil, and delete the document instead of letting it expire",
	}
}

// RefuseExpiry refuses entities with a time to live of their own, for a reason that
// [tenantitem.InvalidError] has.
func (c *Collection) RefuseExpiry(reason string) { c.hooks.mayNotExpire = reason }

// KeepFormerParents makes a change of a document's parent leave the old one in
// the document, see [MovedField].
func (c *Collection) KeepFormerParents() { c.hooks.keepsParents = true }

// SetTransactionHook says what changes in the same transaction as a document
// does. A second hook is refused.
func (c *Collection) SetTransactionHook(h TransactionHook) error {
	if c.hooks.transaction != nil && c.hooks.transaction != h {
		return c.secondHook("transaction hook", fmt.Sprintf("%T", c.hooks.transaction), fmt.Sprintf("%T", h))
	}
	c.hooks.transaction = h
	return nil
}

// SetDeletePolicy says what a delete does. The same policy may be set again;
// another one is refused, with the names of both owners.
func (c *Collection) SetDeletePolicy(p DeletePolicy) error {
	if c.hooks.policy != nil && c.hooks.policy != p {
		return c.secondHook("delete policy", c.hooks.policy.Owner(), p.Owner())
	}
	c.hooks.policy = p
	return nil
}

func (c *Collection) secondHook(what, first, second string) error {
	return &tenantitem.InvalidError{
		What: what + " of " + c.entityType, Reason: fmt.Sprintf("%s has set one, and %s sets another", first, second), Hint: "leave one of them out",
	}
}

// DeletePolicy returns what a delete does; nil where it removes the document.
func (c *Collection) DeletePolicy() DeletePolicy { return c.hooks.policy }

// NotSoftlyDeleted is the error of Restore and Purge where a delete leaves
// nothing.
func (c *Collection) NotSoftlyDeleted(verb string) error {
	return &tenantitem.InvalidError{
		What: verb, Reason: c.entityType + " is not deleted softly", Hint: "register it with registry.SoftDelete, or give parented.Policy a Retain",
	}
}

// GuardsDeletes reports whether each delete has to be looked at on its own.
func (c *Collection) GuardsDeletes() bool {
	return c.hooks.policy != nil || c.hooks.guards != [owners]DeleteGuard{}
}

// AllowDelete asks the guards whether a document may be deleted.
func (c *Collection) AllowDelete(ctx context.Context, d Deletion) error {
	for _, g := range c.hooks.guards {
		if g == nil {
			continue
		}
		if err := g.AllowDelete(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// SeesWrites reports whether any hook takes part before a write.
func (c *Collection) SeesWrites() bool {
	return c.hooks.validators != [owners]Validator{} || c.Fills()
}

// Fills reports whether any hook changes what is written.
func (c *Collection) Fills() bool { return c.hooks.fillers != [owners]Filler{} }

// Observed reports whether any hook takes part after a write.
func (c *Collection) Observed() bool { return c.hooks.observers != [owners]Observer{} }

// BeforeWrite lets hooks see entities before they are encoded.
func (c *Collection) BeforeWrite(ctx context.Context, w *Write) error {
	if err := c.Validate(ctx, w.TenantID, w.Entities...); err != nil {
		return err
	}
	return c.Fill(ctx, w)
}

// Validate lets the validators alone see entities.
func (c *Collection) Validate(ctx context.Context, tenant string, entities ...any) error {
	for _, entity := range entities { // a batch is encoded after requests of its hooks
		if err := c.CheckExpiry(entity); err != nil {
			return err
		}
	}
	for _, v := range c.hooks.validators {
		if v == nil {
			continue
		}
		if err := v.Validate(ctx, tenant, entities); err != nil {
			return err
		}
	}
	return nil
}

// inDoubt tells observers of the entities of operations whose outcome is not known.
func inDoubt(at *Partition, ops []Operation) {
	for _, op := range ops {
		if op.Entity == nil || op.collection == nil {
			continue
		}
		for _, o := range op.collection.hooks.observers {
			if o, ok := o.(DoubtObserver); ok {
				o.InDoubt(at.Tenant, []any{op.Entity})
			}
		}
	}
}

// Fill lets the fillers alone see them.
func (c *Collection) Fill(ctx context.Context, w *Write) error {
	for _, f := range c.hooks.fillers {
		if f == nil {
			continue
		}
		if err := f.Fill(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// AfterWrite lets hooks see entities that are stored.
func (c *Collection) AfterWrite(ctx context.Context, tenant string, entities []any, created bool) error {
	for _, o := range c.hooks.observers {
		if o == nil {
			continue
		}
		if err := o.Stored(ctx, tenant, entities, created); err != nil {
			return Foreign(err)
		}
	}
	return nil
}
