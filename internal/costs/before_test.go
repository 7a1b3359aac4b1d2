package costs

// cost is what a work cost before.
type cost struct {
	requests int
	units    float64
}

// before is what the works of the table cost in the library as it was first written: its code was run once
// with these files, against the emulator as it is now.
var before = map[string]cost{
	"create a child": {3, 9.90},
	"create the next child of the same parent":         {3, 9.90},
	"create a child in its parent's logical partition": {3, 9.90},
	"move a child to another parent":                   {4, 14.10},
	"append the first entry":                           {4, 13.07},
	"append an entry to a bucket with room":            {1, 12.00},
	"delete a parent with 0 children":                  {5, 28.34},
	"delete a parent with 1 child":                     {8, 42.81},
	"delete a parent with 100 children":                {8, 1151.60},
	"delete a parent with 1,000 children":              {19, 11236.10},

	"move a child whose parent can be restored":              {4, 14.10},
	"delete a parent with 101 children that can be restored": {8, 1281.55},
	"restore it": {7, 1198.57},

	"create a document with a copy":                           {2, 8.90},
	"replace it with another title":                           {2, 11.80},
	"replace it with another reference":                       {2, 11.80},
	"upsert it":                                               {2, 11.80},
	"follow a rename into 500 copies, and see them come back": {18, 5972.21},
	"audit 10,000 documents, all of them stale":               {30, 4013.39},
	"repair them":                                             {130, 115013.39},
	"repair 10,000 that are right":                            {30, 4266.45},

	"a minute of an idle keeper over 16 ranges":                          {1068, 2574.72},
	"a minute of the same keeper with a change each second in one range": {1188, 3320.01},
}
