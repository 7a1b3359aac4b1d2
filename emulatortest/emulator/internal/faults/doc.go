// Package faults makes the emulator fail on purpose.
//
// A [Fault] says which requests it is for (operation, database, container, item, the n-th of them, a probability) and what
// becomes of them: an answer given before anything is done, an answer given or lost after it is done, a delay, a cut
// connection. A fault happens once unless told otherwise. A [Set] holds the faults of one emulator and decides for each request.
package faults
