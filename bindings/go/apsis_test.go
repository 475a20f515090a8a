package apsis

import (
	"errors"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func newContext(t *testing.T) *Context {
	t.Helper()
	c, err := New(CPU)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func randomSet(n int, density float64) []uint8 {
	random, set := rand.New(rand.NewSource(1)), make([]uint8, n)
	for i := range set {
		if random.Float64() < density {
			set[i] = 1
		}
	}
	return set
}

// bruteNearest is the square of the distance to the nearest pixel of the set, and the lowest index of such a pixel.
func bruteNearest(set []uint8, width, x, y int) (square, nearest int) {
	square, nearest = math.MaxInt, -1
	for i, in := range set {
		dx, dy := i%width-x, i/width-y
		if in != 0 && dx*dx+dy*dy < square {
			square, nearest = dx*dx+dy*dy, i
		}
	}
	return square, nearest
}

func TestDistanceIsThatOfBruteForce(t *testing.T) {
	const width, height = 23, 17
	c, set := newContext(t), randomSet(width*height, 0.05)
	distance, nearest := make([]float64, len(set)), make([]int32, len(set))
	must(t, c.Distance(Of(set, width, height), Of(distance, width, height), Of(nearest, width, height), nil))
	cells := make([]int64, len(set))
	must(t, c.Voronoi(Of(set, width, height), Of(cells, width, height), nil))
	for i := range set {
		square, site := bruteNearest(set, width, i%width, i/width)
		if distance[i] != math.Sqrt(float64(square)) || int(nearest[i]) != site || int(cells[i]) != site {
			t.Fatalf("pixel %d: %v, %d, %d; expected the root of %d, %d", i, distance[i], nearest[i], cells[i], square, site)
		}
	}
}

func TestViewsAreTakenAsTheyLie(t *testing.T) {
	const width, height = 20, 10
	c, set := newContext(t), randomSet(width*height, 0.1)
	plain, turned := make([]float32, len(set)), make([]float32, len(set))
	must(t, c.Distance(Of(set, width, height), Of(plain, width, height), None, nil))
	size, stride := []int{height, width}, []int{-width, -1} // the image turned about, with its axes exchanged
	must(t, c.Distance(View(set, len(set)-1, size, stride), View(turned, len(set)-1, size, stride), None, nil))
	if !reflect.DeepEqual(plain, turned) {
		t.Fatal("a view has other distances")
	}
	bits, flags := make([]byte, 3*height), make([]bool, len(set))
	for i, in := range set {
		bits[i/width*3+i%width/8] |= in << (i % width % 8)
		flags[i] = in != 0
	}
	for _, image := range []Image{Bits(bits, width, height), Of(flags, width, height)} {
		must(t, c.Distance(image, Of(turned, width, height), None, nil))
		if !reflect.DeepEqual(plain, turned) {
			t.Fatal("the set in another type has other distances")
		}
	}
}

func TestComponentsAndWhatIsKnownOfThem(t *testing.T) {
	c, labels := newContext(t), make([]int32, 12)
	set := []uint8{
		1, 1, 0, 0,
		0, 1, 0, 0,
		0, 0, 0, 1}
	known, err := c.Statistics(Of(set, 4, 3), Of(labels, 4, 3), nil)
	must(t, err)
	expected := []Component{
		{First: 0, Area: 3, Upper: [3]int64{1, 1, 0}, Centroid: [3]float64{2. / 3, 1. / 3, 0}, Value: 1},
		{First: 11, Area: 1, Lower: [3]int64{3, 2, 0}, Upper: [3]int64{3, 2, 0}, Centroid: [3]float64{3, 2, 0}, Value: 1}}
	if !reflect.DeepEqual(known, expected) || labels[5] != 1 || labels[11] != 2 {
		t.Fatalf("%v, %v", known, labels)
	}
	count, err := c.Components(Of(set, 4, 3), None, &Options{MinArea: 2})
	must(t, err)
	if count != 1 {
		t.Fatalf("%d components of 2 pixels or more", count)
	}
}

func TestMoreComponentsThanThereIsRoomForAtFirst(t *testing.T) {
	const side = 2 * 70
	c, set := newContext(t), make([]uint8, side*side)
	for i := range set {
		set[i] = uint8((i%side + 1) % 2 * ((i/side + 1) % 2))
	}
	known, err := c.Statistics(Of(set, side, side), None, nil)
	must(t, err)
	extents, err := c.Extents(Of(set, side, side), None, None, nil)
	must(t, err)
	if len(known) != 70*70 || len(extents) != 70*70 || known[70*70-1].First != extents[70*70-1].First {
		t.Fatalf("%d and %d components", len(known), len(extents))
	}
}

func TestPaths(t *testing.T) {
	c, set := newContext(t), []uint8{
		1, 1, 1,
		1, 0, 1,
		1, 0, 1}
	seeds := []uint8{0, 0, 0, 0, 0, 0, 1, 0, 0}
	length, nearest, reach := make([]int32, 9), make([]int64, 9), make([]float32, 9)
	options := &Options{Metric: CityBlock}
	must(t, c.Geodesic(Of(set, 3, 3), Of(seeds, 3, 3), Of(length, 3, 3), Of(nearest, 3, 3), options))
	if !reflect.DeepEqual(length, []int32{2, 3, 4, 1, -1, 5, 0, -1, 6}) || nearest[8] != 6 {
		t.Fatalf("%v %v", length, nearest)
	}
	extents, err := c.Extents(Of(set, 3, 3), Of(reach, 3, 3), None, options)
	must(t, err)
	if e := extents[0]; e.Diameter != 6 || e.Radius != 3 || e.Ends != [2]int64{6, 8} || e.Centre != 1 || reach[0] != 4 {
		t.Fatalf("%+v %v", e, reach)
	}
	options.Flags = PeriodicX
	must(t, c.Geodesic(Of(set, 3, 3), Of(seeds, 3, 3), Of(length, 3, 3), None, options))
	if !reflect.DeepEqual(length, []int32{2, 3, 3, 1, -1, 2, 0, -1, 1}) {
		t.Fatal(length)
	}
	labels := []int32{
		3, 3, 8,
		3, 0, 8,
		5, 8, 8}
	options.Flags = LabelImage
	must(t, c.Eccentricity(Of(labels, 3, 3), Of(length, 3, 3), None, options))
	if !reflect.DeepEqual(length, []int32{1, 2, 3, 2, -1, 2, 0, 3, 2}) {
		t.Fatal(length)
	}
	if err := c.Eccentricity(Of(set, 3, 3), Of(reach, 3, 3), None, &Options{Budget: 1}); err != nil &&
		!errors.Is(err, ErrorBudget) {
		t.Fatal(err)
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	c := newContext(t)
	set, out := make([]uint8, 6), make([]float32, 6)
	for name, err := range map[string]error{
		"options: Spacing[0] is -1":     c.Distance(Of(set, 3, 2), Of(out, 3, 2), None, &Options{Spacing: [3]float64{-1, 1, 1}}),
		"distance has pixels 0 to 8":    c.Distance(Of(set, 3, 2), Of(out, 3, 3), None, nil),
		"set has 1 extents":             c.Distance(Of(set, 6), Of(out, 3, 2), None, nil),
		"set has an extent of -3":       c.Distance(Of(set, -3, 2), Of(out, 3, 2), None, nil),
		"set needs 16 bytes":            c.Distance(Bits(set, 9, 8), Of(out, 3, 2), None, nil),
		"set has stride 0":              c.Distance(View(set, 0, []int{3, 2}, []int{1, 0}), Of(out, 3, 2), None, nil),
		"set has 1 strides for 2":       c.Distance(View(set, 0, []int{3, 2}, []int{1}), Of(out, 3, 2), None, nil),
		"seeds has pixels":              c.Geodesic(Of(set, 3, 2), Of(set, 3, 3), Of(out, 3, 2), None, nil),
		"cells has pixels":              c.Voronoi(Of(set, 3, 2), Of(make([]int32, 2), 3, 2), nil),
		"set":                           c.Distance(None, Of(out, 3, 2), None, nil),
		"to has pixels 0 to 5, of a sl": c.Copy(Of(set, 3, 2), Of(set[:2], 3, 2)),
	} {
		if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := New(1000); !errors.Is(err, ErrorNoDevice) || err.Error() == "apsis: " {
		t.Errorf("device 1000: %v", err)
	}
	if ErrorRange.Error() != "ErrorRange" {
		t.Error(ErrorRange)
	}
}

func TestErrorsAreInTheWordsOfGo(t *testing.T) {
	c := newContext(t)
	set, out, index := Of(make([]uint8, 6), 3, 2), Of(make([]float32, 6), 3, 2), Of(make([]int32, 6), 3, 2)
	_, inComponents := c.Components(set, None, &Options{Flags: Signed, MinArea: 1})
	_, negative := c.Components(set, None, &Options{MinArea: -1})
	for expected, err := range map[string]error{
		"Distance: set: type is F32, but a set is Bit, U8, U16, I32 or I64": c.Distance(out, out, None, nil),
		"Distance: set is None, but an image is needed":                     c.Distance(None, out, None, nil),
		"Distance: options: MaxDistance is -1, but must be positive":        c.Distance(set, out, None, &Options{MaxDistance: -1}),
		"Geodesic: options: Method is Sweep, but Geodesic takes":            c.Geodesic(set, set, out, None, &Options{Method: Sweep}),
		"Voronoi: options: Method is 99, but the last Method is":            c.Voronoi(set, index, &Options{Method: 99}),
		"Components: options: Signed is set, but components have no":        inComponents,
		"Components: options: MinArea is -1, but must be positive":          negative,
		"Distance: distance: data is nil, but the image has pixels":         c.Distance(set, At(nil, F32, Host, 3, 2), None, nil),
		"SetStream: stream is not nil, but the context is a CPU one":        c.SetStream(unsafe.Pointer(&index)),
		"Distance: options: Metric is Chamfer, which is for paths, and ":    c.Distance(set, out, None, &Options{Metric: Chamfer}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "apsis: "+expected) {
			t.Errorf("%q: %v", expected, err)
		}
	}
	if _, err := New(-7); err == nil || !strings.HasPrefix(err.Error(), "apsis: New: device is -7, but must be CPU, Best or") {
		t.Error(err)
	}
}

// Nothing is written when elements of an output, or of two images, are one.
func TestOutputsOverlapNothing(t *testing.T) {
	c, set, out := newContext(t), randomSet(12, 0.5), make([]int32, 24)
	for i := range out {
		out[i] = -7
	}
	input, output := Of(set, 4, 3), Of(out, 4, 3)
	view := func(offset int, stride ...int) Image { return View(out, offset, []int{4, 3}, stride) }
	for name, err := range map[string]error{
		"distance: stride[1] is 4 bytes, but pixels overlap": c.Distance(input, view(0, 1, 1), None, nil),
		"distance: stride[1] is -4 bytes, but pixels":        c.Distance(input, view(9, 1, -1), None, nil),
		"distance has stride 0 along an axis of 3":           c.Distance(input, view(0, 1, 0), None, nil),
		"nearest overlaps distance":                          c.Distance(input, output, output, nil),
		"labels overlaps set":                                labelsInPlace(c, input),
		"to overlaps from":                                   c.Copy(output, view(1, 1, 4)),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, value := range out {
		if value != -7 {
			t.Fatalf("written: %v", out)
		}
	}
}

func labelsInPlace(c *Context, set Image) error {
	_, err := c.Components(set, set, nil)
	return err
}

func TestProgressCanStopAndPanic(t *testing.T) {
	const side = 600
	c, set, out := newContext(t), randomSet(side*side, 0.01), make([]float32, side*side)
	var last float64
	lines := 0
	must(t, c.SetLog(func(string) { lines++ }))
	must(t, c.SetProgress(func(done float64) bool { last = done; return false }))
	must(t, c.Distance(Of(set, side, side), Of(out, side, side), None, nil))
	if last != 1 {
		t.Errorf("the end was at %v", last)
	}
	must(t, c.SetProgress(func(float64) bool { return true }))
	if err := c.Distance(Of(set, side, side), Of(out, side, side), None, nil); !errors.Is(err, ErrorCancelled) {
		t.Error(err)
	}
	must(t, c.SetProgress(func(float64) bool { panic("enough") }))
	func() {
		defer func() {
			if recover() != "enough" {
				t.Error("the panic was lost")
			}
		}()
		c.Distance(Of(set, side, side), Of(out, side, side), None, nil)
	}()
	must(t, c.SetProgress(nil))
	must(t, c.Distance(Of(set, side, side), Of(out, side, side), None, nil))
}

func TestContextsAreIndependent(t *testing.T) {
	const side = 100
	set := randomSet(side*side, 0.01)
	var all sync.WaitGroup
	results := make([][]float32, 8)
	for i := range results {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			c, err := New(CPU)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			results[i] = make([]float32, len(set))
			if err := c.Distance(Of(set, side, side), Of(results[i], side, side), None, nil); err != nil {
				t.Error(err)
			}
		}(i)
	}
	all.Wait()
	for _, result := range results {
		if !reflect.DeepEqual(result, results[0]) {
			t.Error("results differ")
		}
	}
}

// On a GPU, where there is one: through memory of the device, and straight from slices.
func TestDeviceGivesWhatTheCPUGives(t *testing.T) {
	if DeviceCount() == 0 {
		t.Skip("no GPU")
	}
	const side = 300
	gpu, err := New(Best)
	must(t, err)
	defer gpu.Close()
	set, expected, out := randomSet(side*side, 0.01), make([]float32, side*side), make([]float32, side*side)
	must(t, newContext(t).Distance(Of(set, side, side), Of(expected, side, side), None, nil))
	must(t, gpu.Distance(Of(set, side, side), Of(out, side, side), None, nil))
	if !reflect.DeepEqual(out, expected) {
		t.Error("from slices")
	}
	there, err := gpu.Alloc(U8, Device, side, side)
	must(t, err)
	defer gpu.Free(&there)
	distance, err := gpu.Alloc(F32, Device, side, side)
	must(t, err)
	defer gpu.Free(&distance)
	must(t, gpu.Copy(Of(set, side, side), there))
	must(t, gpu.Distance(there, distance, None, nil))
	out = make([]float32, side*side)
	must(t, gpu.Copy(distance, Of(out, side, side)))
	if !reflect.DeepEqual(out, expected) {
		t.Error("in memory of the device")
	}
}

func TestMemoryOfTheLibrary(t *testing.T) {
	c := newContext(t)
	image, err := c.Alloc(U8, Host, 3, 2)
	must(t, err)
	must(t, c.Copy(Of([]uint8{1, 0, 0, 0, 0, 0}, 3, 2), image))
	out := make([]float32, 6)
	must(t, c.Distance(image, Of(out, 3, 2), None, nil))
	if out[2] != 2 || out[3] != 1 {
		t.Error(out)
	}
	c.Free(&image)
	c.Free(&image)
	if image.data != nil {
		t.Error("it is still there")
	}
}

func TestVersionsAreOne(t *testing.T) {
	if LibraryVersion() != HeaderVersion {
		t.Errorf("header %d, library %d", HeaderVersion, LibraryVersion())
	}
	if c := newContext(t); c.Device() != CPU || c.Name() == "" {
		t.Error(c.Device(), c.Name())
	}
}

func TestClosingTwiceAndNever(t *testing.T) {
	c, err := New(CPU)
	must(t, err)
	must(t, c.Close())
	if err := c.Close(); err != ErrorClosed {
		t.Error(err)
	}
	_, err = New(CPU) // its finalizer closes it
	must(t, err)
}

func TestAClosedContextSaysSo(t *testing.T) {
	c, err := New(CPU)
	must(t, err)
	must(t, c.Close())
	set, out := Of(make([]uint8, 6), 3, 2), Of(make([]int32, 6), 3, 2)
	_, inComponents := c.Components(set, out, nil)
	_, inStatistics := c.Statistics(set, out, nil)
	_, inExtents := c.Extents(set, None, out, nil)
	_, inAlloc := c.Alloc(U8, Host, 3, 2)
	for i, err := range []error{
		c.Distance(set, out, None, nil), c.Voronoi(set, out, nil), inComponents, inStatistics, c.Geodesic(set, set, None, out, nil),
		c.Eccentricity(set, None, out, nil), inExtents, inAlloc, c.Copy(set, set), c.SetThreads(1), c.SetStream(nil), c.Sync(),
		c.SetProgress(nil), c.SetLog(nil), new(Context).Sync()} {
		if err != ErrorClosed || err.Error() != "apsis: the context is closed" {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if c.Device() != CPU || c.Name() != "" {
		t.Error(c.Device(), c.Name())
	}
}
