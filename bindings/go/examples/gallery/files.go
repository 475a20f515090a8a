package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"apsis"
)

// set is its pixels that are not 0.
type set struct {
	pixels        []uint8
	width, height int
}

func (s set) image() apsis.Image { return apsis.Of(s.pixels, s.width, s.height) }

// read reads a set from a PGM.
func read(path string) (s set) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	reader := bufio.NewReader(file)
	_, err = fmt.Fscanf(reader, "P5 %d %d 1\n", &s.width, &s.height)
	check(err)
	s.pixels, err = io.ReadAll(reader)
	check(err)
	return s
}

// write writes a map: its pixels, and nothing else.
func write(path string, pixels any) {
	file, err := os.Create(path)
	check(err)
	check(binary.Write(file, binary.LittleEndian, pixels))
	check(file.Close())
}

// writeTable writes what is known of components, a line for each; numbers in as few digits as tell them apart.
func writeTable(path string, known []apsis.Component) {
	file, err := os.Create(path)
	check(err)
	out := bufio.NewWriter(file)
	fmt.Fprintln(out, "label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean")
	for i, c := range known {
		fmt.Fprintf(out, "%d,%d,%d", i+1, c.First, c.Area)
		for _, corner := range [][3]int64{c.Lower, c.Upper} {
			fmt.Fprintf(out, ",%d,%d,%d", corner[0], corner[1], corner[2])
		}
		for _, mean := range c.Centroid {
			fmt.Fprint(out, ",", strconv.FormatFloat(mean, 'f', -1, 64))
		}
		fmt.Fprintln(out)
	}
	check(out.Flush())
	check(file.Close())
}
