package apsis

// #include "bridge.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Component is what is known of one component.  Coordinates are in pixels, x first.
type Component struct {
	First    int64 // the lowest index of a pixel of it
	Area     int64
	Lower    [3]int64 // the smallest x, y, z in it
	Upper    [3]int64 // the largest
	Centroid [3]float64
	Value    int64 // with LabelImage the value of its pixels, with Delta of the first; otherwise, and of F32, 1
}

// Extent is how far a component reaches.  Pixels are indices, and lengths are in units of spacing.
type Extent struct {
	First    int64    // the lowest pixel of it
	Ends     [2]int64 // the pixel with the largest eccentricity, and its farthest
	Centre   int64    // the pixel with the least one
	Diameter float64
	Radius   float64
	Gap      float64 // by how much an eccentricity may be larger than the one given: 0, but where the budget has run out
}

// Contact is how two values of a label image touch.
type Contact struct {
	A       int64    // the lower value
	B       int64    // the greater one
	Faces   [3]int64 // pairs of their pixels side by side along x, y, z
	Corners int64    // pairs of pixels that are neighbours across an edge or a corner alone
	Area    float64  // of their faces, in units of spacing; in 2-D their length
}

// SurfaceDistances is how far the surfaces of two sets are apart.  Of two numbers the first is of the points of the first
// surface.
type SurfaceDistances struct {
	Value               int64      // of label images, the value; otherwise 1
	Points              [2]int64   // how many each surface has,
	Area                [2]float64 // what they weigh together,
	Within              [2]float64 // and of that, those at a distance of at most the tolerance
	Largest             [2]float64 // the directed Hausdorff distances,
	Percentile          [2]float64 // their percentiles,
	Mean                [2]float64 // and the means
	Hausdorff           float64    // the larger of Largest
	HausdorffPercentile float64    // the larger of Percentile
	Average             float64    // over the points of both
	Dice                float64    // the part of the area of both that Within has
}

// ValueMeasure is what is known of a value of a label image: see apsis_measures.h.  What was not asked for is 0.
type ValueMeasure struct {
	Component                                               Component
	Border, Euler, Filled, Convex                           int64
	Faces                                                   [3]int64
	Surface                                                 float64
	Moments                                                 [6]float64
	Axes                                                    [3]float64
	Orientation, Eccentricity, Perimeter                    float64
	Crofton                                                 [2]float64
	ConvexArea                                              float64
	Feret                                                   [2]float64
	FeretContour                                            float64
	IntensitySum, IntensityMean, IntensityMin, IntensityMax float64
	_                                                       [8]float64
}

// Wanted is what Measures is asked for: these, combined by |.
type Wanted uint32

const (
	Moments Wanted = 1 << iota
	Perimeter
	Surface
	Euler
	Filled
	Hull
	Feret
	Intensity
)

// The library writes into slices of these.
var (
	_ [C.sizeof_apsis_measure]byte           = [unsafe.Sizeof(ValueMeasure{})]byte{}
	_ [C.sizeof_apsis_surface_distances]byte = [unsafe.Sizeof(SurfaceDistances{})]byte{}
	_ [C.sizeof_apsis_contact]byte           = [unsafe.Sizeof(Contact{})]byte{}
	_ [C.sizeof_apsis_component]byte         = [unsafe.Sizeof(Component{})]byte{}
	_ [C.sizeof_apsis_extent]byte            = [unsafe.Sizeof(Extent{})]byte{}
)

// room is for how many components there is room at first; if there are more, the call is made again.
const room = 4096

// Distance is that of every pixel to the nearest pixel of the set, and which pixel that is (its index
// x + width*(y + height*z)).  Either output may be None.
func (c *Context) Distance(set, distance, nearest Image, options *Options) error {
	if err := wrongOf("set", set, "distance", distance, "nearest", nearest); err != nil {
		return err
	}
	return c.check(C.bridge_distance(c.handle, set.is, set.data, distance.is, distance.data, nearest.is, nearest.data,
		options.forC()))
}

// Voronoi is, for every pixel, the index of the pixel of the set in whose cell it is.
func (c *Context) Voronoi(set, cells Image, options *Options) error {
	if err := wrongOf("set", set, "cells", cells); err != nil {
		return err
	}
	return c.check(C.bridge_voronoi(c.handle, set.is, set.data, cells.is, cells.data, options.forC()))
}

// Morphology is the set, dilated, eroded, opened or closed by a ball of this radius: 1 in the set that it has become,
// otherwise 0. With Labels they are label images both.
func (c *Context) Morphology(operation Operation, radius float64, set, result Image, options *Options) error {
	if err := wrongOf("set", set, "result", result); err != nil {
		return err
	}
	return c.check(C.bridge_morphology(c.handle, C.apsis_operation(operation), C.double(radius), set.is, set.data, result.is,
		result.data, options.forC()))
}

// Thickness is, for every pixel, the radius of the largest ball in the set that covers it, or its square; 0 outside the set.
func (c *Context) Thickness(set, thickness Image, options *Options) error {
	if err := wrongOf("set", set, "thickness", thickness); err != nil {
		return err
	}
	return c.check(C.bridge_thickness(c.handle, set.is, set.data, thickness.is, thickness.data, options.forC()))
}

// MedialAxis is the radii, or their squares, of the balls that make up the set, at their centres, and 0 elsewhere.
func (c *Context) MedialAxis(set, radii Image, options *Options) error {
	if err := wrongOf("set", set, "radii", radii); err != nil {
		return err
	}
	return c.check(C.bridge_medial_axis(c.handle, set.is, set.data, radii.is, radii.data, options.forC()))
}

// SurfaceDistance compares two sets by their surfaces: a percentile from 0 to 100, and a tolerance for Within and Dice.
func (c *Context) SurfaceDistance(first, second Image, surface SurfaceKind, percentile, tolerance float64,
	options *Options) (SurfaceDistances, error) {
	found := make([]SurfaceDistances, 1)
	_, err := c.surfaceDistances(first, second, surface, percentile, tolerance, found, options)
	return found[0], err
}

// LabelSurfaceDistances compares two label images as SurfaceDistance does, each value but 0 that occurs in one of them, in
// ascending order.
func (c *Context) LabelSurfaceDistances(first, second Image, surface SurfaceKind, percentile, tolerance float64,
	options *Options) ([]SurfaceDistances, error) {
	var asked Options
	if options != nil {
		asked = *options
	}
	asked.Flags |= LabelImage
	for found := make([]SurfaceDistances, room); ; {
		n, err := c.surfaceDistances(first, second, surface, percentile, tolerance, found, &asked)
		if err != nil {
			return nil, err
		}
		if int(n) <= len(found) {
			return found[:n], nil
		}
		found = make([]SurfaceDistances, n)
	}
}

func (c *Context) surfaceDistances(first, second Image, surface SurfaceKind, percentile, tolerance float64,
	found []SurfaceDistances, options *Options) (count int64, err error) {
	if err := wrongOf("first", first, "second", second); err != nil {
		return 0, err
	}
	var n C.int64_t
	err = c.check(C.bridge_surface_distance(c.handle, first.is, first.data, second.is, second.data, C.apsis_surface(surface),
		C.double(percentile), C.double(tolerance), (*C.apsis_surface_distances)(unsafe.Pointer(&found[0])),
		C.int64_t(len(found)), &n, options.forC()))
	return int64(n), err
}

// Components numbers the connected components of the set 1, 2, 3, ... by their lowest index, in labels, which may be None,
// and says how many there are.
func (c *Context) Components(set, labels Image, options *Options) (count int64, err error) {
	if err := wrongOf("set", set, "labels", labels); err != nil {
		return 0, err
	}
	var n C.int64_t
	err = c.check(C.bridge_components(c.handle, set.is, set.data, labels.is, labels.data, nil, 0, &n, options.forC()))
	return int64(n), err
}

// Statistics numbers the components as Components does, and says what is known of each.
func (c *Context) Statistics(set, labels Image, options *Options) ([]Component, error) {
	if err := wrongOf("set", set, "labels", labels); err != nil {
		return nil, err
	}
	known, n := make([]Component, room), C.int64_t(0)
	err := c.check(C.bridge_components(c.handle, set.is, set.data, labels.is, labels.data,
		(*C.apsis_component)(unsafe.Pointer(&known[0])), room, &n, options.forC()))
	if err == nil && n > room {
		known = make([]Component, n)
		err = c.check(C.bridge_components(c.handle, set.is, set.data, C.apsis_image{}, nil,
			(*C.apsis_component)(unsafe.Pointer(&known[0])), n, &n, options.forC()))
	}
	if err != nil {
		return nil, err
	}
	return known[:n], nil
}

// ValueStatistics says what is known of each value of a label image, wherever its pixels are, in ascending order; of 0, the
// background, too.
func (c *Context) ValueStatistics(labels Image) ([]Component, error) {
	return asked(room, func(known []Component, n *C.int64_t) error {
		found, err := c.values(labels, known, nil)
		*n = C.int64_t(found)
		return err
	})
}

// ValueTable says what is known of the values 0, 1, ..., below capacity, by value: of one that does not occur the area is 0.
func (c *Context) ValueTable(labels Image, capacity int) ([]Component, error) {
	if capacity < 0 {
		return nil, &Error{ErrorArgument, fmt.Sprintf("ValueTable: capacity is %d, but must not be negative", capacity)}
	}
	known := make([]Component, capacity)
	for value := range known { // those of an image without pixels stay so
		known[value] = Component{First: -1, Lower: [3]int64{-1, -1, -1}, Upper: [3]int64{-1, -1, -1}, Value: int64(value)}
	}
	if _, err := c.values(labels, known, &Options{Flags: C.APSIS_DENSE}); err != nil {
		return nil, err
	}
	return known, nil
}

func (c *Context) values(labels Image, known []Component, options *Options) (count int64, err error) {
	if err := wrongOf("labels", labels); err != nil {
		return 0, err
	}
	var first *C.apsis_component
	if len(known) > 0 {
		first = (*C.apsis_component)(unsafe.Pointer(&known[0]))
	}
	var n C.int64_t
	err = c.check(C.bridge_statistics(c.handle, labels.is, labels.data, first, C.int64_t(len(known)), &n, options.forC()))
	return int64(n), err
}

// Contacts says which values of a label image touch, and how much, in ascending order; 0, the background, touches nothing.
func (c *Context) Contacts(labels Image, options *Options) ([]Contact, error) {
	return asked(room, func(known []Contact, n *C.int64_t) error {
		if err := wrongOf("labels", labels); err != nil {
			return err
		}
		return c.check(C.bridge_contacts(c.handle, labels.is, labels.data, addressOfContacts(known), C.int64_t(len(known)), n,
			options.forC()))
	})
}

// Measures says what is wanted of each value of a label image but 0, in ascending order; grey has the intensities, or is None.
func (c *Context) Measures(labels, grey Image, wanted Wanted, options *Options) ([]ValueMeasure, error) {
	return asked(room, func(known []ValueMeasure, n *C.int64_t) error {
		if err := wrongOf("labels", labels, "grey", grey); err != nil {
			return err
		}
		return c.check(C.bridge_measures(c.handle, labels.is, labels.data, grey.is, grey.data, C.uint32_t(wanted),
			(*C.apsis_measure)(unsafe.Pointer(&known[0])), C.int64_t(len(known)), n, options.forC()))
	})
}

// Geodesic is the length of the shortest path inside the set from every pixel of it to the nearest seed, and which seed that
// is.  Either output may be None.
func (c *Context) Geodesic(set, seeds, distance, nearest Image, options *Options) error {
	if err := wrongOf("set", set, "seeds", seeds, "distance", distance, "nearest", nearest); err != nil {
		return err
	}
	return c.check(C.bridge_geodesic(c.handle, set.is, set.data, seeds.is, seeds.data, distance.is, distance.data, nearest.is,
		nearest.data, options.forC()))
}

// Eccentricity is the length of the longest of the shortest paths from every pixel of the set to the others of its
// component, and the pixel at its end.  Either output may be None.
func (c *Context) Eccentricity(set, eccentricity, farthest Image, options *Options) error {
	_, err := c.extents(set, eccentricity, farthest, nil, options)
	return err
}

// Extents makes the maps of Eccentricity, and says how far each component reaches.  If the error is ErrorBudget, the maps and
// the extents are bounds.
func (c *Context) Extents(set, eccentricity, farthest Image, options *Options) ([]Extent, error) {
	extents := make([]Extent, room)
	n, err := c.extents(set, eccentricity, farthest, extents, options)
	if n > room {
		extents = make([]Extent, n)
		n, err = c.extents(set, eccentricity, farthest, extents, options)
	}
	if status, failed := err.(*Error); failed && status.Status != ErrorBudget {
		return nil, err
	}
	return extents[:n], err
}

func (c *Context) extents(set, eccentricity, farthest Image, extents []Extent, options *Options) (count int64, err error) {
	if err := wrongOf("set", set, "eccentricity", eccentricity, "farthest", farthest); err != nil {
		return 0, err
	}
	var first *C.apsis_extent
	if len(extents) > 0 {
		first = (*C.apsis_extent)(unsafe.Pointer(&extents[0]))
	}
	var n C.int64_t
	err = c.check(C.bridge_eccentricity(c.handle, set.is, set.data, eccentricity.is, eccentricity.data, farthest.is,
		farthest.data, first, C.int64_t(len(extents)), &n, options.forC()))
	return int64(n), err
}
