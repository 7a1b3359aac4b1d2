// Package denorm keeps declared copies true.
package denorm
