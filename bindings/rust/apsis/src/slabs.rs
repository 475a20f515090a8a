//! Images that are cut across their last axis into slabs, so that they need not fit in one memory.
//!
//! What slabs tell each other has an element for each column along that axis: one for each x, in 3-D x + width * y.

use std::ptr;

use apsis_sys as sys;

use crate::context::{or_null, read_all, Component, Context};
use crate::error::{Error, Status};
use crate::image::{Source, Target};
use crate::options::Options;

pub use sys::apsis_part as Part;

/// The first and the last row of each column that is in the set; `i64::MAX` and -1 where there is none.
///
/// With [`Options::labels`] the first and the last run of a label: the rows of all columns, then the nearest rows beyond the
/// runs, then the labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub first: Vec<i64>,
    pub last: Vec<i64>,
}

/// Where a slab is, and what of the image is outside it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slab<'a> {
    /// The rows of the image before it.
    pub start: i64,
    /// The rows of the image.
    pub extent: i64,
    /// [`Summary::last`] of all slabs before it, merged; or none if there is none.
    pub above: Option<&'a [i64]>,
    /// [`Summary::first`] of all slabs behind it.
    pub below: Option<&'a [i64]>,
    /// The same of the complement, for [`Options::signed`] alone.
    pub complement_above: Option<&'a [i64]>,
    pub complement_below: Option<&'a [i64]>,
}

/// What a slab tells of the shortest paths to its first and its last row: lengths as whole numbers, `i64::MAX` without a path;
/// and the nearest seeds, or -1, if they are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    pub first: Vec<i64>,
    pub last: Vec<i64>,
    pub first_seeds: Option<Vec<i64>>,
    pub last_seeds: Option<Vec<i64>>,
}

/// Where a slab is, and what those beside it tell of paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// The rows of the image before it.
    pub start: i64,
    /// The rows of the image.
    pub extent: i64,
    /// The slab before it, or none.
    pub above: Option<&'a Paths>,
    /// The slab behind it, or none.
    pub below: Option<&'a Paths>,
}

/// What a slab tells of its components, and is told when it is joined.
#[derive(Clone, Debug)]
pub struct Labels {
    /// The rows of the image before it.
    pub start: i64,
    /// How many it has.
    pub rows: i64,
    /// Its own components; of slabs that have been joined, all of them.
    pub count: i64,
    /// The components of the image that begin in rows before it.
    pub before: i64,
    /// The numbers in its first row: its own, and then those of the image.
    pub first: Vec<i64>,
    /// Those in its last row.
    pub last: Vec<i64>,
    /// What is known of its components, if that is wanted.
    pub parts: Option<Vec<Part>>,
    /// The numbers in the image of its own components, 0 for what is left out; there with parts.
    pub numbers: Option<Vec<i64>>,
}

impl Summary {
    /// Adds what is known of another slab; in any order and grouping the outcome is the same.
    pub fn merge(&mut self, other: &Summary) -> Result<(), Error> {
        let columns = self.check_lengths(other)?;
        let (first, last) = (self.first.as_mut_ptr(), self.last.as_mut_ptr());
        unsafe { sys::apsis_slab_merge(columns as i64, other.first.as_ptr(), other.last.as_ptr(), first, last) }
        Ok(())
    }

    /// The same of label images: the other slab follows those that are known, or is followed by them.
    pub fn merge_labels(&mut self, other: &Summary) -> Result<(), Error> {
        let columns = self.check_label_lengths(other)? as i64;
        let (first, last) = (self.first.as_mut_ptr(), self.last.as_mut_ptr());
        unsafe { sys::apsis_slab_merge_labels(columns, other.first.as_ptr(), other.last.as_ptr(), first, last) }
        Ok(())
    }

    /// Adds to what is merged of the slabs above one, or below it, what lies behind the seam of a label image that closes on
    /// itself along the axis that is cut: `other` is that of all slabs, merged, and `extent` how many rows there are.
    pub fn close_labels(&mut self, other: &Summary, extent: i64) -> Result<(), Error> {
        let columns = self.check_label_lengths(other)? as i64;
        let (first, last) = (self.first.as_mut_ptr(), self.last.as_mut_ptr());
        unsafe { sys::apsis_slab_close_labels(columns, extent, other.first.as_ptr(), other.last.as_ptr(), first, last) }
        Ok(())
    }

    fn check_lengths(&self, other: &Summary) -> Result<usize, Error> {
        let columns = self.first.len();
        for (name, rows) in [("last", &self.last), ("other.first", &other.first), ("other.last", &other.last)] {
            check_length(name, rows, columns)?;
        }
        Ok(columns)
    }

    fn check_label_lengths(&self, other: &Summary) -> Result<usize, Error> {
        let numbers = self.check_lengths(other)?;
        if numbers % 3 != 0 {
            return refuse(format!("first has {} elements, but must have three for each column", numbers));
        }
        Ok(numbers / 3)
    }
}

impl Paths {
    /// That no path is known yet, of so many columns; with room for seeds if maps of them are wanted.
    pub fn new(columns: usize, with_seeds: bool) -> Paths {
        let seeds = || with_seeds.then(|| vec![-1; columns]);
        Paths { first: vec![i64::MAX; columns], last: vec![i64::MAX; columns], first_seeds: seeds(), last_seeds: seeds() }
    }
}

/// What [`Context::component_statistics`] says of components, from the parts of whole ones.
pub fn measure(parts: &[Part]) -> Vec<Component> {
    let none = Component { first: 0, area: 0, lower: [0; 3], upper: [0; 3], centroid: [0.0; 3], value: 0 };
    let mut components = vec![none; parts.len()];
    unsafe { sys::apsis_slab_measure(parts.len() as i64, parts.as_ptr(), components.as_mut_ptr()) }
    components
}

/// The results are the rows of those of the whole image, with the same options.  Indices are those in the whole image.
impl Context {
    /// Where in each column the set of a slab begins and ends.  [`Options::complement`] and [`Options::labels`] matter.
    pub fn slab_summary(&self, set: &dyn Source, start: i64, options: &Options) -> Result<Summary, Error> {
        let set = self.source(set)?;
        let numbers = columns_of(&set) * options.told();
        let mut told = Summary { first: vec![i64::MAX; numbers], last: vec![-1; numbers] };
        let (first, last) = (told.first.as_mut_ptr(), told.last.as_mut_ptr());
        self.call(|raw| unsafe { sys::apsis_slab_summary(raw, &set, start, first, last, options.raw()) })?;
        Ok(told)
    }

    /// The rows of a slab, of what [`Context::distance`] gives.  Chessboard distances have no nearest pixels.
    pub fn slab_distance(
        &self,
        set: &dyn Source,
        slab: &Slab,
        distance: Option<&mut dyn Target>,
        nearest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, distance, nearest) = (self.source(set)?, self.target(distance)?, self.target(nearest)?);
        let told = raw_slab(slab, columns_of(&set) * options.told())?;
        self.call(|raw| unsafe {
            sys::apsis_slab_distance(raw, &set, &told, or_null(&distance), or_null(&nearest), options.raw())
        })
    }

    /// The rows of a slab, of the complete map that [`Context::voronoi`] gives.
    pub fn slab_voronoi(&self, set: &dyn Source, slab: &Slab, cells: &mut dyn Target, options: &Options) -> Result<(), Error> {
        let (set, cells) = (self.source(set)?, self.target(Some(cells))?);
        let told = raw_slab(slab, columns_of(&set) * options.told())?;
        self.call(|raw| unsafe { sys::apsis_slab_voronoi(raw, &set, &told, or_null(&cells), options.raw()) })
    }

    /// Brings `paths`, what a slab tells, up to what the slabs beside it tell, and returns how many elements have changed.
    ///
    /// Call it for the slabs in any order, without outputs, until nothing changes in any.  Then the outputs are the rows of
    /// what [`Context::geodesic`] gives.
    #[allow(clippy::too_many_arguments)]
    pub fn slab_geodesic(
        &self,
        set: &dyn Source,
        seeds: &dyn Source,
        beside: &Beside,
        paths: &mut Paths,
        distance: Option<&mut dyn Target>,
        nearest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<i64, Error> {
        let (set, seeds) = (self.source(set)?, self.source(seeds)?);
        let (distance, nearest) = (self.target(distance)?, self.target(nearest)?);
        let columns = columns_of(&set);
        let (above, below) = (beside.above, beside.below);
        let told = sys::apsis_slab_paths {
            start: beside.start,
            extent: beside.extent,
            above: read("above.last", above.map(|slab| &slab.last[..]), columns)?,
            below: read("below.first", below.map(|slab| &slab.first[..]), columns)?,
            above_seeds: read("above.last_seeds", above.and_then(|slab| slab.last_seeds.as_deref()), columns)?,
            below_seeds: read("below.first_seeds", below.and_then(|slab| slab.first_seeds.as_deref()), columns)?,
            first: write("paths.first", Some(&mut paths.first), columns)?,
            last: write("paths.last", Some(&mut paths.last), columns)?,
            first_seeds: write("paths.first_seeds", paths.first_seeds.as_mut(), columns)?,
            last_seeds: write("paths.last_seeds", paths.last_seeds.as_mut(), columns)?,
        };
        let mut changed = 0;
        self.call(|raw| unsafe {
            let (distance, nearest) = (or_null(&distance), or_null(&nearest));
            sys::apsis_slab_geodesic(raw, &set, &seeds, &told, distance, nearest, &mut changed, options.raw())
        })?;
        Ok(changed)
    }

    /// Numbers the components of a slab, and with `statistics`, and of label images, tells what is known of each.  Options, the
    /// same as in [`Context::slab_join`] and [`Context::slab_components`], leave none out here: the rest of one may be in other
    /// slabs.
    pub fn slab_parts(&self, set: &dyn Source, start: i64, statistics: bool, options: &Options) -> Result<Labels, Error> {
        let set = self.source(set)?;
        let columns = columns_of(&set);
        let (mut first, mut last) = (vec![0; columns], vec![0; columns]);
        let (mut rows, mut own) = (0, 0);
        let mut call = |parts: *mut Part, capacity: i64, count: &mut i64| {
            let (first, last) = (first.as_mut_ptr(), last.as_mut_ptr());
            let (before, numbers) = (0, ptr::null_mut());
            let mut told = sys::apsis_slab_labels { start, rows, count: 0, before, first, last, parts, capacity, numbers };
            self.call(|raw| unsafe { sys::apsis_slab_parts(raw, &set, &mut told, options.raw()) })?;
            (rows, own, *count) = (told.rows, told.count, told.count);
            Ok(())
        };
        let parts = if statistics || options.selects() || options.by_labels() {
            Some(read_all(call)?)
        } else {
            call(ptr::null_mut(), 0, &mut 0)?;
            None
        };
        Ok(Labels { start, rows, count: own, before: 0, first, last, parts, numbers: None })
    }

    /// Tells slabs, from the top, each of which begins where the one before it ends, the numbers of their components in an
    /// image of `size`.  Unless options leave components out they may be some of those of the image.
    ///
    /// Returns the slabs as one, with the count of components, and their parts if the slabs have them.  It may be joined with
    /// others; then [`Context::slab_renumber`] passes on what it is told.
    pub fn slab_join(&self, slabs: &mut [Labels], size: &[usize], options: &Options) -> Result<Labels, Error> {
        if !(2..=3).contains(&size.len()) {
            return refuse(format!("size has {} axes, but an image has 2 or 3", size.len()));
        }
        let columns = size[..size.len() - 1].iter().fold(1usize, |product, &extent| product.saturating_mul(extent));
        for slab in slabs.iter_mut() {
            slab.numbers = slab.parts.as_ref().map(|_| vec![0; slab.count.max(0) as usize]);
        }
        let mut told = raw_of_all(slabs, columns)?;
        let capacity = slabs.iter().map(|slab| slab.count.max(0) as usize).sum();
        let mut parts: Option<Vec<Part>> = slabs.iter().any(|slab| slab.parts.is_some()).then(|| Vec::with_capacity(capacity));
        let size: Vec<i64> = size.iter().map(|&extent| extent as i64).collect();
        let mut count = 0;
        self.call(|raw| unsafe {
            let (out, room) = parts.as_mut().map_or((ptr::null_mut(), 0), |parts| (parts.as_mut_ptr(), capacity as i64));
            let (slabs, slab_count) = (told.as_mut_ptr(), told.len() as i64);
            let ndim = size.len() as i32;
            sys::apsis_slab_join(raw, ndim, size.as_ptr(), slabs, slab_count, out, room, &mut count, options.raw())
        })?;
        if let Some(parts) = &mut parts {
            // The library has written as many as it has counted: no more than the slabs have together.
            unsafe { parts.set_len((count as usize).min(capacity)) };
        }
        take_before(slabs, &told);
        let (mut first, mut last) = (vec![0; 0], vec![0; 0]);
        for slab in slabs.iter().filter(|slab| slab.rows > 0) {
            last.clone_from(&slab.last);
            if first.is_empty() {
                first.clone_from(&slab.first);
            }
        }
        first.resize(columns, 0);
        last.resize(columns, 0);
        let start = slabs.first().map_or(0, |slab| slab.start);
        let rows = slabs.iter().map(|slab| slab.rows).sum();
        Ok(Labels { start, rows, count, before: 0, first, last, parts, numbers: None })
    }

    /// Passes on to slabs what the one has been told that they became by [`Context::slab_join`].
    pub fn slab_renumber(&self, joined: &Labels, slabs: &mut [Labels]) -> Result<(), Error> {
        let columns = joined.first.len();
        let own = raw_of("joined", joined, columns)?;
        let mut told = raw_of_all(slabs, columns)?;
        self.call(|raw| unsafe { sys::apsis_slab_renumber(raw, columns as i64, &own, told.as_mut_ptr(), told.len() as i64) })?;
        take_before(slabs, &told);
        Ok(())
    }

    /// The rows of a slab that has been joined, of the labels that [`Context::components`] writes.
    pub fn slab_components(
        &self,
        set: &dyn Source,
        slab: &Labels,
        labels: &mut dyn Target,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, labels) = (self.source(set)?, self.target(Some(labels))?);
        let told = raw_of("slab", slab, columns_of(&set))?;
        self.call(|raw| unsafe { sys::apsis_slab_components(raw, &set, &told, or_null(&labels), options.raw()) })
    }
}

// ---- Arrays that the library is given ----

fn refuse<T>(message: String) -> Result<T, Error> {
    Err(Error::new(Status::Argument, message))
}

/// The columns along the axis that is cut.
pub(crate) fn columns_of(set: &sys::apsis_image) -> usize {
    (set.size[0] * if set.ndim == 3 { set.size[1] } else { 1 }) as usize
}

fn check_length(name: &str, array: &[i64], length: usize) -> Result<(), Error> {
    if array.len() != length {
        return refuse(format!("{} has {} elements, but must have {}", name, array.len(), length));
    }
    Ok(())
}

pub(crate) fn read(name: &str, array: Option<&[i64]>, length: usize) -> Result<*const i64, Error> {
    array.map_or(Ok(ptr::null()), |array| check_length(name, array, length).map(|_| array.as_ptr()))
}

fn write(name: &str, array: Option<&mut Vec<i64>>, length: usize) -> Result<*mut i64, Error> {
    array.map_or(Ok(ptr::null_mut()), |array| check_length(name, array, length).map(|_| array.as_mut_ptr()))
}

/// The library's structure of a slab of which so many numbers are told each way.
fn raw_slab(slab: &Slab, numbers: usize) -> Result<sys::apsis_slab, Error> {
    Ok(sys::apsis_slab {
        start: slab.start,
        extent: slab.extent,
        above: read("slab: above", slab.above, numbers)?,
        below: read("slab: below", slab.below, numbers)?,
        complement_above: read("slab: complement_above", slab.complement_above, numbers)?,
        complement_below: read("slab: complement_below", slab.complement_below, numbers)?,
    })
}

/// The library's structure, through which it reads `slab`.
fn raw_of(name: &str, slab: &Labels, columns: usize) -> Result<sys::apsis_slab_labels, Error> {
    let count = slab.count.max(0) as usize; // the library says that a negative one is wrong
    let parts = slab.parts.as_deref().unwrap_or(&[]);
    Ok(sys::apsis_slab_labels {
        start: slab.start,
        rows: slab.rows,
        count: slab.count,
        before: slab.before,
        first: read(&format!("{}: first", name), Some(&slab.first), columns)? as *mut i64,
        last: read(&format!("{}: last", name), Some(&slab.last), columns)? as *mut i64,
        parts: if slab.parts.is_some() { parts.as_ptr() as *mut Part } else { ptr::null_mut() },
        capacity: parts.len() as i64,
        numbers: read(&format!("{}: numbers", name), slab.numbers.as_deref(), count)? as *mut i64,
    })
}

/// The structures of several, through which it writes, too.
fn raw_of_all(slabs: &mut [Labels], columns: usize) -> Result<Vec<sys::apsis_slab_labels>, Error> {
    let write = |(k, slab): (usize, &mut Labels)| {
        let mut told = raw_of(&format!("slabs[{}]", k), slab, columns)?;
        told.first = slab.first.as_mut_ptr();
        told.last = slab.last.as_mut_ptr();
        told.numbers = slab.numbers.as_mut().map_or(ptr::null_mut(), |numbers| numbers.as_mut_ptr());
        Ok(told)
    };
    slabs.iter_mut().enumerate().map(write).collect()
}

fn take_before(slabs: &mut [Labels], told: &[sys::apsis_slab_labels]) {
    for (slab, told) in slabs.iter_mut().zip(told) {
        slab.before = told.before;
    }
}
