//! What to compute.

use apsis_sys as sys;

/// How length is measured: that of an offset, and of each step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum Metric {
    Euclidean = sys::APSIS_EUCLIDEAN,
    CityBlock = sys::APSIS_CITY_BLOCK,
    Chessboard = sys::APSIS_CHESSBOARD,
    Chamfer = sys::APSIS_CHAMFER,
}

/// What becomes of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum Operation {
    Dilate = sys::APSIS_DILATE,
    Erode = sys::APSIS_ERODE,
    Open = sys::APSIS_OPEN,
    Close = sys::APSIS_CLOSE,
}

/// What the surface of a set is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum Surface {
    /// Its pixels with a neighbour outside of it, as MONAI has them.
    Pixels = sys::APSIS_SURFACE_PIXELS,
    /// All its pixels, as scikit-image has them.
    All = sys::APSIS_SURFACE_ALL,
    /// Weighted corners of pixels, as DeepMind's surface-distance has them.
    Corners = sys::APSIS_SURFACE_CORNERS,
}

/// The method to compute with; the published ones are there for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum Method {
    Auto = sys::APSIS_AUTO,
    RasterScan = sys::APSIS_RASTER_SCAN,
    Sweep = sys::APSIS_SWEEP,
    JumpFlood = sys::APSIS_JUMP_FLOOD,
    TileFill = sys::APSIS_TILE_FILL,
    EverySource = sys::APSIS_EVERY_SOURCE,
    SweepBlocks = sys::APSIS_SWEEP_BLOCKS,
    SweepRows = sys::APSIS_SWEEP_ROWS,
    SequentialScan = sys::APSIS_SEQUENTIAL_SCAN,
}

/// What to compute: the defaults, and what is said otherwise.
///
/// ```
/// use apsis::{Metric, Options};
/// let options = Options::new().metric(Metric::CityBlock).spacing([1.0, 2.0, 1.0]).complement();
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Options(sys::apsis_options);

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Options {
    pub const fn new() -> Options {
        Options(sys::apsis_options {
            struct_size: std::mem::size_of::<sys::apsis_options>() as u32,
            flags: 0,
            spacing: [0.0; 3],
            max_distance: 0.0,
            metric: sys::APSIS_EUCLIDEAN,
            method: sys::APSIS_AUTO,
            connectivity: 0,
            largest: 0,
            min_area: 0,
            max_area: 0,
            budget: 0,
            delta: 0.0,
            weights: [0; 4],
        })
    }

    /// The size of a pixel along x, y, z; in 2-D the last counts for nothing.
    pub const fn spacing(mut self, spacing: [f64; 3]) -> Options {
        self.0.spacing = spacing;
        self
    }

    /// Stop looking beyond this distance.
    pub const fn max_distance(mut self, distance: f64) -> Options {
        self.0.max_distance = distance;
        self
    }

    pub const fn metric(mut self, metric: Metric) -> Options {
        self.0.metric = metric as i32;
        self
    }

    pub const fn method(mut self, method: Method) -> Options {
        self.0.method = method as i32;
        self
    }

    /// The axes along which neighbours may differ: 1 (4 or 6 neighbours), 2 (8 or 18), 3 (26).
    pub const fn connectivity(mut self, axes: i32) -> Options {
        self.0.connectivity = axes;
        self
    }

    /// How many numbers slabs of maps tell of each column, each way.
    pub(crate) const fn told(&self) -> usize {
        if self.by_labels() {
            3
        } else {
            1
        }
    }

    pub(crate) const fn by_labels(&self) -> bool {
        self.0.flags & sys::APSIS_LABELS != 0
    }

    /// Components: leave out all but this many, the largest.
    pub const fn largest(mut self, count: i32) -> Options {
        self.0.largest = count;
        self
    }

    /// Components: leave out those of fewer pixels.
    pub const fn min_area(mut self, pixels: i64) -> Options {
        self.0.min_area = pixels;
        self
    }

    /// Components: leave out those of more pixels.
    pub const fn max_area(mut self, pixels: i64) -> Options {
        self.0.max_area = pixels;
        self
    }

    /// Components of a grey image, of `f32` too: neighbours are connected where neither is 0 and their values differ by at
    /// most this.
    pub const fn delta(mut self, difference: f64) -> Options {
        self.0.delta = difference;
        self.labels()
    }

    /// [`Metric::Chamfer`]: steps along one axis, along two, and along three, or in 2-D a knight's move, 0 for none; the last
    /// one is 0.  Such are 5, 7, 11 and, by default, 3, 4, 5.
    pub const fn weights(mut self, weights: [i32; 4]) -> Options {
        self.0.weights = weights;
        self
    }

    /// Eccentricity: at most this many distance fields for a component.
    pub const fn budget(mut self, fields: i64) -> Options {
        self.0.budget = fields;
        self
    }

    /// The set is the zero pixels instead.
    pub const fn complement(self) -> Options {
        self.flag(sys::APSIS_COMPLEMENT)
    }

    /// Distance: inside the set, minus the distance to its complement.
    pub const fn signed(self) -> Options {
        self.flag(sys::APSIS_SIGNED)
    }

    /// Voronoi: hide exclaves, so that every cell is connected.
    pub const fn connected(self) -> Options {
        self.flag(sys::APSIS_CONNECTED)
    }

    /// Every z of a 3-D image is a 2-D image of its own.
    pub const fn slices(self) -> Options {
        self.flag(sys::APSIS_SLICES)
    }

    /// Components: leave out those that touch the border of the image.
    pub const fn no_border(self) -> Options {
        self.flag(sys::APSIS_NO_BORDER)
    }

    /// Components: leave out those that do not touch it.
    pub const fn no_inner(self) -> Options {
        self.flag(sys::APSIS_NO_INNER)
    }

    /// Voronoi by [`Method::Sweep`]: as the sweeps leave it.
    pub const fn mixed(self) -> Options {
        self.flag(sys::APSIS_MIXED)
    }

    /// The set is a label image: every value other than 0 is a set of its own.
    pub const fn labels(self) -> Options {
        self.flag(sys::APSIS_LABELS)
    }

    /// Distance: what lies outside the image is background.
    pub const fn border(self) -> Options {
        self.flag(sys::APSIS_BORDER)
    }

    /// The image closes on itself along x: components, contacts, distance, the complete Voronoi map, and paths.
    pub const fn periodic_x(self) -> Options {
        self.flag(sys::APSIS_PERIODIC_X)
    }

    /// The same along y.
    pub const fn periodic_y(self) -> Options {
        self.flag(sys::APSIS_PERIODIC_Y)
    }

    /// The same along z.
    pub const fn periodic_z(self) -> Options {
        self.flag(sys::APSIS_PERIODIC_Z)
    }

    /// Statistics: an element for each value.
    pub(crate) const fn dense(self) -> Options {
        self.flag(sys::APSIS_DENSE)
    }

    const fn flag(mut self, flag: u32) -> Options {
        self.0.flags |= flag;
        self
    }

    /// Whether components are left out.
    pub(crate) fn selects(&self) -> bool {
        let flags = self.0.flags & (sys::APSIS_NO_BORDER | sys::APSIS_NO_INNER);
        flags != 0 || self.0.largest != 0 || self.0.min_area != 0 || self.0.max_area != 0
    }

    pub(crate) fn raw(&self) -> *const sys::apsis_options {
        &self.0
    }
}
