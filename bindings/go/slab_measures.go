package apsis

// #include "bridge.h"
import "C"

import "unsafe"

// Sums is what is counted of a value in a slab: whole numbers, to be sent and stored.  See apsis_sums.
type Sums struct {
	Part                        Part
	Wanted                      int64
	ProductsLow, ProductsHigh   [6]int64
	Faces                       [3]int64
	Diagonals, Euler            int64
	Steps                       [3]int64
	IntensityLow, IntensityHigh [8]int64
	Least, Largest, Special     int64
	_                           [4]int64
}

// The library writes into slices of these.
var _ [C.sizeof_apsis_sums]byte = [unsafe.Sizeof(Sums{})]byte{}

// SlabSums says what is counted of each value of a slab of a label image but 0, in ascending order, for what is wanted, as in
// Measures; grey may be None.  start rows lie before the slab, of which before has the last ones, in 3-D planes: 4 for
// Perimeter, 1 for Surface or Euler, fewer where the image begins, or more; None if none are needed.
func (c *Context) SlabSums(labels, grey, before Image, start int64, wanted Wanted, options *Options) ([]Sums, error) {
	return asked(room, func(known []Sums, n *C.int64_t) error {
		if err := wrongOf("labels", labels, "grey", grey, "before", before); err != nil {
			return err
		}
		return c.check(C.bridge_slab_sums(c.handle, labels.is, labels.data, grey.is, grey.data, before.is, before.data,
			C.int64_t(start), C.uint32_t(wanted), addressOfSums(known), C.int64_t(len(known)), n, options.forC()))
	})
}

// MergeSums adds up what slabs tell of equal values, in the memory of sums, in ascending order.
func MergeSums(sums []Sums) []Sums {
	return sums[:C.apsis_slab_merge_sums(C.int64_t(len(sums)), addressOfSums(sums))]
}

// SlabMeasures makes of the merged sums of all slabs what Measures says of the image of this size.
func (c *Context) SlabMeasures(size []int, sums []Sums, options *Options) ([]ValueMeasure, error) {
	image := empty(U8, Host, size)
	if image.wrong != "" {
		return nil, argumentError("size", image)
	}
	measures := make([]ValueMeasure, len(sums))
	var to *C.apsis_measure
	if len(sums) > 0 {
		to = (*C.apsis_measure)(unsafe.Pointer(&measures[0]))
	}
	err := c.check(C.apsis_slab_measures(c.handle, image.is.ndim, &image.is.size[0], addressOfSums(sums),
		C.int64_t(len(sums)), to, options.forC()))
	if err != nil {
		return nil, err
	}
	return measures, nil
}

func addressOfSums(sums []Sums) *C.apsis_sums {
	if len(sums) == 0 {
		return nil
	}
	return (*C.apsis_sums)(unsafe.Pointer(&sums[0]))
}
