package apsis

// #include "bridge.h"
import "C"

// Metric is how length is measured: that of an offset, and of each step of a path.
type Metric int32

const (
	Euclidean  Metric = C.APSIS_EUCLIDEAN
	CityBlock  Metric = C.APSIS_CITY_BLOCK
	Chessboard Metric = C.APSIS_CHESSBOARD
	Chamfer    Metric = C.APSIS_CHAMFER
)

// Operation is what becomes of a set in Morphology.
type Operation int32

const (
	Dilate Operation = C.APSIS_DILATE
	Erode  Operation = C.APSIS_ERODE
	Open   Operation = C.APSIS_OPEN
	Close  Operation = C.APSIS_CLOSE
)

// Method is the method to compute with; all but Auto are there for comparison.
type Method int32

const (
	Auto           Method = C.APSIS_AUTO
	RasterScan     Method = C.APSIS_RASTER_SCAN
	Sweep          Method = C.APSIS_SWEEP
	JumpFlood      Method = C.APSIS_JUMP_FLOOD
	TileFill       Method = C.APSIS_TILE_FILL
	EverySource    Method = C.APSIS_EVERY_SOURCE
	SweepBlocks    Method = C.APSIS_SWEEP_BLOCKS
	SweepRows      Method = C.APSIS_SWEEP_ROWS
	SequentialScan Method = C.APSIS_SEQUENTIAL_SCAN
)

// Flags are joined with |.
type Flags uint32

const (
	Complement Flags = C.APSIS_COMPLEMENT // the set is the zero pixels instead
	Signed     Flags = C.APSIS_SIGNED     // Distance: inside the set, minus the distance to its complement
	Connected  Flags = C.APSIS_CONNECTED  // Voronoi: hide exclaves, so that every cell is connected
	Slices     Flags = C.APSIS_SLICES     // every z is a 2-D image of its own
	NoBorder   Flags = C.APSIS_NO_BORDER  // Components: leave out those that touch the image's border
	NoInner    Flags = C.APSIS_NO_INNER   // Components: leave out those that do not touch it
	Mixed      Flags = C.APSIS_MIXED      // Voronoi by Sweep: as the sweeps leave it
	LabelImage Flags = C.APSIS_LABELS     // every value other than 0 is a set of its own
	Border     Flags = C.APSIS_BORDER     // Distance: what lies outside the image is background
	PeriodicX  Flags = C.APSIS_PERIODIC_X // the image closes on itself along x
	PeriodicY  Flags = C.APSIS_PERIODIC_Y // along y
	PeriodicZ  Flags = C.APSIS_PERIODIC_Z // along z
)

// Options say what to compute.  The zero value of each means its default, and nil options are all the defaults.
type Options struct {
	Flags        Flags
	Spacing      [3]float64 // the size of a pixel along x, y, z; default 1
	MaxDistance  float64    // stop looking beyond this distance; default no limit
	Metric       Metric
	Method       Method
	Connectivity int     // axes along which neighbours may differ: 1 (4 or 6 neighbours), 2 (8 or 18), 3 (26)
	Largest      int     // Components: leave out all but this many of the largest
	MinArea      int64   // Components: leave out those of fewer pixels
	MaxArea      int64   // Components: leave out those of more
	Budget       int64   // Eccentricity: at most this many distance fields for a component
	Delta        float64 // Components with LabelImage: neighbours are connected whose values differ by at most this
}

// selects is whether components are left out.
func (o *Options) selects() bool {
	return o != nil && (o.Flags&(NoBorder|NoInner) != 0 || o.Largest != 0 || o.MinArea != 0 || o.MaxArea != 0)
}

// told is how many numbers slabs of maps tell each way.
func (o *Options) told(columns int) int {
	if o.byLabels() {
		return 3 * columns
	}
	return columns
}

func (o *Options) byLabels() bool { return o != nil && o.Flags&LabelImage != 0 }

func (o *Options) forC() *C.apsis_options {
	if o == nil {
		return nil
	}
	options := &C.apsis_options{
		struct_size:  C.sizeof_apsis_options,
		flags:        C.uint32_t(o.Flags),
		max_distance: C.double(o.MaxDistance),
		metric:       C.apsis_metric(o.Metric),
		method:       C.apsis_method(o.Method),
		connectivity: C.int32_t(o.Connectivity),
		largest:      C.int32_t(o.Largest),
		min_area:     C.int64_t(o.MinArea),
		max_area:     C.int64_t(o.MaxArea),
		budget:       C.int64_t(o.Budget),
		delta:        C.double(o.Delta),
	}
	for axis, size := range o.Spacing {
		options.spacing[axis] = C.double(size)
	}
	return options
}
