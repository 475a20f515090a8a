package apsis

// #include "bridge.h"
import "C"

import "unsafe"

// Statistics and contacts of a label image that is cut into slabs: each tells of its own values, and what they tell is added
// up, however it is grouped.

// SlabValueStatistics says what is known of each value of a slab, in ascending order, with its places in the image, of which
// start rows lie before the slab.  MergeParts adds up what all tell, and Measure makes of that what ValueStatistics says.
func (c *Context) SlabValueStatistics(labels Image, start int64) ([]Part, error) {
	return asked(room, func(known []Part, n *C.int64_t) error {
		if err := wrongOf("labels", labels); err != nil {
			return err
		}
		return c.check(C.bridge_slab_statistics(c.handle, labels.is, labels.data, C.int64_t(start), addressOfParts(known),
			C.int64_t(len(known)), n, (*Options)(nil).forC()))
	})
}

// MergeParts adds up what slabs tell of equal values, in the memory of parts, in ascending order.
func MergeParts(parts []Part) []Part {
	return parts[:C.apsis_slab_merge_parts(C.int64_t(len(parts)), addressOfParts(parts))]
}

// SlabContacts says which values touch in a slab, and across the cut before it: before has the values in the row before the
// slab, in 3-D plane; nil is that there is none.
func (c *Context) SlabContacts(labels Image, before []int64, options *Options) ([]Contact, error) {
	return asked(room, func(known []Contact, n *C.int64_t) error {
		if err := wrongOf("labels", labels); err != nil {
			return err
		}
		if err := wrongLength(labels.columns(), "before", before); err != nil {
			return err
		}
		return c.check(C.bridge_slab_contacts(c.handle, labels.is, labels.data, address(before), addressOfContacts(known),
			C.int64_t(len(known)), n, options.forC()))
	})
}

// MergeContacts adds up what slabs tell of equal pairs, in the memory of contacts, of an image of so many axes.  Those of all
// slabs are then what Contacts says.
func (c *Context) MergeContacts(axes int, contacts []Contact, options *Options) ([]Contact, error) {
	n := C.int64_t(len(contacts))
	err := c.check(C.apsis_slab_merge_contacts(c.handle, C.int32_t(axes), addressOfContacts(contacts), &n, options.forC()))
	if err != nil {
		return nil, err
	}
	return contacts[:n], nil
}

// asked is what a call tells, which is made again if there was no room for all.
func asked[Entry any](room int, call func(known []Entry, n *C.int64_t) error) ([]Entry, error) {
	for known := make([]Entry, room); ; {
		n := C.int64_t(0)
		if err := call(known, &n); err != nil {
			return nil, err
		}
		if int(n) <= len(known) {
			return known[:n], nil
		}
		known = make([]Entry, n)
	}
}

func addressOfContacts(contacts []Contact) *C.apsis_contact {
	if len(contacts) == 0 {
		return nil
	}
	return (*C.apsis_contact)(unsafe.Pointer(&contacts[0]))
}
