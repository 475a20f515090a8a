//! Measures of the values of label images that are cut into slabs.
//!
//! Each slab tells of its own values, and what they tell is added up, however it is grouped.

use apsis_sys as sys;

use crate::context::{or_null, read_all, Context};
use crate::error::Error;
use crate::image::Source;
use crate::measures::Measure;
use crate::options::Options;

/// What is counted of a value in a slab: whole numbers, to be sent and stored.
pub use sys::apsis_sums as Sums;

/// Adds up the sums of equal values of several slabs: `sums` is then in ascending order of these.
pub fn merge_sums(sums: &mut Vec<Sums>) {
    let left = unsafe { sys::apsis_slab_merge_sums(sums.len() as i64, sums.as_mut_ptr()) };
    sums.truncate(left as usize);
}

impl Context {
    /// What is counted of each value of a slab but 0, in ascending order, for what is `wanted`: see [`Context::measures`].
    /// `start` rows lie before it, of which `before` has the last ones, in 3-D planes: 4 for a perimeter, 1 for a surface or
    /// an Euler number, fewer where the image begins, or more.
    pub fn slab_sums(
        &self,
        labels: &dyn Source,
        grey: Option<&dyn Source>,
        before: Option<&dyn Source>,
        start: i64,
        wanted: u32,
        options: &Options,
    ) -> Result<Vec<Sums>, Error> {
        let (labels, grey, before) = (self.source(labels)?, self.optional(grey)?, self.optional(before)?);
        read_all(|sums, capacity, count| {
            self.call(|raw| unsafe {
                let (grey, before) = (or_null(&grey), or_null(&before));
                sys::apsis_slab_sums(raw, &labels, grey, before, start, wanted, sums, capacity, count, options.raw())
            })
        })
    }

    /// Makes of the merged sums of all slabs what [`Context::measures`] says of the image, of this size.
    pub fn slab_measures(&self, size: &[usize], sums: &[Sums], options: &Options) -> Result<Vec<Measure>, Error> {
        let size: Vec<i64> = size.iter().map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX)).collect();
        let (axes, count) = (size.len() as i32, sums.len());
        let mut measures = Vec::with_capacity(count);
        self.call(|raw| unsafe {
            let (known, into) = (sums.as_ptr(), measures.as_mut_ptr());
            sys::apsis_slab_measures(raw, axes, size.as_ptr(), known, count as i64, into, options.raw())
        })?;
        unsafe { measures.set_len(count) };
        Ok(measures)
    }
}
