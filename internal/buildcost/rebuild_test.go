// Package buildcost measures what a service's rebuild costs by the number of
// its entities.
package buildcost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"text/template"
	"time"
)

const program = "github.com/cosmosgrove/grove/internal/buildcost/program"

// entities is what an application has for each of its entities: a struct, its
// registration, and a service with a few verbs.
var entities = template.Must(template.New("entities").Parse(`package main

// build {{.Build}}

import (
	"context"

	"go.uber.org/fx"

	{{if or .Children .Buckets}}"github.com/cosmosgrove/grove/parented"{{end}}
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/repository"
	"github.com/cosmosgrove/grove/tenantitem"
)
{{range .Numbers}}
type Entity{{.}} struct {
	tenantitem.TenantItem[Entity{{.}}]
	Name  string   ` + "`json:\"name\"`" + `
	Count int      ` + "`json:\"count\"`" + `
	Tags  []string ` + "`json:\"tags\"`" + `
}

type Service{{.}} struct{ repo *repository.Repository[Entity{{.}}] }

func (s *Service{{.}}) Rename(ctx context.Context, tenant, id, name string) error {
	_, err := s.repo.In(tenant).Mutate(ctx, id, func(e *Entity{{.}}) error { e.Name = name; return nil })
	return err
}

func (s *Service{{.}}) Add(ctx context.Context, tenant string, e *Entity{{.}}) (*Entity{{.}}, error) {
	if err := s.repo.In(tenant).Create(ctx, e); err != nil {
		return nil, err
	}
	return s.repo.In(tenant).Get(ctx, e.ID)
}

func (s *Service{{.}}) Names(ctx context.Context, tenant string) (names []string, err error) {
	for e, err := range s.repo.In(tenant).Query(ctx, repository.Where(repository.Gt("count", 1))) {
		if err != nil {
			return nil, err
		}
		names = append(names, e.Name)
	}
	return names, nil
}
{{end}}
{{range .Children}}
type Child{{.}} struct {
	parented.ParentedItem[Child{{.}}, Entity{{.}}]
	Name  string   ` + "`json:\"name\"`" + `
	Count int      ` + "`json:\"count\"`" + `
	Tags  []string ` + "`json:\"tags\"`" + `
}

type Children{{.}} struct{ repo *parented.Repository[Child{{.}}, Entity{{.}}] }

func (s *Children{{.}}) Rename(ctx context.Context, tenant, id, name string) error {
	_, err := s.repo.In(tenant).Mutate(ctx, id, func(e *Child{{.}}) error { e.Name = name; return nil })
	return err
}

func (s *Children{{.}}) Add(ctx context.Context, parent *Entity{{.}}, e *Child{{.}}) (*Child{{.}}, error) {
	if err := s.repo.Under(parent).Create(ctx, e); err != nil {
		return nil, err
	}
	return s.repo.Under(parent).Get(ctx, e.ID)
}

func (s *Children{{.}}) Names(ctx context.Context, parent *Entity{{.}}) (names []string, err error) {
	for e, err := range s.repo.Under(parent).Query(ctx, repository.Where(repository.Gt("count", 1))) {
		if err != nil {
			return nil, err
		}
		names = append(names, e.Name)
	}
	return names, nil
}

func (s *Children{{.}}) Move(ctx context.Context, tenant, id string, to tenantitem.Ref[Entity{{.}}]) error {
	return s.repo.Move(ctx, tenant, id, to)
}
{{end}}
{{range .Buckets}}
type Line{{.}} struct {
	Text  string ` + "`json:\"text\"`" + `
	Count int    ` + "`json:\"count\"`" + `
}

type Lines{{.}} struct{ buckets *parented.Buckets[Line{{.}}, Entity{{.}}] }

func (s *Lines{{.}}) Add(ctx context.Context, parent *Entity{{.}}, l Line{{.}}) error {
	_, err := s.buckets.Under(parent).Append(ctx, l)
	return err
}

func (s *Lines{{.}}) All(ctx context.Context, parent *Entity{{.}}) (texts []string, err error) {
	for e, err := range s.buckets.Under(parent).OldestFirst(ctx) {
		if err != nil {
			return nil, err
		}
		texts = append(texts, e.Value.Text)
	}
	return texts, nil
}
{{end}}
func entities() []fx.Option {
	return []fx.Option{
{{- range .Buckets}}
		registry.Buckets[Line{{.}}, Entity{{.}}](parented.Cascade),
		fx.Provide(func(b *parented.Buckets[Line{{.}}, Entity{{.}}]) *Lines{{.}} { return &Lines{{.}}{b} }),
		fx.Invoke(func(*Lines{{.}}) {}),
{{- end}}
{{- range .Children}}
		registry.Child[Child{{.}}, Entity{{.}}](parented.Cascade),
		fx.Provide(func(r *parented.Repository[Child{{.}}, Entity{{.}}]) *Children{{.}} { return &Children{{.}}{r} }),
		fx.Invoke(func(*Children{{.}}) {}),
{{- end}}
{{- range .Numbers}}
		registry.Entity[Entity{{.}}](),
		fx.Provide(func(r *repository.Repository[Entity{{.}}]) *Service{{.}} { return &Service{{.}}{r} }),
		fx.Invoke(func(*Service{{.}}) {}),
{{- end}}
	}
}
`))

// BenchmarkRebuild compiles and links a service of 1 and of 40 entities, and one of 1 and of 20 with a child, or
// with a bucket, each, after a change of its own package, with everything else in the build cache, and
// reports the processor time of the go command and all that it starts. Of all
// rebuilds the best counts.
//
//	go test ./internal/buildcost -run '^$' -bench Rebuild -benchtime 3x
func BenchmarkRebuild(b *testing.B) {
	dir := b.TempDir()
	for name, tc := range map[string]struct {
		many int
		with string
	}{"entities=1 and 40": {40, ""}, "entities with a child=1 and 20": {20, "Children"}, "entities with a bucket=1 and 20": {20, "Buckets"}} {
		b.Run(name, func(b *testing.B) {
			few, many := time.Duration(0), time.Duration(0)
			rebuild(b, dir, 1, tc.with, -1) // fills the build cache
			for n := range b.N {
				few = least(few, rebuild(b, dir, 1, tc.with, n))
				many = least(many, rebuild(b, dir, tc.many, tc.with, n))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(few.Seconds(), "s-of-1")
			b.ReportMetric(many.Seconds(), fmt.Sprintf("s-of-%d", tc.many))
			b.ReportMetric(many.Seconds()/few.Seconds(), "ratio")
		})
	}
}

func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// rebuild builds a service that was never built before, and returns the
// processor time.
func rebuild(tb testing.TB, dir string, entityCount int, with string, build int) time.Duration {
	tb.Helper()
	generated := filepath.Join(dir, "entities.go")
	var code bytes.Buffer
	numbers := make([]int, entityCount)
	for i := range numbers {
		numbers[i] = i
	}
	values := map[string]any{"Numbers": numbers, "Build": fmt.Sprint(time.Now().UnixNano(), build)}
	if with != "" {
		values[with] = numbers
	}
	if err := entities.Execute(&code, values); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(generated, code.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
	place, err := exec.CommandContext(tb.Context(), "go", "list", "-f", "{{.Dir}}", program).Output()
	if err != nil {
		tb.Fatal(err)
	}
	replaced := map[string]any{"Replace": map[string]string{filepath.Join(string(bytes.TrimSpace(place)), "entities.go"): generated}}
	text, err := json.Marshal(replaced)
	if err != nil {
		tb.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-overlay", overlay, "-o", filepath.Join(dir, "service"), program)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// TestTheServiceBuilds keeps the generated program compiling.
func TestTheServiceBuilds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles and links a program")
	}
	for _, with := range []string{"Children", "Buckets"} {
		rebuild(t, t.TempDir(), 2, with, 0)
	}
}
