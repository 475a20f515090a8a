package apsis

import (
	"reflect"
	"strings"
	"testing"
)

func TestPathsOfLeastCost(t *testing.T) {
	c, distance, nearest := newContext(t), make([]float64, 12), make([]int32, 12)
	costs, seeds := []uint16{1, 9, 1, 1, 1, 0, 9, 1, 1, 1, 1, 1}, []uint8{0: 1, 11: 0}
	options := &Options{Metric: CityBlock}
	must(t, c.CostDistance(None, Of(costs, 4, 3), Of(seeds, 4, 3), Of(distance, 4, 3), Of(nearest, 4, 3), options))
	if !reflect.DeepEqual(distance, []float64{0, 5, 8, 7, 1, -1, 9, 6, 2, 3, 4, 5}) || nearest[2] != 0 || nearest[5] != -1 {
		t.Fatal(distance, nearest)
	}
	paths, pixels, err := c.Paths(None, Of(costs, 4, 3), Of(seeds, 4, 3), []int64{2, 5}, options)
	must(t, err)
	if !reflect.DeepEqual(pixels, []int64{2, 3, 7, 11, 10, 9, 8, 4, 0}) || paths[0].Cost != 8 || paths[1].Seed != -1 {
		t.Fatal(paths, pixels)
	}
	if _, _, err = c.Paths(None, None, Of(seeds, 4, 3), []int64{12}, nil); err == nil ||
		!strings.Contains(err.Error(), "starts[0] is 12") {
		t.Fatal(err)
	}
}

func TestWeights(t *testing.T) {
	c, distance := newContext(t), make([]int32, 12)
	set, seeds := []uint8{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []uint8{0: 1, 11: 0}
	options := &Options{Metric: Chamfer, Weights: [4]int32{5, 7, 11}}
	must(t, c.Geodesic(Of(set, 4, 3), Of(seeds, 4, 3), Of(distance, 4, 3), None, options))
	if !reflect.DeepEqual(distance, []int32{0, 5, 10, 15, 5, 7, 11, 16, 10, 11, 14, 18}) {
		t.Fatal(distance)
	}
	options.Weights[2] = 13
	if err := c.Geodesic(Of(set, 4, 3), Of(seeds, 4, 3), Of(distance, 4, 3), None, options); err == nil {
		t.Fatal("13 is too long for a knight's move")
	}
}

func TestLongestPathsAreMoreThanThereIsRoomForAtFirst(t *testing.T) {
	const width, height = 300, 100 // specks, three pixels apart, in every other row
	c, set := newContext(t), make([]uint8, width*height)
	for i := range set {
		set[i] = uint8((i/width + 1) % 2 * ((2 - i%3) / 2))
	}
	paths, pixels, err := c.LongestPaths(Of(set, width, height), nil)
	must(t, err)
	if len(paths) != 5000 || len(pixels) != 5000 {
		t.Fatal(len(paths), len(pixels))
	}
	line := []uint8{1, 1, 1, 0, 1, 1}
	paths, pixels, err = c.LongestPaths(Of(line, 6, 1), nil)
	must(t, err)
	if !reflect.DeepEqual(pixels, []int64{0, 1, 2, 4, 5}) || paths[0].Length != 2 || paths[1].Tortuosity != 1 {
		t.Fatal(paths, pixels)
	}
}
