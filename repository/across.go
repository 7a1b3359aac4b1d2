package repository

import "context"

func (r *Reader[T]) eachAcross(ctx context.Context, k *call, q Query, yield func(*T) bool) error {
	return ErrUnsupported
}
func (r *Reader[T]) pageAcross(ctx context.Context, k *call, q Query, from string, size int) (*Page[T], error) {
	return nil, ErrUnsupported
}
func (r *Reader[T]) countAcross(ctx context.Context, k *call, q Query) (int64, error) {
	return 0, ErrUnsupported
}
func projectAcross[V, T any](ctx context.Context, k *call, r *Reader[T], q Query, projection string, yield func(V) bool) error {
	return ErrUnsupported
}
