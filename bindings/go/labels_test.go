package apsis

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// labels is 4 wide and 3 high.
var labels = []uint16{
	3, 3, 0, 0,
	3, 8, 8, 0,
	0, 8, 8, 5}

func TestWhatIsKnownOfValues(t *testing.T) {
	c := newContext(t)
	known, err := c.ValueStatistics(Of(labels, 4, 3))
	must(t, err)
	table, err := c.ValueTable(Of(labels, 4, 3), 9)
	must(t, err)
	eight := Component{5, 4, [3]int64{1, 1, 0}, [3]int64{2, 2, 0}, [3]float64{1.5, 1.5, 0}, 8}
	if len(known) != 4 || known[0].Area != 4 || known[1].Value != 3 || known[2].Value != 5 || known[3] != eight {
		t.Fatal(known)
	}
	none := Component{First: -1, Lower: [3]int64{-1, -1, -1}, Upper: [3]int64{-1, -1, -1}, Value: 4}
	if len(table) != 9 || table[8] != eight || table[4] != none || table[5] != known[2] {
		t.Fatal(table)
	}
	_, err = c.ValueTable(Of(labels, 4, 3), 8)
	if !errors.Is(err, ErrorRange) || !strings.Contains(err.Error(), "capacity is 8") {
		t.Fatal(err)
	}
	if _, err = c.ValueTable(Of(labels, 4, 3), -1); !errors.Is(err, ErrorArgument) {
		t.Fatal(err)
	}
	if table, err = c.ValueTable(Of([]uint16{}, 0, 3), 5); err != nil || table[4] != none {
		t.Fatal(table, err)
	}
	if _, err = c.ValueStatistics(Of([]float32{1}, 1, 1)); !errors.Is(err, ErrorArgument) {
		t.Fatal(err)
	}
}

func TestWhichValuesTouch(t *testing.T) {
	c := newContext(t)
	known, err := c.Contacts(Of(labels, 4, 3), &Options{Connectivity: 2, Spacing: [3]float64{2, 5, 1}})
	must(t, err)
	expected := []Contact{{3, 8, [3]int64{1, 1, 0}, 3, 7}, {5, 8, [3]int64{1, 0, 0}, 1, 5}}
	if !reflect.DeepEqual(known, expected) {
		t.Fatal(known)
	}
	_, err = c.Contacts(Of(labels, 4, 3), &Options{Flags: Complement})
	if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), "LabelImage") {
		t.Fatal(err)
	}
}

func TestMeasuresOfValues(t *testing.T) {
	c := newContext(t)
	known, err := c.Measures(Of(labels, 4, 3), None, Surface|Euler, &Options{Spacing: [3]float64{2, 5, 1}})
	must(t, err)
	if len(known) != 3 || known[2].Component.Value != 8 || known[2].Component.Area != 4 || known[2].Euler != 1 ||
		known[2].Border != 1 || known[2].Surface != 4*2+4*5 || known[2].Perimeter != 0 {
		t.Fatal(known)
	}
	known, err = c.Measures(Of([]uint8{1, 1, 2}, 3, 1), Of([]float32{1, 2.5, -1}, 3, 1), Intensity, nil)
	must(t, err)
	if len(known) != 2 || known[0].IntensitySum != 3.5 || known[1].IntensityMin != -1 {
		t.Fatal(known)
	}
	_, err = c.Measures(Of(labels, 4, 3), None, Intensity, nil)
	if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), "grey is None") {
		t.Fatal(err)
	}
}

func TestMoreValuesThanThereIsRoomForAtFirst(t *testing.T) {
	c, many := newContext(t), make([]int32, 300*100)
	for i := range many {
		many[i] = int32(len(many) - i)
	}
	known, err := c.ValueStatistics(Of(many, 300, 100))
	must(t, err)
	touching, err := c.Contacts(Of(many, 300, 100), nil)
	must(t, err)
	if len(known) != len(many) || known[0].First != int64(len(many)-1) || len(touching) != 299*100+300*99 {
		t.Fatal(len(known), len(touching))
	}
}

func TestComponentsOfGreyImages(t *testing.T) {
	c := newContext(t)
	count := func(image Image, delta float64) int64 {
		n, err := c.Components(image, None, &Options{Flags: LabelImage, Delta: delta})
		must(t, err)
		return n
	}
	bytes := Of([]uint8{1, 2, 4, 0, 9, 0, 5, 7}, 4, 2)
	reals := Of([]float32{0.5, 0.75, float32(math.NaN()), 0, -0.5, 1, 1, 1.25}, 4, 2)
	if found := [...]int64{count(bytes, 0), count(bytes, 1), count(bytes, 2)}; found != [...]int64{6, 4, 2} {
		t.Fatal(found)
	}
	if found := [...]int64{count(reals, 0), count(reals, 0.25), count(reals, 1)}; found != [...]int64{6, 3, 2} {
		t.Fatal(found)
	}
	_, err := c.Components(bytes, None, &Options{Delta: 1})
	if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), "Delta is 1, but without LabelImage") {
		t.Fatal(err)
	}
	_, err = c.Components(bytes, None, &Options{Flags: LabelImage, Delta: -1})
	if !errors.Is(err, ErrorArgument) || !strings.Contains(err.Error(), "Delta is -1") {
		t.Fatal(err)
	}
}

func TestMapsOfLabelImages(t *testing.T) {
	c := newContext(t)
	squares, grown, seeds := make([]int32, 12), make([]int32, 12), make([]int64, 12)
	must(t, c.Distance(Of(labels, 4, 3), Of(squares, 4, 3), None, &Options{Flags: LabelImage | Border}))
	must(t, c.Voronoi(Of(labels, 4, 3), Of(grown, 4, 3), &Options{Flags: LabelImage}))
	free := []bool{true, true, true, true, true, true, true, true, true, true, true, true}
	must(t, c.Geodesic(Of(free, 4, 3), Of(labels, 4, 3), None, Of(seeds, 4, 3), &Options{Flags: LabelImage}))
	if !reflect.DeepEqual(squares, []int32{1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1}) ||
		!reflect.DeepEqual(grown, []int32{3, 3, 3, 8, 3, 8, 8, 8, 3, 8, 8, 5}) || seeds[2] != 3 || seeds[11] != 5 {
		t.Fatal(squares, grown, seeds)
	}
}
