package denorm_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/cosmosgrove/grove/emulatortest"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Grade is a text that may not be empty.
type Grade string

func (g *Grade) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("a grade is a letter")
	}
	*g = Grade(text)
	return nil
}

func (g Grade) MarshalText() ([]byte, error) { return []byte(g), nil }

// Medal is one of several, and nothing else can be written.
type Medal int

func (m Medal) MarshalText() ([]byte, error) {
	if m < 1 || m > 3 {
		return nil, errors.New("no such medal")
	}
	return []byte("x" + string(rune('0'+m))), nil
}

func (m *Medal) UnmarshalText(text []byte) error {
	if len(text) != 2 || text[0] != 'x' {
		return errors.New("no such medal")
	}
	*m = Medal(text[1] - '0')
	return nil
}

// Exam is copied into its papers, as each of its types can be declared.
type Exam struct {
	tenantitem.TenantItem[Exam]
	ClosedAt *time.Time `json:"closedAt"`
	Points   *int       `json:"points"`
	Limit    int        `json:"limit"`
	Room     *string    `json:"room,omitempty"`
	Lists    *[]int     `json:"lists"`
	Deep     **bool     `json:"deep"`
	Grade    Grade      `json:"grade,omitempty"`
	Medal    Medal      `json:"medal,omitempty"`
	Serial   int64      `json:"serial,string"`
	Passed   *bool      `json:"passed,string"`
}

type ExamSheet struct {
	tenantitem.TenantItem[ExamSheet]
	ExamID    tenantitem.Ref[Exam] `json:"examId,omitempty"`
	ClosedAt  *time.Time           `json:"closedAt" denorm:"sync,ref=examId,field=closedAt"`
	ClosedNow time.Time            `json:"closedNow" denorm:"sync,ref=examId,field=closedAt"`
	Points    *int                 `json:"points" denorm:"sync,ref=examId,field=points"`
	Limit     *int                 `json:"limit" denorm:"sync,ref=examId,field=limit"`
	Room      *string              `json:"room,omitempty" denorm:"sync,ref=examId,field=room"`
	Lists     *[]int               `json:"lists" denorm:"sync,ref=examId,field=lists"`
	Deep      **bool               `json:"deep" denorm:"sync,ref=examId,field=deep"`
	Grade     Grade                `json:"grade,omitempty" denorm:"sync,ref=examId,field=grade"`
	Medal     Medal                `json:"medal,omitempty" denorm:"sync,ref=examId,field=medal"`
	MedalThen Medal                `json:"medalThen,omitzero" denorm:"snapshot,ref=examId,field=medal"`
	Serial    int64                `json:"serial,string" denorm:"sync,ref=examId,field=serial"`
	Passed    *bool                `json:"passed,string" denorm:"sync,ref=examId,field=passed"`
	Then      *time.Time           `json:"then,omitempty" denorm:"snapshot,ref=examId,field=closedAt"`
	SerialOf  int64                `json:"serialOf,string" denorm:"snapshot,ref=examId,field=serial"`
	Parts     []ExamPart           `json:"parts,omitempty"`
}

type ExamPart struct {
	ExamID tenantitem.Ref[Exam] `json:"examId"`
	Medal  Medal                `json:"medal,omitempty" denorm:"snapshot,ref=examId,field=medal"`
	Points *int                 `json:"points,omitempty" denorm:"sync,ref=examId,field=points"`
	Serial int64                `json:"serial,string" denorm:"sync,ref=examId,field=serial"`
}

func examFields(e Exam) [10]any {
	return [...]any{e.ClosedAt, e.Points, e.Limit, e.Room, e.Lists, e.Deep, e.Grade, e.Serial, e.Passed, e.Medal}
}

// A copy is what its source says, in every type that both can be declared with.
func TestCopiesOfPointersAndTexts(t *testing.T) {
	t.Parallel()
	noon, no := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), new(bool)
	states := map[string]Exam{
		"nothing":    {},
		"zeros":      {ClosedAt: new(time.Time), Points: new(int), Room: new(string), Lists: &[]int{}, Deep: &no, Passed: new(bool)},
		"everything": {ClosedAt: &noon, Points: pointer(7), Limit: 3, Room: pointer("A"), Lists: &[]int{1}, Deep: pointer(pointer(true)), Grade: "B", Medal: 2, Serial: 1 << 60, Passed: pointer(true)},
	}
	for from, before := range states {
		for to, after := range states {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				ctx := t.Context()
				db, keeper := openOf(t, emulatortest.New(t), []string{"/tenantId"}, []registry.Declaration{registry.EntityOf[Exam](registry.In("shop")), registry.EntityOf[ExamSheet](registry.In("shop"))})
				exams, papers := repo[Exam](t, db).In(acme), repo[ExamSheet](t, db).In(acme)
				exam := before
				noError(t, exams.Create(ctx, &exam))
				paper, bare := &ExamSheet{ExamID: exam.Ref(), Parts: []ExamPart{{}, {ExamID: exam.Ref()}}}, &ExamSheet{}
				noError(t, papers.Create(ctx, paper))
				noError(t, papers.Create(ctx, bare))
				same := func(when string, want Exam) {
					t.Helper()
					got, err := papers.Get(ctx, paper.ID)
					noError(t, err)
					copies := Exam{ClosedAt: got.ClosedAt, Points: got.Points, Limit: *got.Limit, Room: got.Room, Lists: got.Lists, Deep: got.Deep, Grade: got.Grade, Medal: got.Medal, Serial: got.Serial, Passed: got.Passed}
					if have, want := examFields(copies), examFields(want); !reflect.DeepEqual(have, want) {
						t.Errorf("%s: %+v, want %+v", when, copies, want)
					}
					var now time.Time
					if want.ClosedAt != nil {
						now = *want.ClosedAt
					}
					if !got.ClosedNow.Equal(now) || !reflect.DeepEqual(got.Then, before.ClosedAt) || got.SerialOf != before.Serial || got.MedalThen != before.Medal {
						t.Errorf("%s: %v, %v, %d", when, got.ClosedNow, got.Then, got.SerialOf)
					}
					if p := got.Parts; p[0].Points != nil || p[0].Serial != 0 || p[0].Medal != 0 || p[1].Medal != before.Medal || !reflect.DeepEqual(p[1].Points, want.Points) || p[1].Serial != want.Serial {
						t.Errorf("%s: the parts %+v, want %+v", when, p, want)
					}
				}
				same("created", before)
				_, err := exams.Mutate(ctx, exam.ID, func(e *Exam) error {
					meta := e.TenantItem
					*e = after
					e.TenantItem = meta
					return nil
				})
				noError(t, err)
				noError(t, keeper.CatchUp(ctx))
				same("followed", after)
				_, err = papers.Mutate(ctx, paper.ID, func(*ExamSheet) error { return nil })
				noError(t, err)
				same("written again", after)
				progress, err := keeper.Repair(ctx, acme, nil)
				if err != nil || progress.Repaired != 0 || progress.Skipped != 0 {
					t.Errorf("Repair: %+v, %v", progress, err)
				}
				got, err := papers.Get(ctx, bare.ID)
				noError(t, err)
				if want := (&ExamSheet{TenantItem: got.TenantItem}); !reflect.DeepEqual(got, want) {
					t.Errorf("without a source: %+v", got)
				}
				// Without its reference nothing is left of the source.
				left, err := papers.Mutate(ctx, paper.ID, func(p *ExamSheet) error { p.ExamID = ""; return nil })
				noError(t, err)
				if left.ClosedAt != nil || left.Points != nil || left.Limit != nil || left.Room != nil || left.Lists != nil || left.Deep != nil || left.Grade != "" || left.Medal != 0 || left.Serial != 0 || left.Passed != nil || !left.ClosedNow.IsZero() {
					t.Errorf("without its reference: %+v", left)
				}
				noError(t, keeper.CatchUp(ctx))
				for drift, err := range keeper.Audit(ctx, acme) {
					t.Errorf("%v %v", drift, err)
				}
			})
		}
	}
}

func pointer[T any](v T) *T { return &v }
