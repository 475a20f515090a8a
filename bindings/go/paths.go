package apsis

// #include "bridge.h"
import "C"

import "unsafe"

// Path is a path.  Pixels are indices, and lengths are in units of spacing.
type Path struct {
	Start      int64 // the pixel at which it begins
	Seed       int64 // the nearest seed, at which it ends; -1: there is no path
	First      int64 // where in the pixels of all paths its own begin, from the start to the seed,
	Count      int64 // and how many there are; 0: there is no path
	Length     float64
	Cost       float64 // without costs, its length
	Straight   float64 // the Euclidean distance between its ends
	Tortuosity float64 // Length / Straight; 1 where the start is the seed
}

// The library writes into slices of these.
var _ [C.sizeof_apsis_path]byte = [unsafe.Sizeof(Path{})]byte{}

// CostDistance is the least cost of a path from a seed to every pixel, and which seed that is.  With None as the set paths may
// go everywhere.  Either output may be None.
func (c *Context) CostDistance(set, costs, seeds, distance, nearest Image, options *Options) error {
	if err := wrongOf("set", set, "costs", costs, "seeds", seeds, "distance", distance, "nearest", nearest); err != nil {
		return err
	}
	return c.check(C.bridge_cost_distance(c.handle, set.is, set.data, costs.is, costs.data, seeds.is, seeds.data, distance.is,
		distance.data, nearest.is, nearest.data, options.forC()))
}

// Paths are the shortest paths from some pixels to their nearest seeds, with costs those of least cost, and the pixels of all
// of them, path after path.  The set, the costs, or both may be None.
func (c *Context) Paths(set, costs, seeds Image, starts []int64, options *Options) ([]Path, []int64, error) {
	if err := wrongOf("set", set, "costs", costs, "seeds", seeds); err != nil {
		return nil, nil, err
	}
	if len(starts) == 0 {
		return nil, nil, nil
	}
	paths, pixels, n := make([]Path, len(starts)), make([]int64, room), C.int64_t(room)
	for {
		err := c.check(C.bridge_paths(c.handle, set.is, set.data, costs.is, costs.data, seeds.is, seeds.data,
			(*C.int64_t)(unsafe.Pointer(&starts[0])), C.int64_t(len(starts)), (*C.apsis_path)(unsafe.Pointer(&paths[0])),
			(*C.int64_t)(unsafe.Pointer(&pixels[0])), C.int64_t(len(pixels)), &n, options.forC()))
		if err != nil {
			return nil, nil, err
		}
		if int(n) <= len(pixels) {
			return paths, pixels[:n], nil
		}
		pixels = make([]int64, n)
	}
}

// LongestPaths are the longest of the shortest paths in each component, and the pixels of all of them, path after path.
func (c *Context) LongestPaths(set Image, options *Options) ([]Path, []int64, error) {
	if err := wrongOf("set", set); err != nil {
		return nil, nil, err
	}
	paths, pixels, m, n := make([]Path, room), make([]int64, room), C.int64_t(0), C.int64_t(0)
	for {
		err := c.check(C.bridge_longest_paths(c.handle, set.is, set.data, (*C.apsis_path)(unsafe.Pointer(&paths[0])),
			C.int64_t(len(paths)), &m, (*C.int64_t)(unsafe.Pointer(&pixels[0])), C.int64_t(len(pixels)), &n, options.forC()))
		if err != nil {
			return nil, nil, err
		}
		if int(m) <= len(paths) && int(n) <= len(pixels) {
			return paths[:m], pixels[:n], nil
		}
		paths, pixels = make([]Path, m+1), make([]int64, n+1)
	}
}
