package denorm_test

import (
	"time"

	"github.com/cosmosgrove/grove/denorm"
	"github.com/cosmosgrove/grove/parented"
	"github.com/cosmosgrove/grove/registry"
	"github.com/cosmosgrove/grove/tenantitem"
)

// Dotted has members whose names can't be told from the steps of a path.
type Dotted struct {
	tenantitem.TenantItem[Dotted]
	Name  string                `json:"full.name"`
	City  string                `json:"city"`
	Count int                   `json:"line.count"`
	Sound int                   `json:"lines"`
	Last  []DottedCard          `json:"last"`
	Dots  []SoundCard           `json:"last.lines"`
	Lines []tenantitem.Ref[Dot] `json:"line.ids"`
	Inner DottedAddress         `json:"home.address"`
	Many  []DottedAddress       `json:"all[]"`
}

type DottedAddress struct {
	City string `json:"city"`
}

type DottedCard struct {
	Title string `json:"the.title"`
}

type SoundCard struct {
	ID tenantitem.Ref[Dot] `json:"id"`
}

// Dot refers to it.
type Dot struct {
	tenantitem.TenantItem[Dot]
	OwnerID tenantitem.Ref[Dotted]   `json:"ownerId,omitempty"`
	OtherID tenantitem.Ref[Dotted]   `json:"other.id,omitempty"`
	Owners  []tenantitem.Ref[Dotted] `json:"owners,omitempty"`
	Title   string                   `json:"the.title"`
}

// dotted is an entity with copies of a Dotted.
type dotted[L any] struct {
	tenantitem.TenantItem[dotted[L]]
	In L `json:"at"`
}

type (
	dottedSource struct {
		ID   tenantitem.Ref[Dotted] `json:"ownerId"`
		Name string                 `json:"name" denorm:"sync,ref=ownerId,field=full.name"`
	}
	dottedSourceBelow struct {
		ID   tenantitem.Ref[Dotted] `json:"ownerId"`
		Name string                 `json:"name" denorm:"snapshot,ref=ownerId,field=home.address.city"`
	}
	dottedCopy struct {
		ID   tenantitem.Ref[Dotted] `json:"ownerId"`
		Name string                 `json:"owner.city" denorm:"snapshot,ref=ownerId,field=city"`
	}
	dottedRef struct {
		ID   tenantitem.Ref[Dotted] `json:"owner.id"`
		Name string                 `json:"name" denorm:"sync,ref=owner.id,field=city"`
	}
	soundCopy struct {
		ID   tenantitem.Ref[Dotted] `json:"ownerId"`
		Name string                 `json:"name" denorm:"sync,ref=ownerId,field=city"`
	}
	dottedHolder struct {
		Line soundCopy `json:"order.line"`
	}
	dottedHolders struct {
		In struct {
			Lines []soundCopy `json:"order.lines"`
		} `json:"in"`
	}
	bracketedHolders struct {
		Lines []soundCopy `json:"lines[]"`
	}
)

func declarationsOfOddNames() map[string]cantWork {
	named := func(entity ...registry.Declaration) []registry.Declaration {
		return append(entity, registry.EntityOf[Dotted](), registry.EntityOf[Dot]())
	}
	const rename = `(give it another json tag`
	return map[string]cantWork{
		"a copy of a dotted field":          {named(registry.EntityOf[dotted[dottedSource]]()), nil, `"full.name" of Dotted ` + oddName + rename},
		"a copy of a field below one":       {named(registry.EntityOf[dotted[dottedSourceBelow]]()), nil, `"home.address" of Dotted ` + oddName + rename},
		"a copy in a dotted field":          {named(registry.EntityOf[dotted[dottedCopy]]()), nil, `"owner.city" of dotted ` + oddName + rename},
		"a copy through a dotted reference": {named(registry.EntityOf[dotted[dottedRef]]()), nil, `"owner.id" of dotted ` + oddName + rename},
		"a copy below a dotted field":       {named(registry.EntityOf[dotted[dottedHolder]]()), nil, `"order.line" of dotted ` + oddName + rename},
		"copies below a dotted array":       {named(registry.EntityOf[dotted[dottedHolders]]()), nil, `"order.lines" of dotted ` + oddName + rename},
		"copies below an array with []":     {named(registry.EntityOf[dotted[bracketedHolders]]()), nil, `"lines[]" of dotted ` + oddName + rename},
		"a count in a dotted field":         {named(), []denorm.Declaration{denorm.CountOf[Dotted, Dot]("line.count", "ownerId")}, `"line.count" of Dotted ` + oddName + rename},
		"a count by a dotted reference":     {named(), []denorm.Declaration{denorm.CountOf[Dotted, Dot]("lines", "other.id")}, `"other.id" of Dot ` + oddName + rename},
		"the newest in a dotted field":      {named(), []denorm.Declaration{denorm.RecentOf[Dotted, Dot]("last.lines", 2, "ownerId")}, `"last.lines" of Dotted ` + oddName + rename},
		"the newest by a dotted reference":  {named(), []denorm.Declaration{denorm.RecentOf[Dotted, Dot]("last", 2, "other.id")}, `"other.id" of Dot ` + oddName + rename},
		"cards with a dotted field":         {named(), []denorm.Declaration{denorm.RecentOf[Dotted, Dot]("last", 2, "ownerId")}, `"the.title" of DottedCard ` + oddName + rename},
		"a link with a dotted field":        {named(), []denorm.Declaration{denorm.LinkOf[Dotted, Dot]("line.ids", "owners")}, `"line.ids" of Dotted ` + oddName + rename},
		"a link to a dotted field":          {named(), []denorm.Declaration{denorm.LinkOf[Dot, Dotted]("owners", "line.ids")}, `"line.ids" of Dotted ` + oddName + rename},
		"a rule for a dotted reference":     {named(), []denorm.Declaration{denorm.OnDeleteOf[Dot, Dotted]("other.id", denorm.Restrict)}, `"other.id" of Dot ` + oddName + rename},
	}
}

const oddName = `has a dot in its name, or [] behind it `

// Club keeps fields of every kind, and Fan follows it.
type Club struct {
	tenantitem.TenantItem[Club]
	Name   string                 `json:"name"`
	Size   int                    `json:"size"`
	Few    int16                  `json:"few"`
	All    uint64                 `json:"members"`
	Serial int                    `json:"serial,string"`
	Cards  []NumberCard           `json:"numbers"`
	Fans   []tenantitem.Ref[Fan]  `json:"fans,omitempty"`
	Last   []FanCard              `json:"last"`
	Fixed  [3]FanCard             `json:"fixed"`
	Couple [2]tenantitem.Ref[Fan] `json:"couple"`
	BestID tenantitem.Ref[Fan]    `json:"bestId,omitempty"`
	Flags  []tenantitem.Ref[Flag] `json:"flags"`
}

type FanCard struct {
	ID tenantitem.Ref[Fan] `json:"id"`
}

// NumberCard has a number as text, which a fan has not.
type NumberCard struct {
	Number int `json:"number,string"`
}

type Fan struct {
	tenantitem.TenantItem[Fan]
	Number string                 `json:"number"`
	ClubID tenantitem.Ref[Club]   `json:"clubId,omitempty"`
	Clubs  []tenantitem.Ref[Club] `json:"clubs,omitempty"`
}

// copiedNumber is an entity with a copy of one of a club's numbers.
type copiedNumber[C any] struct {
	tenantitem.TenantItem[copiedNumber[C]]
	Copy C `json:"copy"`
}

type (
	plainSerial struct {
		ClubID tenantitem.Ref[Club] `json:"clubId"`
		Serial int                  `json:"serial" denorm:"sync,ref=clubId,field=serial"`
	}
	quotedSize struct {
		ClubID tenantitem.Ref[Club] `json:"clubId"`
		Size   int                  `json:"size,string" denorm:"sync,ref=clubId,field=size"`
	}
)

// Mascot has copies of every type of field.
type Mascot struct {
	tenantitem.TenantItem[Mascot]
	ClubID  tenantitem.Ref[Club]   `json:"clubId,omitempty"`
	Size    int                    `json:"size" denorm:"sync,ref=clubId,field=size"`
	Then    int                    `json:"then" denorm:"snapshot,ref=clubId,field=size"`
	Last    []FanCard              `json:"last" denorm:"sync,ref=clubId,field=last"`
	Flags   []tenantitem.Ref[Flag] `json:"flags" denorm:"snapshot,ref=clubId,field=flags"`
	BestID  tenantitem.Ref[Fan]    `json:"bestId,omitempty" denorm:"sync,ref=clubId,field=bestId"`
	Own     int                    `json:"own"`
	Friends []Friend               `json:"friends"`
}

type Friend struct {
	ID   tenantitem.Ref[Club] `json:"id"`
	Name string               `json:"name" denorm:"sync,ref=id,field=name"`
}

// Flag refers to mascots, and is linked with them.
type Flag struct {
	tenantitem.TenantItem[Flag]
	MascotID tenantitem.Ref[Mascot]   `json:"mascotId,omitempty"`
	Mascots  []tenantitem.Ref[Mascot] `json:"mascots,omitempty"`
	Sewn     int                      `json:"sewn"`
	Name     string                   `json:"name"`
}

// Song is a copy of a struct with copies in it, and Choir of a reference that copies are made through.
type Song struct {
	tenantitem.TenantItem[Song]
	MascotID tenantitem.Ref[Mascot] `json:"mascotId"`
	Friends  []Friend               `json:"friends" denorm:"sync,ref=mascotId,field=friends"`
}

type Choir struct {
	tenantitem.TenantItem[Choir]
	MascotID tenantitem.Ref[Mascot] `json:"mascotId"`
	BestID   tenantitem.Ref[Fan]    `json:"bestId" denorm:"sync,ref=mascotId,field=bestId"`
	BestClub tenantitem.Ref[Club]   `json:"bestClub" denorm:"snapshot,ref=bestId,field=clubId"`
}

// Parrot is a copy of its own reference.
type Parrot struct {
	tenantitem.TenantItem[Parrot]
	MascotID tenantitem.Ref[Fan] `json:"bestId" denorm:"sync,ref=bestId,field=id"`
}

func declarationsOfKeptFields() map[string]cantWork {
	club := []registry.Declaration{
		registry.EntityOf[Club](), registry.EntityOf[Fan](), registry.EntityOf[Mascot](), registry.EntityOf[Flag](),
	}
	with := func(more registry.Declaration) []registry.Declaration {
		return append(club[:len(club):len(club)], more)
	}
	const (
		other = "is kept by another declaration, "
		grove = "is kept by Grove itself"
	)
	count := denorm.CountOf[Club, Fan]("size", "clubId")
	newest := denorm.RecentOf[Club, Fan]("last", 2, "clubId")
	link := denorm.LinkOf[Club, Fan]("fans", "clubs")
	cleared := denorm.OnDeleteOf[Club, Fan]("bestId", denorm.Clear)
	return map[string]cantWork{
		"a count in a synced copy":             {club, []denorm.Declaration{denorm.CountOf[Mascot, Flag]("size", "mascotId")}, `"size" ` + other + "the denorm tag"},
		"a count in a snapshot":                {club, []denorm.Declaration{denorm.CountOf[Mascot, Flag]("then", "mascotId")}, `"then" ` + other + "the denorm tag"},
		"the newest in a copy":                 {club, []denorm.Declaration{denorm.RecentOf[Mascot, Flag]("last", 2, "mascotId")}, `"last" ` + other + "the denorm tag"},
		"the newest in an array with copies":   {club, []denorm.Declaration{denorm.RecentOf[Mascot, Flag]("friends", 2, "mascotId")}, `"friends[].name" ` + other + "the denorm tag"},
		"a link in a copy":                     {club, []denorm.Declaration{denorm.LinkOf[Mascot, Flag]("flags", "mascots")}, `"flags" ` + other + "the denorm tag"},
		"a copy of a struct with copies":       {with(registry.EntityOf[Song]()), nil, `"friends" ` + other + "the denorm tag"},
		"copies through a copied reference":    {with(registry.EntityOf[Choir]()), nil, `the reference "bestId" is a copy itself`},
		"a copy of its own reference":          {with(registry.EntityOf[Parrot]()), nil, `the reference "bestId" is a copy itself`},
		"a rule that clears a copy":            {club, []denorm.Declaration{denorm.OnDeleteOf[Mascot, Fan]("bestId", denorm.Clear)}, `"bestId" ` + other + "the denorm tag"},
		"two counts of one field":              {club, []denorm.Declaration{count, denorm.CountOf[Club, Fan]("size", "clubs")}, `"size" ` + other + "denorm.Count[Club, Fan]"},
		"a count twice":                        {club, []denorm.Declaration{count, count}, `"size" ` + other + "denorm.Count[Club, Fan]"},
		"two newest of one field":              {club, []denorm.Declaration{newest, denorm.RecentOf[Club, Fan]("last", 3, "clubs")}, `"last" ` + other + "denorm.Recent[Club, Fan]"},
		"a link twice":                         {club, []denorm.Declaration{link, link}, `"fans" ` + other + "denorm.Link[Club, Fan]"},
		"a link and its inverse":               {club, []denorm.Declaration{link, denorm.LinkOf[Fan, Club]("clubs", "fans")}, `"clubs" ` + other + "denorm.Link[Club, Fan]"},
		"the newest in a linked field":         {club, []denorm.Declaration{link, denorm.RecentOf[Club, Fan]("fans", 2, "clubId")}, "make it a slice of a struct"},
		"a count in a small number":            {club, []denorm.Declaration{denorm.CountOf[Club, Fan]("few", "clubId")}, "make it an int"},
		"a count that can't be negative":       {club, []denorm.Declaration{denorm.CountOf[Club, Fan]("members", "clubId")}, `"members" is a uint64 (make it an int)`},
		"a number of what is stored as text":   {with(registry.EntityOf[copiedNumber[plainSerial]]()), nil, "is stored as text"},
		"a text of a number":                   {with(registry.EntityOf[copiedNumber[quotedSize]]()), nil, "is stored as text"},
		"a card's number of a text":            {club, []denorm.Declaration{denorm.RecentOf[Club, Fan]("numbers", 2, "clubId")}, "give both fields the same type"},
		"a count in the key":                   {[]registry.Declaration{registry.EntityOf[Club](registry.In("sizes")), registry.EntityOf[Fan](), registry.EntityOf[Mascot](), registry.EntityOf[Flag]()}, []denorm.Declaration{count}, "part of the partition key"},
		"a count in the time to live":          {club, []denorm.Declaration{denorm.CountOf[Club, Fan]("ttl", "clubId")}, `"ttl" ` + grove},
		"a count in the time of the write":     {club, []denorm.Declaration{denorm.CountOf[Club, Fan]("_ts", "clubId")}, `"_ts" ` + grove},
		"the newest in an array of a length":   {club, []denorm.Declaration{denorm.RecentOf[Club, Fan]("fixed", 3, "clubId")}, "make it a slice"},
		"a link in an array of a length":       {club, []denorm.Declaration{denorm.LinkOf[Club, Fan]("couple", "clubs")}, "[]tenantitem.Ref[Fan]"},
		"a rule that clears a parent":          {nil, []denorm.Declaration{denorm.OnDeleteOf[Comment, Task]("parentId", denorm.Clear)}, `"parentId" ` + grove},
		"two rules for one reference":          {club, []denorm.Declaration{cleared, denorm.OnDeleteOf[Club, Fan]("bestId", denorm.Restrict)}, `"bestId" has another rule, denorm.OnDelete[Club, Fan]`},
		"a rule twice":                         {club, []denorm.Declaration{cleared, cleared}, `"bestId" has another rule`},
		"a rule that keeps, and one that does": {club, []denorm.Declaration{denorm.OnDeleteOf[Fan, Club]("clubId", denorm.Keep), denorm.OnDeleteOf[Fan, Club]("clubId", denorm.Restrict)}, `"clubId" has another rule`},
	}
}

// What expires is deleted by nobody, and no one is asked.
func declarationsOfWhatExpires() map[string]cantWork {
	expiring := []registry.Declaration{registry.EntityOf[Club](), registry.EntityOf[Fan](registry.TTL(time.Hour))}
	inShort := []registry.Declaration{registry.EntityOf[Club](), registry.EntityOf[Fan](registry.In("short"))}
	child := []registry.Declaration{registry.EntityOf[Person](), registry.EntityOf[Team](), registry.EntityOf[Task](registry.In("tasks"), registry.TTL(time.Hour)), registry.ChildOf[Comment, Task](parented.Cascade, registry.TTL(time.Hour)), registry.EntityOf[Label](), registry.EntityOf[Pin]()}
	rule := func(action denorm.DeleteAction) []denorm.Declaration {
		return []denorm.Declaration{denorm.OnDeleteOf[Club, Fan]("bestId", action)}
	}
	const expire = "documents of Fan expire, "
	return map[string]cantWork{
		"what expires is cleared":                {expiring, rule(denorm.Clear), expire + "which nobody gets to know (delete them instead of letting them expire, or use denorm.Keep)"},
		"what expires is restricted":             {expiring, rule(denorm.Restrict), expire + "whatever refers to them (delete them instead of letting them expire, or use denorm.Keep)"},
		"what expires by a container's default":  {inShort, rule(denorm.Clear), `documents of container "short" expire`},
		"what is restricted and expires by that": {inShort, rule(denorm.Restrict), `documents of container "short" expire`},
		"a parent that expires is restricted":    {child, []denorm.Declaration{denorm.OnDeleteOf[Pin, Task]("taskId", denorm.Restrict)}, "documents of Task expire, "},
		"the newest of what expires":             {expiring, []denorm.Declaration{denorm.RecentOf[Club, Fan]("last", 2, "clubId")}, expire},
		"a link with what expires":               {expiring, []denorm.Declaration{denorm.LinkOf[Club, Fan]("fans", "clubs")}, expire},
	}
}
