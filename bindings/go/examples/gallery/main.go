// Gallery draws maps of a page of text, of random points and of a flower: gallery SETS MAPS [DEVICE].
//
// SETS has page.pgm, points.pgm and flower.pgm, which bindings/gallery/make.py draws.  DEVICE is cpu, best or the number of a
// GPU.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"apsis"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: gallery SETS MAPS [DEVICE]")
	}
	sets, maps := os.Args[1], os.Args[2]
	context, err := apsis.New(deviceOf(os.Args[3:]))
	check(err)
	defer context.Close()
	fmt.Println("on", context.Name())

	page := read(filepath.Join(sets, "page.pgm"))
	distance(context, page, filepath.Join(maps, "distance.f32"))
	cells(context, read(filepath.Join(sets, "points.pgm")), filepath.Join(maps, "cells.i32"))
	letters(context, page, filepath.Join(maps, "letters"))
	reach(context, read(filepath.Join(sets, "flower.pgm")), filepath.Join(maps, "reach.f32"))
	refused(context, page)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// deviceOf is the device that arguments name.
func deviceOf(arguments []string) int {
	if len(arguments) == 0 || arguments[0] == "best" {
		return apsis.Best
	}
	if arguments[0] == "cpu" {
		return apsis.CPU
	}
	number, err := strconv.Atoi(arguments[0])
	check(err)
	return number
}

func distance(context *apsis.Context, page set, path string) {
	out := make([]float32, len(page.pixels))
	check(context.Distance(page.image(), apsis.Of(out, page.width, page.height), apsis.None, nil))
	write(path, out)
}

func cells(context *apsis.Context, points set, path string) {
	out := make([]int32, len(points.pixels))
	connected := &apsis.Options{Flags: apsis.Connected}
	check(context.Voronoi(points.image(), apsis.Of(out, points.width, points.height), connected))
	write(path, out)
}

func letters(context *apsis.Context, page set, path string) {
	labels := make([]int32, len(page.pixels))
	eight := &apsis.Options{Connectivity: 2}
	known, err := context.Statistics(page.image(), apsis.Of(labels, page.width, page.height), eight)
	check(err)
	var largest int64
	for _, letter := range known {
		if letter.Area > largest {
			largest = letter.Area
		}
	}
	fmt.Printf("%d letters; the largest has %d pixels\n", len(known), largest)
	write(path+".i32", labels)
	writeTable(path+".csv", known)
}

func reach(context *apsis.Context, flower set, path string) {
	out := make([]float32, len(flower.pixels))
	extents, err := context.Extents(flower.image(), apsis.Of(out, flower.width, flower.height), apsis.None, nil)
	check(err)
	for _, extent := range extents {
		fmt.Printf("the flower: diameter %.3f, radius %.3f\n", extent.Diameter, extent.Radius)
	}
	write(path, out)
}

// refused shows what a wrong call gives.
func refused(context *apsis.Context, page set) {
	out := make([]float32, len(page.pixels))
	wrong := &apsis.Options{MaxDistance: -1}
	err := context.Distance(page.image(), apsis.Of(out, page.width, page.height), apsis.None, wrong)
	if !errors.Is(err, apsis.ErrorArgument) {
		log.Fatal("this should be refused: ", err)
	}
	fmt.Println("refused:", err)
}
