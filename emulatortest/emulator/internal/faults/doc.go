// Package faults makes the emulator fail on purpose.
//
// A [Fault] says which requests it is for (operation, client, database, container, item, the n-th of them, a probability) and
// what becomes of them: an answer given before anything is done, an answer given or lost after it is done, an effect that
// comes later than the answer, a delay, a cut connection, a killed or suspended client, a read from a replica that is
// behind, an empty or short page, a split or merge. A fault happens once unless told otherwise, and prints itself as Go code. A
// [Set] holds the faults of one emulator and decides for each request.
package faults
