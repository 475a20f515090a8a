package apsis_test

import (
	"fmt"

	"apsis"
)

func Example() {
	context, err := apsis.New(apsis.CPU)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer context.Close()
	const width, height = 6, 1
	mask := []uint8{0, 0, 1, 0, 0, 0}
	distance, nearest := make([]float32, width*height), make([]int32, width*height)
	err = context.Distance(apsis.Of(mask, width, height), apsis.Of(distance, width, height),
		apsis.Of(nearest, width, height), nil)
	fmt.Println(distance, nearest, err)
	err = context.Distance(apsis.Of(mask, width, height), apsis.Of(distance, width, height), apsis.None,
		&apsis.Options{MaxDistance: -1})
	fmt.Println(err)
	// Output:
	// [2 1 0 1 2 3] [2 2 2 2 2 2] <nil>
	// apsis: Distance: options: MaxDistance is -1, but must be positive, or 0 for no limit
}
