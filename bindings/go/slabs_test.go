package apsis

import (
	"errors"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

// cut is an image that is cut into slabs, of which one has no rows.
type cut struct {
	set     []uint8
	size    []int
	columns int
	starts  []int // of each slab, and the end of the image
}

func newCut(density float64, size ...int) cut {
	c := cut{size: size, columns: 1, starts: []int{0, 3, 3, 4, 9, size[len(size)-1]}}
	for _, n := range size[:len(size)-1] {
		c.columns *= n
	}
	c.set = randomSet(c.columns*size[len(size)-1], density)
	return c
}

func (c cut) slabs() int  { return len(c.starts) - 1 }
func (c cut) rows() int64 { return int64(c.size[len(c.size)-1]) }

// slabOf is slab k of a map of the image.
func slabOf[T Pixel](c cut, pixels []T, k int) Image {
	size := append([]int{}, c.size...)
	size[len(size)-1] = c.starts[k+1] - c.starts[k]
	return Of(pixels[c.starts[k]*c.columns:c.starts[k+1]*c.columns], size...)
}

// merged is what is known of several slabs: nil of none.
func merged(t *testing.T, told []*Summary) (first, last []int64) {
	if len(told) == 0 {
		return nil, nil
	}
	all := &Summary{append([]int64{}, told[0].First...), append([]int64{}, told[0].Last...)}
	for _, other := range told[1:] {
		must(t, all.Merge(other))
	}
	return all.First, all.Last
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func cuts(density float64) []cut { return []cut{newCut(density, 17, 23), newCut(density, 8, 9, 11)} }

func TestDistancesOfSlabs(t *testing.T) {
	context := newContext(t)
	for _, options := range []*Options{nil, {Flags: Signed, Spacing: [3]float64{1, 2, 3}}, {Flags: Signed | Complement}} {
		for _, c := range cuts(0.1) {
			whole, which := make([]float64, len(c.set)), make([]int64, len(c.set))
			must(t, context.Distance(Of(c.set, c.size...), Of(whole, c.size...), Of(which, c.size...), options))
			var turned Options
			if options != nil {
				turned = *options
			}
			turned.Flags ^= Complement
			var told, others []*Summary
			for k := 0; k < c.slabs(); k++ {
				summary, err := context.SlabSummary(slabOf(c, c.set, k), int64(c.starts[k]), options)
				must(t, err)
				other, err := context.SlabSummary(slabOf(c, c.set, k), int64(c.starts[k]), &turned)
				must(t, err)
				told, others = append(told, summary), append(others, other)
			}
			distance, nearest := make([]float64, len(c.set)), make([]int64, len(c.set))
			for k := 0; k < c.slabs(); k++ {
				slab := Slab{Start: int64(c.starts[k]), Extent: c.rows()}
				_, slab.Above = merged(t, told[:k])
				slab.Below, _ = merged(t, told[k+1:])
				_, slab.ComplementAbove = merged(t, others[:k])
				slab.ComplementBelow, _ = merged(t, others[k+1:])
				must(t, context.SlabDistance(slabOf(c, c.set, k), slab, slabOf(c, distance, k), slabOf(c, nearest, k), options))
			}
			same(t, distance, whole)
			same(t, nearest, which)
		}
	}
}

// mergedLabels is what is known of several slabs of a label image.
func mergedLabels(t *testing.T, told []*Summary) *Summary {
	all := &Summary{append([]int64{}, told[0].First...), append([]int64{}, told[0].Last...)}
	for _, other := range told[1:] {
		must(t, all.MergeLabels(other))
	}
	return all
}

// outsideOfSlab is what a slab of a label image is told: nil of none, which there is not around an image that closes on itself.
func outsideOfSlab(t *testing.T, told []*Summary, k int, extent int64, isRing bool) (above, below []int64) {
	side := func(some []*Summary) *Summary {
		one := &Summary{}
		if len(some) > 0 {
			one = mergedLabels(t, some)
		} else if isRing {
			one = &Summary{filled(len(told[0].First), math.MaxInt64), filled(len(told[0].Last), -1)}
		}
		if isRing {
			must(t, one.CloseLabels(mergedLabels(t, told), extent))
		}
		return one
	}
	return side(told[:k]).Last, side(told[k+1:]).First
}

func TestMapsOfSlabsOfLabelImages(t *testing.T) {
	context := newContext(t)
	for kind, border := range []Flags{0, Border, 0} {
		for _, c := range cuts(0.2) {
			isRing, closed := kind == 2, Flags(0)
			if isRing {
				closed = PeriodicX << (len(c.size) - 1)
			}
			for i := c.columns; i < len(c.set); i++ {
				if i%7 > 0 {
					c.set[i] = c.set[i-c.columns]
				} else {
					c.set[i] *= 3
				}
			}
			between, sites := &Options{Flags: LabelImage | border | closed},
				&Options{Flags: LabelImage | closed, MaxDistance: 3}
			whole, grown := make([]float32, len(c.set)), make([]int32, len(c.set))
			must(t, context.Distance(Of(c.set, c.size...), Of(whole, c.size...), None, between))
			must(t, context.Voronoi(Of(c.set, c.size...), Of(grown, c.size...), sites))
			var told []*Summary
			for k := 0; k < c.slabs(); k++ {
				summary, err := context.SlabSummary(slabOf(c, c.set, k), int64(c.starts[k]), between)
				must(t, err)
				told = append(told, summary)
			}
			distance, labels := make([]float32, len(c.set)), make([]int32, len(c.set))
			for k := 0; k < c.slabs(); k++ {
				slab := Slab{Start: int64(c.starts[k]), Extent: c.rows()}
				slab.Above, slab.Below = outsideOfSlab(t, told, k, c.rows(), isRing)
				must(t, context.SlabDistance(slabOf(c, c.set, k), slab, slabOf(c, distance, k), None, between))
				must(t, context.SlabVoronoi(slabOf(c, c.set, k), slab, slabOf(c, labels, k), sites))
			}
			same(t, distance, whole)
			same(t, labels, grown)
		}
	}
}

func TestGeodesicDistancesOfSlabs(t *testing.T) {
	context := newContext(t)
	for _, options := range []*Options{nil, {Metric: CityBlock}} {
		for _, c := range cuts(0.7) {
			random, seeds := rand.New(rand.NewSource(2)), make([]bool, len(c.set))
			for i := range seeds {
				seeds[i] = random.Intn(30) == 0
			}
			whole, which := make([]float32, len(c.set)), make([]int32, len(c.set))
			must(t, context.Geodesic(Of(c.set, c.size...), Of(seeds, c.size...), Of(whole, c.size...), Of(which, c.size...), options))
			var paths []*Paths
			for k := 0; k < c.slabs(); k++ {
				paths = append(paths, NewPaths(c.columns, true))
			}
			call := func(k int, distance, nearest Image) int64 {
				slab := Beside{Start: int64(c.starts[k]), Extent: c.rows()}
				if k > 0 {
					slab.Above = paths[k-1]
				}
				if k+1 < len(paths) {
					slab.Below = paths[k+1]
				}
				changed, err := context.SlabGeodesic(slabOf(c, c.set, k), slabOf(c, seeds, k), slab, paths[k], distance, nearest, options)
				must(t, err)
				return changed
			}
			rounds := 0
			for changed := int64(1); changed > 0; rounds++ {
				changed = 0
				for k := range paths {
					changed += call(k, None, None)
				}
			}
			if rounds < 3 {
				t.Fatalf("%d rounds: no path leads across a border", rounds)
			}
			distance, nearest := make([]float32, len(c.set)), make([]int32, len(c.set))
			for k := range paths {
				same(t, call(k, slabOf(c, distance, k), slabOf(c, nearest, k)), int64(0))
			}
			same(t, distance, whole)
			same(t, nearest, which)
		}
	}
}

func TestComponentsOfSlabs(t *testing.T) {
	context := newContext(t)
	for _, how := range []struct {
		options    *Options
		statistics bool
		groups     bool
	}{
		{nil, false, false}, {nil, false, true}, {nil, true, true}, {&Options{Connectivity: 2, Largest: 3}, true, false},
		{&Options{Flags: NoBorder, MinArea: 2}, false, false}, {&Options{Largest: 4}, true, true},
	} {
		for _, c := range cuts(0.4) {
			want := make([]int32, len(c.set))
			known, err := context.Statistics(Of(c.set, c.size...), Of(want, c.size...), how.options)
			must(t, err)
			var told []*Labels
			for k := 0; k < c.slabs(); k++ {
				labels, err := context.SlabParts(slabOf(c, c.set, k), int64(c.starts[k]), how.statistics, how.options)
				must(t, err)
				told = append(told, labels)
			}
			groups := [][]*Labels{told[:2], told[2:]}
			top := told
			if how.groups {
				top = nil
				for _, group := range groups {
					joined, err := context.SlabJoin(group, c.size, nil)
					must(t, err)
					top = append(top, joined)
				}
			}
			whole, err := context.SlabJoin(top, c.size, how.options)
			must(t, err)
			same(t, []int64{whole.Start, whole.Rows, whole.Count}, []int64{0, c.rows(), int64(len(known))})
			if whole.Parts != nil {
				same(t, Measure(whole.Parts), known)
			}
			same(t, whole.Parts != nil, how.statistics || how.options != nil)
			if how.groups {
				for i, group := range groups {
					must(t, context.SlabRenumber(top[i], group))
				}
			}
			got := make([]int32, len(c.set))
			for k, slab := range told {
				must(t, context.SlabComponents(slabOf(c, c.set, k), slab, slabOf(c, got, k), how.options))
			}
			same(t, got, want)
		}
	}
}

func TestMorePartsThanExpected(t *testing.T) {
	const size = 200
	context, set := newContext(t), make([]uint8, size*size)
	for i := range set {
		set[i] = uint8((1 - i%2) * (1 - i/size%2))
	}
	slab, err := context.SlabParts(Of(set, size, size), 0, true, nil)
	must(t, err)
	known, err := context.Statistics(Of(set, size, size), None, nil)
	must(t, err)
	same(t, Measure(slab.Parts), known)

	none, err := context.SlabParts(Of(make([]bool, 6), 3, 2), 0, true, nil)
	must(t, err)
	whole, err := context.SlabJoin([]*Labels{none}, []int{3, 2}, nil)
	must(t, err)
	same(t, whole.Parts, []Part{})
}

func TestWrongSlabs(t *testing.T) {
	context, set, out := newContext(t), Of([]uint8{0, 1, 0, 0, 1, 0}, 3, 2), Of(make([]float32, 6), 3, 2)
	refused := func(err error, words string) {
		t.Helper()
		if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, but it should say: %s", err, words)
		}
	}
	distance := func(slab Slab) error { return context.SlabDistance(set, slab, out, None, nil) }
	refused(distance(Slab{Start: 4, Extent: 5}), "start is 4, but must be from 0 to 3: the slab has 2 of 5 rows")
	refused(distance(Slab{Start: 1, Extent: 3, Above: []int64{0}}), "slab: Above has 1 elements, but must have 3")
	refused(distance(Slab{Start: 1, Extent: 3, Above: []int64{1, 1, 1}}), "slab: Above[0] is 1, but must be from 0 to 0, or -1")

	one, err := context.SlabSummary(set, 0, nil)
	must(t, err)
	same(t, one, &Summary{[]int64{math.MaxInt64, 0, math.MaxInt64}, []int64{-1, 1, -1}})
	refused(one.Merge(&Summary{[]int64{0}, []int64{0, 0, 0}}), "other.First has 1 elements, but must have 3")

	geodesic := func(paths *Paths, above *Paths) error {
		_, err := context.SlabGeodesic(set, set, Beside{Start: 1, Extent: 3, Above: above}, paths, None, None, nil)
		return err
	}
	refused(geodesic(NewPaths(3, true), NewPaths(3, false)), "slab: AboveSeeds is nil, but nearest seeds are wanted")
	refused(geodesic(NewPaths(2, false), nil), "paths: First has 2 elements, but must have 3")
	refused(geodesic(nil, nil), "paths is nil")

	labels, err := context.SlabParts(set, 0, false, nil)
	must(t, err)
	join := func(slab *Labels, options *Options, size ...int) error {
		_, err := context.SlabJoin([]*Labels{slab}, size, options)
		return err
	}
	refused(join(labels, nil, 3, 1), "slabs[0]: Rows is 2, but must be from 0 to 1")
	refused(join(labels, nil, 4, 2), "slabs[0] has a row of 3 elements, but must have 4")
	refused(join(labels, nil, 3), "size has 1 extents")
	refused(join(labels, &Options{Largest: 1}, 3, 2), "slabs[0]: Parts is nil, but parts are wanted")
	refused(join(nil, nil, 3, 2), "slabs[0] is nil")
	refused(context.SlabComponents(set, nil, Of(make([]int32, 6), 3, 2), nil), "slab is nil")
	refused(context.SlabRenumber(nil, nil), "joined is nil")
}

func TestSeveralDevices(t *testing.T) {
	for _, wrong := range []struct {
		devices []int
		status  Status
		words   string
	}{
		{nil, ErrorArgument, "devices is empty"}, {[]int{-1}, ErrorArgument, "devices[0] is -1, but must be a CUDA device number"},
		{[]int{DeviceCount(), DeviceCount()}, ErrorNoDevice, "NewDevices: "},
	} {
		_, err := NewDevices(wrong.devices...)
		if !errors.Is(err, wrong.status) || !strings.Contains(err.Error(), wrong.words) {
			t.Errorf("%v, but it should say: %s", err, wrong.words)
		}
	}
	if most := DeviceCount(); most > 0 {
		context, err := NewDevices(0, most-1)
		must(t, err)
		same(t, context.Device(), 0)
		must(t, context.Close())
	}
}
