//! The calls of apsis_measures.h, as methods of a context.

use std::mem::MaybeUninit;

use apsis_sys as sys;

use crate::context::{or_null, read_all, Context};
use crate::error::Error;
use crate::image::{Source, Target};
use crate::options::{Operation, Options, Surface};

/// What is measured of a value; what was not asked for is 0.
pub use sys::apsis_measure as Measure;
pub use sys::apsis_path as Path;
/// How far two surfaces are apart; of two numbers the first is of the first surface.
pub use sys::apsis_surface_distances as SurfaceDistances;

impl Context {
    /// The set, dilated, eroded, opened or closed by a ball of this radius: 1 in the set that it has become, otherwise 0.  With
    /// labels they are label images both.
    pub fn morphology(
        &self,
        operation: Operation,
        radius: f64,
        set: &dyn Source,
        result: &mut dyn Target,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, result) = (self.source(set)?, self.target(Some(result))?);
        self.call(|raw| unsafe { sys::apsis_morphology(raw, operation as i32, radius, &set, or_null(&result), options.raw()) })
    }

    /// Compares two sets by their surfaces: a percentile from 0 to 100, and a tolerance for `within` and `dice`.
    pub fn surface_distance(
        &self,
        first: &dyn Source,
        second: &dyn Source,
        surface: Surface,
        percentile: f64,
        tolerance: f64,
        options: &Options,
    ) -> Result<SurfaceDistances, Error> {
        let mut found = MaybeUninit::<SurfaceDistances>::zeroed();
        let mut count = 0;
        self.compare([first, second], surface, [percentile, tolerance], (found.as_mut_ptr(), 1, &mut count), options)?;
        Ok(unsafe { found.assume_init() })
    }

    /// Compares two label images in the same way, each value but 0 that occurs in one of them, in ascending order.
    pub fn label_surface_distances(
        &self,
        first: &dyn Source,
        second: &dyn Source,
        surface: Surface,
        percentile: f64,
        tolerance: f64,
        options: &Options,
    ) -> Result<Vec<SurfaceDistances>, Error> {
        read_all(|found, capacity, count| {
            self.compare([first, second], surface, [percentile, tolerance], (found, capacity, count), &options.labels())
        })
    }

    /// Compares two images; the percentile and the tolerance, and where to put so many results and their number.
    fn compare(
        &self,
        [first, second]: [&dyn Source; 2],
        surface: Surface,
        [percentile, tolerance]: [f64; 2],
        (found, capacity, count): (*mut SurfaceDistances, i64, &mut i64),
        options: &Options,
    ) -> Result<(), Error> {
        let (first, second, surface, options) = (self.source(first)?, self.source(second)?, surface as i32, options.raw());
        self.call(|raw| unsafe {
            let (first, second) = (&first, &second);
            sys::apsis_surface_distance(raw, first, second, surface, percentile, tolerance, found, capacity, count, options)
        })
    }

    /// The local thickness: the radius of the largest ball in the set that covers the pixel, or its square, and 0 outside.
    pub fn thickness(&self, set: &dyn Source, thickness: &mut dyn Target, options: &Options) -> Result<(), Error> {
        let (set, thickness) = (self.source(set)?, self.target(Some(thickness))?);
        self.call(|raw| unsafe { sys::apsis_thickness(raw, &set, or_null(&thickness), options.raw()) })
    }

    /// The medial axis: the radii, or their squares, of the balls that make up the set, at their centres, and 0 elsewhere.
    pub fn medial_axis(&self, set: &dyn Source, radii: &mut dyn Target, options: &Options) -> Result<(), Error> {
        let (set, radii) = (self.source(set)?, self.target(Some(radii))?);
        self.call(|raw| unsafe { sys::apsis_medial_axis(raw, &set, or_null(&radii), options.raw()) })
    }

    /// What `wanted`, of [`wanted`](crate::wanted), asks for of each value of a label image but 0, in ascending order; `grey`
    /// has the intensities.
    pub fn measures(
        &self,
        labels: &dyn Source,
        grey: Option<&dyn Source>,
        wanted: u32,
        options: &Options,
    ) -> Result<Vec<Measure>, Error> {
        let (labels, grey) = (self.source(labels)?, self.optional(grey)?);
        read_all(|known, capacity, count| {
            self.call(|raw| unsafe {
                sys::apsis_measures(raw, &labels, or_null(&grey), wanted, known, capacity, count, options.raw())
            })
        })
    }

    /// The least cost of a path from a seed to every pixel, and the index of that seed.  Without a set paths may go everywhere.
    pub fn cost_distance(
        &self,
        set: Option<&dyn Source>,
        costs: &dyn Source,
        seeds: &dyn Source,
        distance: Option<&mut dyn Target>,
        nearest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, costs, seeds) = (self.optional(set)?, self.source(costs)?, self.source(seeds)?);
        let (distance, nearest) = (self.target(distance)?, self.target(nearest)?);
        self.call(|raw| unsafe {
            let (distance, nearest) = (or_null(&distance), or_null(&nearest));
            sys::apsis_cost_distance(raw, or_null(&set), &costs, &seeds, distance, nearest, options.raw())
        })
    }

    /// The shortest paths from some pixels, of these indices, to their nearest seeds, or those of least cost; and the pixels of
    /// all of them, path after path: [`Path::first`] and [`Path::count`] tell which.
    pub fn paths(
        &self,
        set: Option<&dyn Source>,
        costs: Option<&dyn Source>,
        seeds: &dyn Source,
        starts: &[i64],
        options: &Options,
    ) -> Result<(Vec<Path>, Vec<i64>), Error> {
        let (set, costs, seeds) = (self.optional(set)?, self.optional(costs)?, self.source(seeds)?);
        let (room, mut paths) = (starts.len(), Vec::with_capacity(starts.len()));
        let pixels = read_all(|pixels, capacity, count| {
            self.call(|raw| unsafe {
                let (set, costs, paths) = (or_null(&set), or_null(&costs), paths.as_mut_ptr());
                let (from, many) = (starts.as_ptr(), room as i64);
                sys::apsis_paths(raw, set, costs, &seeds, from, many, paths, pixels, capacity, count, options.raw())
            })
        })?;
        unsafe { paths.set_len(room) }; // written by the call
        Ok((paths, pixels))
    }

    /// The longest of the shortest paths in each component, likewise.
    pub fn longest_paths(&self, set: &dyn Source, options: &Options) -> Result<(Vec<Path>, Vec<i64>), Error> {
        let set = self.source(set)?;
        let mut paths = Vec::new();
        let pixels = read_all(|pixels, capacity, pixel_count| {
            paths = read_all(|paths, room, count| {
                self.call(|raw| unsafe {
                    sys::apsis_longest_paths(raw, &set, paths, room, count, pixels, capacity, pixel_count, options.raw())
                })
            })?;
            Ok(())
        })?;
        Ok((paths, pixels))
    }
}
