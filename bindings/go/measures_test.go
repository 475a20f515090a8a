package apsis

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestMorphology(t *testing.T) {
	const width, height = 20, 10
	c, set := newContext(t), randomSet(width*height, 0.05)
	grown, closed, again := make([]uint8, len(set)), make([]bool, len(set)), make([]bool, len(set))
	must(t, c.Morphology(Dilate, 1.5, Of(set, width, height), Of(grown, width, height), nil))
	for i := range set {
		if square, _ := bruteNearest(set, width, i%width, i/width); (grown[i] != 0) != (square <= 2) {
			t.Fatalf("pixel %d is %d, with a square of %d", i, grown[i], square)
		}
	}
	must(t, c.Morphology(Erode, 1.5, Of(grown, width, height), Of(closed, width, height), nil))
	must(t, c.Morphology(Close, 1.5, Of(set, width, height), Of(again, width, height), nil))
	if !reflect.DeepEqual(closed, again) {
		t.Fatal("closed at once and in two steps differ")
	}
	err := c.Morphology(Open, -2, Of(set, width, height), Of(again, width, height), nil)
	if err == nil || !strings.Contains(err.Error(), "Morphology: radius is -2") {
		t.Fatal(err)
	}
}

func TestBalls(t *testing.T) {
	const width, height = 9, 5 // a bar of five pixels by three
	c, set, squares := newContext(t), make([]uint8, width*height), make([]int32, width*height)
	for i := range set {
		if x, y := i%width, i/width; x >= 2 && x <= 6 && y >= 1 && y <= 3 {
			set[i] = 1
		}
	}
	must(t, c.Thickness(Of(set, width, height), Of(squares, width, height), nil))
	for i := range set {
		if squares[i] != 4*int32(set[i]) {
			t.Fatalf("pixel %d is %d thick, squared", i, squares[i])
		}
	}
	must(t, c.MedialAxis(Of(set, width, height), Of(squares, width, height), nil))
	for i, square := range squares {
		if (square > 0) != (i >= 21 && i <= 23) {
			t.Fatalf("pixel %d has a ball of %d", i, square)
		}
	}
	err := c.Thickness(Of(set, width, height), Of(make([]uint8, len(set)), width, height), nil)
	if err == nil || !strings.Contains(err.Error(), "thickness: type is U8") {
		t.Fatal(err)
	}
}

func TestSurfaceDistance(t *testing.T) {
	c, first, second := newContext(t), make([]uint8, 45), make([]uint8, 45)
	first[0], second[9*4+3] = 1, 1
	found, err := c.SurfaceDistance(Of(first, 9, 5), Of(second, 9, 5), SurfacePixels, 95, 4.5, nil)
	must(t, err)
	if found.Hausdorff != 5 || found.Average != 5 || found.Dice != 0 || found.Points != [2]int64{1, 1} {
		t.Fatal(found)
	}
	if _, err = c.SurfaceDistance(Of(first, 9, 5), Of(second, 9, 5), SurfacePixels, 101, 0, nil); err == nil ||
		!strings.Contains(err.Error(), "percentile is 101") {
		t.Fatal(err)
	}
	found, err = c.SurfaceDistance(Of(first, 9, 5), Of(second, 9, 5), SurfaceCorners, 95, 4.5, nil)
	must(t, err)
	if found.Points != [2]int64{4, 4} || math.Abs(found.Area[0]-2*math.Sqrt2) > 1e-12 {
		t.Fatal(found)
	}
	first[44], second[44] = 7, 7
	all, err := c.LabelSurfaceDistances(Of(first, 9, 5), Of(second, 9, 5), SurfacePixels, 95, 0, nil)
	must(t, err)
	if len(all) != 2 || all[0].Hausdorff != 5 || all[1].Value != 7 || all[1].Hausdorff != 0 {
		t.Fatal(all)
	}
}
