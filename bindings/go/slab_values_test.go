package apsis

import (
	"errors"
	"strings"
	"testing"
)

// newLabels is an image of three values in cells of some pixels, and 0.
func newLabels(size ...int) cut {
	c := newCut(0.6, size...)
	for i := range c.set {
		if i%5 > 1 && i >= c.columns {
			c.set[i] = c.set[i-c.columns]
		} else {
			c.set[i] *= uint8(1 + i%3)
		}
	}
	return c
}

func labelCuts() []cut { return []cut{newLabels(17, 23), newLabels(8, 9, 11)} }

func TestComponentsOfSlabsOfLabelImages(t *testing.T) {
	context := newContext(t)
	for _, options := range []*Options{{Flags: LabelImage}, {Flags: LabelImage, Connectivity: 2, MinArea: 2}} {
		for _, c := range labelCuts() {
			want := make([]int32, len(c.set))
			known, err := context.Statistics(Of(c.set, c.size...), Of(want, c.size...), options)
			must(t, err)
			var told []*Labels
			for k := 0; k < c.slabs(); k++ {
				labels, err := context.SlabParts(slabOf(c, c.set, k), int64(c.starts[k]), false, options)
				must(t, err)
				told = append(told, labels)
			}
			whole, err := context.SlabJoin(told, c.size, options)
			must(t, err)
			same(t, Measure(whole.Parts), known)
			got := make([]int32, len(c.set))
			for k, slab := range told {
				must(t, context.SlabComponents(slabOf(c, c.set, k), slab, slabOf(c, got, k), options))
			}
			same(t, got, want)
		}
	}
}

func TestValuesAndContactsOfSlabs(t *testing.T) {
	context := newContext(t)
	for _, options := range []*Options{nil, {Connectivity: 2, Spacing: [3]float64{2, 3, 5}}} {
		for _, c := range labelCuts() {
			var parts []Part
			var contacts []Contact
			for k := 0; k < c.slabs(); k++ {
				start := c.starts[k]
				of, err := context.SlabValueStatistics(slabOf(c, c.set, k), int64(start))
				must(t, err)
				parts = append(parts, of...)
				var before []int64
				for i := (start - 1) * c.columns; start > 0 && i < start*c.columns; i++ {
					before = append(before, int64(c.set[i]))
				}
				touching, err := context.SlabContacts(slabOf(c, c.set, k), before, options)
				must(t, err)
				contacts = append(contacts, touching...)
			}
			known, err := context.ValueStatistics(Of(c.set, c.size...))
			must(t, err)
			same(t, Measure(MergeParts(parts)), known)
			touching, err := context.Contacts(Of(c.set, c.size...), options)
			must(t, err)
			contacts, err = context.MergeContacts(len(c.size), contacts, options)
			must(t, err)
			same(t, contacts, touching)
			if len(contacts) < 3 {
				t.Fatalf("%d contacts", len(contacts))
			}
		}
	}
}

func TestMeasuresOfSlabs(t *testing.T) {
	context := newContext(t)
	for _, options := range []*Options{nil, {Spacing: [3]float64{0.5, 0.5, 0.5}}} {
		for _, c := range labelCuts() {
			wanted, grey := Moments|Surface|Euler|Intensity, make([]float32, len(c.set))
			if len(c.size) == 2 {
				wanted |= Perimeter
			}
			for i := range grey {
				grey[i] = float32(i) / 7
			}
			var sums []Sums
			for k := c.slabs() - 1; k >= 0; k-- {
				start, before := c.starts[k], None
				rows := start
				if rows > 4 {
					rows = 4
				}
				if rows > 0 {
					size := append([]int{}, c.size...)
					size[len(size)-1] = rows
					before = Of(c.set[(start-rows)*c.columns:start*c.columns], size...)
				}
				told, err := context.SlabSums(slabOf(c, c.set, k), slabOf(c, grey, k), before, int64(start), wanted, options)
				must(t, err)
				sums = append(sums, told...)
			}
			known, err := context.Measures(Of(c.set, c.size...), Of(grey, c.size...), wanted, options)
			must(t, err)
			got, err := context.SlabMeasures(c.size, MergeSums(sums), options)
			must(t, err)
			same(t, got, known)
			if len(known) < 2 {
				t.Fatalf("%d values", len(known))
			}
		}
	}
	none, err := context.SlabMeasures([]int{3, 2}, MergeSums(nil), nil)
	must(t, err)
	same(t, len(none), 0)
}

func TestMoreValuesThanExpected(t *testing.T) {
	const size = 100
	context, values := newContext(t), make([]int32, size*size)
	for i := range values {
		values[i] = int32(i + 1)
	}
	parts, err := context.SlabValueStatistics(Of(values, size, size), 0)
	must(t, err)
	contacts, err := context.SlabContacts(Of(values, size, size), nil, nil)
	must(t, err)
	same(t, []int{len(parts), len(contacts)}, []int{size * size, 2 * size * (size - 1)})
	same(t, len(MergeParts(nil)), 0)
}

func TestWrongSlabsOfValues(t *testing.T) {
	context, image := newContext(t), Of([]uint8{1, 2, 3, 4, 5, 6}, 3, 2)
	refused := func(err error, words string) {
		t.Helper()
		if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, but it should say: %s", err, words)
		}
	}
	_, err := context.SlabContacts(image, []int64{1, 2}, nil)
	refused(err, "before has 2 elements, but must have 3")
	_, err = context.SlabValueStatistics(image, -1)
	refused(err, "start is -1")
	_, err = context.SlabValueStatistics(Of([]float32{1}, 1, 1), 0)
	refused(err, "labels")
	_, err = context.SlabSums(image, None, None, 3, Euler, nil)
	refused(err, "before is None, but the slab needs 1 of the rows")
	_, err = context.SlabSums(image, None, Of([]uint8{1, 2}, 2, 1), 3, Euler, nil)
	refused(err, "before: size[0] is 2")
	sums, _ := context.SlabSums(image, None, None, 3, 0, nil)
	_, err = context.SlabMeasures([]int{3, 2}, sums, nil)
	refused(err, "sums[0] cannot be")
	_, err = context.SlabMeasures([]int{3, -2}, sums, nil)
	refused(err, "size")
	_, err = context.MergeContacts(4, nil, nil)
	refused(err, "ndim is 4")
}
