// Package vector knows how close two vectors are, and what a container's policies say of it.
//
// A container's vectorEmbeddingPolicy names, for the paths that hold vectors, the type of their numbers and the function
// that compares them. VectorDistance in a query follows it, unless an option of the call names another function; for a
// path without a policy it is cosine similarity. Greater is more similar for cosine and dot product, less for the
// Euclidean distance, and ORDER BY VectorDistance always begins with the most similar.
//
// Distances are always computed: no index gives approximate ones.
package vector
