package store

// KeyTokens gives the property names along each of the partition key's paths, one list to a level. They must not be changed.
func (d *Definition) KeyTokens() [][]string { return d.keyTokens }
