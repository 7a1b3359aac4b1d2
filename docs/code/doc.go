// Package code holds the code of the pages: every Go block of docs is a part of a file here, or elsewhere in the
// repository, and runs with the tests. A block of a page names its file and part in a comment in front of it.
package code
