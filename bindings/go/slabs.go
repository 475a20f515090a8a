package apsis

// #include <stdlib.h>
// #include "bridge.h"
import "C"

import (
	"fmt"
	"math"
	"unsafe"
)

// An image too large for one memory is cut across its last axis into slabs: some of its rows, in 3-D some of its planes, or
// none.  The Slab methods of a Context give the rows of what the methods for the whole image give, with the same options.
// Indices are those in the whole image.  What slabs tell each other has an element for each column along the axis that is
// cut: one for each x, in 3-D x+width*y.

// Summary is the first and the last row of each column that is in the set; math.MaxInt64 and -1 where there is none.  With
// LabelImage it is the first and the last run of a label: the rows of all columns, then the nearest rows beyond the runs, then
// the labels.
type Summary struct{ First, Last []int64 }

// Slab is where a slab is, and what of the image is outside it; nil is that there is nothing.
type Slab struct {
	Start           int64   // the rows of the image before it
	Extent          int64   // the rows of the image
	Above           []int64 // Summary.Last of all slabs before it, merged
	Below           []int64 // Summary.First of all slabs behind it, merged
	ComplementAbove []int64 // the same of the complement, for Signed alone
	ComplementBelow []int64
}

// Paths is what a slab tells of the shortest paths to its first and its last row: lengths as whole numbers, math.MaxInt64
// without a path, and the nearest seeds, or -1, if they are kept.
type Paths struct{ First, Last, FirstSeeds, LastSeeds []int64 }

// Beside is where a slab is, and what the slabs before it and behind it tell; nil is that there is none.
type Beside struct {
	Start        int64 // the rows of the image before the slab
	Extent       int64 // the rows of the image
	Above, Below *Paths
}

// Part is what is known of a component, or of its pixels in a slab.
type Part struct {
	First int64 // the lowest index of a pixel of it
	Area  int64
	Lower [3]int64 // the smallest x, y, z in it
	Upper [3]int64 // the largest
	Sum   [3]int64 // the sums of x, y, z over its pixels
	Value int64    // as in Component
}

// The library writes into slices of these.
var _ [C.sizeof_apsis_part]byte = [unsafe.Sizeof(Part{})]byte{}

// Labels is what a slab tells of its components, and is told when it is joined.
type Labels struct {
	Start   int64   // the rows of the image before it
	Rows    int64   // how many it has
	Count   int64   // its own components; of slabs that have been joined, all of them
	Before  int64   // the components of the image that begin in rows before it
	First   []int64 // the numbers in its first row: its own, and then those of the image
	Last    []int64 // those in its last row
	Parts   []Part  // what is known of its components, if that is wanted
	Numbers []int64 // those in the image of its own components, 0 for what is left out; there with parts
}

// Merge adds what is known of another slab; in any order and grouping the outcome is the same.
func (s *Summary) Merge(other *Summary) error {
	columns := len(s.First)
	if err := wrongLength(columns, "Last", s.Last, "other.First", other.First, "other.Last", other.Last); err != nil {
		return err
	}
	C.apsis_slab_merge(C.int64_t(columns), address(other.First), address(other.Last), address(s.First), address(s.Last))
	return nil
}

// MergeLabels does so for label images: the other slab follows those that are known, or is followed by them.
func (s *Summary) MergeLabels(other *Summary) error {
	numbers := len(s.First)
	if err := wrongLength(numbers, "Last", s.Last, "other.First", other.First, "other.Last", other.Last); err != nil {
		return err
	}
	if numbers%3 != 0 {
		return &Error{ErrorArgument, fmt.Sprintf("First has %d elements, but must have three for each column", numbers)}
	}
	C.apsis_slab_merge_labels(C.int64_t(numbers/3), address(other.First), address(other.Last), address(s.First), address(s.Last))
	return nil
}

// CloseLabels adds to what is merged of the slabs above one, or below it, what lies behind the seam of a label image that
// closes on itself along the axis that is cut: all are all slabs, merged, and extent is how many rows there are.
func (s *Summary) CloseLabels(all *Summary, extent int64) error {
	numbers := len(s.First)
	if err := wrongLength(numbers, "Last", s.Last, "all.First", all.First, "all.Last", all.Last); err != nil {
		return err
	}
	if numbers%3 != 0 {
		return &Error{ErrorArgument, fmt.Sprintf("First has %d elements, but must have three for each column", numbers)}
	}
	C.apsis_slab_close_labels(C.int64_t(numbers/3), C.int64_t(extent), address(all.First), address(all.Last), address(s.First),
		address(s.Last))
	return nil
}

// NewPaths is that no path is known yet, of so many columns; with seeds if maps of them are wanted.
func NewPaths(columns int, seeds bool) *Paths {
	paths := &Paths{First: filled(columns, math.MaxInt64), Last: filled(columns, math.MaxInt64)}
	if seeds {
		paths.FirstSeeds, paths.LastSeeds = filled(columns, -1), filled(columns, -1)
	}
	return paths
}

// Measure makes of the parts of whole components what Statistics says of them.
func Measure(parts []Part) []Component {
	components := make([]Component, len(parts))
	if len(parts) > 0 {
		C.apsis_slab_measure(C.int64_t(len(parts)), addressOfParts(parts), (*C.apsis_component)(unsafe.Pointer(&components[0])))
	}
	return components
}

// SlabSummary tells where in each column the set begins and ends.  Of the options Complement and LabelImage matter.
func (c *Context) SlabSummary(set Image, start int64, options *Options) (*Summary, error) {
	if err := wrongOf("set", set); err != nil {
		return nil, err
	}
	numbers := options.told(set.columns())
	told := &Summary{filled(numbers, math.MaxInt64), filled(numbers, -1)}
	err := c.check(C.bridge_slab_summary(c.handle, set.is, set.data, C.int64_t(start), address(told.First), address(told.Last),
		options.forC()))
	if err != nil {
		return nil, err
	}
	return told, nil
}

// SlabDistance is the rows of a slab, of what Distance gives.  Chessboard distances have no nearest pixels.
func (c *Context) SlabDistance(set Image, slab Slab, distance, nearest Image, options *Options) error {
	if err := wrongOf("set", set, "distance", distance, "nearest", nearest); err != nil {
		return err
	}
	if err := slab.wrong(options.told(set.columns())); err != nil {
		return err
	}
	return c.check(C.bridge_slab_distance(c.handle, set.is, set.data, C.int64_t(slab.Start), C.int64_t(slab.Extent),
		address(slab.Above), address(slab.Below), address(slab.ComplementAbove), address(slab.ComplementBelow), distance.is,
		distance.data, nearest.is, nearest.data, options.forC()))
}

// SlabVoronoi is the rows of a slab, of the complete map that Voronoi gives.
func (c *Context) SlabVoronoi(set Image, slab Slab, cells Image, options *Options) error {
	if err := wrongOf("set", set, "cells", cells); err != nil {
		return err
	}
	if err := slab.wrong(options.told(set.columns())); err != nil {
		return err
	}
	return c.check(C.bridge_slab_voronoi(c.handle, set.is, set.data, C.int64_t(slab.Start), C.int64_t(slab.Extent),
		address(slab.Above), address(slab.Below), cells.is, cells.data, options.forC()))
}

// wrong is the error of the first slice that is there, and has not so many numbers.
func (s *Slab) wrong(numbers int) error {
	return wrongLength(numbers, "slab: Above", s.Above, "slab: Below", s.Below, "slab: ComplementAbove", s.ComplementAbove,
		"slab: ComplementBelow", s.ComplementBelow)
}

// SlabGeodesic brings what a slab tells, its paths, up to what the slabs beside it tell, and says how many elements have
// changed.  Call it for the slabs in any order, with None for the outputs, until nothing changes in any.  Then the outputs are
// the rows of what Geodesic gives.
func (c *Context) SlabGeodesic(set, seeds Image, slab Beside, paths *Paths, distance, nearest Image,
	options *Options) (changed int64, err error) {
	if err := wrongOf("set", set, "seeds", seeds, "distance", distance, "nearest", nearest); err != nil {
		return 0, err
	}
	if paths == nil {
		return 0, &Error{ErrorArgument, "paths is nil, but must be what the slab tells"}
	}
	above, below := slab.Above, slab.Below
	if above == nil {
		above = &Paths{}
	}
	if below == nil {
		below = &Paths{}
	}
	if err := wrongLength(set.columns(), "paths: First", paths.First, "paths: Last", paths.Last,
		"paths: FirstSeeds", paths.FirstSeeds, "paths: LastSeeds", paths.LastSeeds,
		"slab: Above.Last", above.Last, "slab: Above.LastSeeds", above.LastSeeds, "slab: Below.First", below.First,
		"slab: Below.FirstSeeds", below.FirstSeeds); err != nil {
		return 0, err
	}
	var n C.int64_t
	err = c.check(C.bridge_slab_geodesic(c.handle, set.is, set.data, seeds.is, seeds.data, C.int64_t(slab.Start),
		C.int64_t(slab.Extent), address(above.Last), address(below.First), address(above.LastSeeds), address(below.FirstSeeds),
		address(paths.First), address(paths.Last), address(paths.FirstSeeds), address(paths.LastSeeds), distance.is, distance.data,
		nearest.is, nearest.data, &n, options.forC()))
	return int64(n), err
}

// SlabParts numbers the components of a slab, and with statistics, and of label images, tells what is known of each.  The
// options, the same as in SlabJoin and SlabComponents, leave none out here: the rest of one may be in other slabs.
func (c *Context) SlabParts(set Image, start int64, statistics bool, options *Options) (*Labels, error) {
	if err := wrongOf("set", set); err != nil {
		return nil, err
	}
	columns := set.columns()
	told := &Labels{Start: start, First: make([]int64, columns), Last: make([]int64, columns)}
	if statistics || options.selects() || options.byLabels() {
		told.Parts = make([]Part, room)
	}
	for {
		var rows, count C.int64_t
		err := c.check(C.bridge_slab_parts(c.handle, set.is, set.data, C.int64_t(start), address(told.First), address(told.Last),
			addressOfParts(told.Parts), C.int64_t(len(told.Parts)), &rows, &count, options.forC()))
		if err != nil {
			return nil, err
		}
		told.Rows, told.Count = int64(rows), int64(count)
		if told.Parts == nil {
			return told, nil
		}
		if told.Count <= int64(len(told.Parts)) {
			told.Parts = append(make([]Part, 0, count), told.Parts[:count]...)
			return told, nil
		}
		told.Parts = make([]Part, count)
	}
}

// SlabJoin tells slabs, from the top, each of which begins where the one before it ends, the numbers of their components in
// the image of this size.  Unless options leave components out they may be some of its slabs.
//
// It returns the slabs as one, with the count of components, and their parts if the slabs have them.  That may be joined with
// others; then SlabRenumber passes on what it is told.
func (c *Context) SlabJoin(slabs []*Labels, size []int, options *Options) (*Labels, error) {
	image := empty(U8, Host, size)
	if image.wrong != "" {
		return nil, argumentError("size", image)
	}
	for _, slab := range slabs {
		if slab != nil && slab.Parts != nil {
			slab.Numbers = make([]int64, len(slab.Parts))
		} else if slab != nil {
			slab.Numbers = nil
		}
	}
	all, err := gather(slabs, image.columns(), true)
	if err != nil {
		return nil, err
	}
	defer all.free()
	var count C.int64_t
	err = c.check(C.bridge_slab_join(c.handle, image.is.ndim, &image.is.size[0], all.slabs, C.int64_t(len(slabs)),
		C.int64_t(all.columns), address(all.faces), addressOfParts(all.parts), address(all.numbers), C.int64_t(len(all.parts)),
		&count, options.forC()))
	if err != nil {
		return nil, err
	}
	all.scatter(slabs)
	joined := &Labels{Count: int64(count), First: make([]int64, all.columns), Last: make([]int64, all.columns)}
	if all.parts != nil {
		joined.Parts = all.parts[:count]
	}
	for k, slab := range slabs {
		if k == 0 {
			joined.Start = slab.Start
		}
		if slab.Rows > 0 {
			if joined.Rows == 0 {
				copy(joined.First, slab.First)
			}
			copy(joined.Last, slab.Last)
		}
		joined.Rows += slab.Rows
	}
	return joined, nil
}

// SlabRenumber passes on to slabs what the one has been told that SlabJoin made of them.
func (c *Context) SlabRenumber(joined *Labels, slabs []*Labels) error {
	if joined == nil {
		return &Error{ErrorArgument, "joined is nil, but must be what SlabJoin has returned"}
	}
	columns := len(joined.First)
	if err := joined.wrong("joined", columns); err != nil {
		return err
	}
	all, err := gather(slabs, columns, false)
	if err != nil {
		return err
	}
	defer all.free()
	err = c.check(C.bridge_slab_renumber(c.handle, C.int64_t(columns), C.int64_t(joined.Rows), C.int64_t(joined.Count),
		C.int64_t(joined.Before), address(joined.First), address(joined.Last), address(joined.Numbers), all.slabs,
		C.int64_t(len(slabs)), address(all.faces), address(all.numbers)))
	if err == nil {
		all.scatter(slabs)
	}
	return err
}

// SlabComponents is the rows of a slab that has been joined, of the labels that Components gives.
func (c *Context) SlabComponents(set Image, slab *Labels, labels Image, options *Options) error {
	if err := wrongOf("set", set, "labels", labels); err != nil {
		return err
	}
	if slab == nil {
		return &Error{ErrorArgument, "slab is nil, but must be what SlabParts has returned"}
	}
	if err := slab.wrong("slab", set.columns()); err != nil {
		return err
	}
	return c.check(C.bridge_slab_components(c.handle, set.is, set.data, C.int64_t(slab.Start), C.int64_t(slab.Rows),
		C.int64_t(slab.Count), C.int64_t(slab.Before), address(slab.First), address(slab.Last), address(slab.Numbers), labels.is,
		labels.data, options.forC()))
}

// ---- Slabs for C ----

// gathered are slabs in memory of C, which may not point to Go's, and their arrays, one behind the other.
type gathered struct {
	slabs          *C.apsis_slab_labels
	columns        int
	faces, numbers []int64
	parts          []Part
}

func gather(slabs []*Labels, columns int, withParts bool) (*gathered, error) {
	all := &gathered{columns: columns, faces: make([]int64, 0, 2*len(slabs)*columns)}
	for k, slab := range slabs {
		name := fmt.Sprintf("slabs[%d]", k)
		if slab == nil {
			return nil, &Error{ErrorArgument, name + " is nil, but must be what a slab tells"}
		}
		if err := slab.wrong(name, columns); err != nil {
			return nil, err
		}
		all.faces = append(append(all.faces, slab.First...), slab.Last...)
		if withParts && slab.Parts != nil {
			if all.parts == nil {
				all.parts = []Part{}
			}
			all.parts = append(all.parts, slab.Parts...)
		}
		all.numbers = append(all.numbers, slab.Numbers...)
	}
	all.slabs = (*C.apsis_slab_labels)(C.malloc(C.size_t(len(slabs)+1) * C.sizeof_apsis_slab_labels))
	raw := unsafe.Slice(all.slabs, len(slabs))
	for k, slab := range slabs {
		raw[k] = C.apsis_slab_labels{start: C.int64_t(slab.Start), rows: C.int64_t(slab.Rows), count: C.int64_t(slab.Count),
			before: C.int64_t(slab.Before)}
		if withParts {
			raw[k].capacity = C.int64_t(len(slab.Parts))
		}
		if slab.Numbers != nil {
			raw[k].numbers = (*C.int64_t)(unsafe.Pointer(all.slabs)) // the bridge puts the right address there
		}
	}
	return all, nil
}

// scatter gives slabs what the library has written.
func (all *gathered) scatter(slabs []*Labels) {
	numbers := all.numbers
	for k, raw := range unsafe.Slice(all.slabs, len(slabs)) {
		slab := slabs[k]
		slab.Before = int64(raw.before)
		copy(slab.First, all.faces[2*k*all.columns:])
		copy(slab.Last, all.faces[(2*k+1)*all.columns:])
		numbers = numbers[copy(slab.Numbers, numbers):]
	}
}

func (all *gathered) free() { C.free(unsafe.Pointer(all.slabs)) }

// wrong is the error of arrays that are not as long as they must be.
func (slab *Labels) wrong(name string, columns int) error {
	for _, face := range [][]int64{slab.First, slab.Last} {
		if len(face) != columns {
			return &Error{ErrorArgument, fmt.Sprintf("%s has a row of %d elements, but must have %d", name, len(face), columns)}
		}
	}
	if slab.Parts != nil && int64(len(slab.Parts)) != slab.Count {
		return &Error{ErrorArgument, fmt.Sprintf("%s has %d parts, but %d components", name, len(slab.Parts), slab.Count)}
	}
	if slab.Numbers != nil && int64(len(slab.Numbers)) != slab.Count {
		return &Error{ErrorArgument, fmt.Sprintf("%s has %d numbers, but %d components", name, len(slab.Numbers), slab.Count)}
	}
	return nil
}

// wrongLength is the error of the first of some named slices that is there, and has not as many elements as there are columns.
func wrongLength(columns int, named ...any) error {
	for i := 0; i < len(named); i += 2 {
		if array := named[i+1].([]int64); array != nil && len(array) != columns {
			return &Error{ErrorArgument, fmt.Sprintf("%s has %d elements, but must have %d", named[i], len(array), columns)}
		}
	}
	return nil
}

func filled(count int, value int64) []int64 {
	array := make([]int64, count)
	for i := range array {
		array[i] = value
	}
	return array
}

func address(array []int64) *C.int64_t {
	if len(array) == 0 {
		return nil
	}
	return (*C.int64_t)(unsafe.Pointer(&array[0]))
}

func addressOfParts(parts []Part) *C.apsis_part {
	if len(parts) == 0 {
		return nil
	}
	return (*C.apsis_part)(unsafe.Pointer(&parts[0]))
}

// columns is how many there are along the last axis, which is cut.
func (i Image) columns() int {
	if i.is.ndim == 3 {
		return int(i.is.size[0] * i.is.size[1])
	}
	return int(i.is.size[0])
}
