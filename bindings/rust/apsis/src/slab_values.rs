//! Statistics and contacts of the values of label images that are cut into slabs.
//!
//! Each slab tells of its own values, and what they tell is added up, however it is grouped.

use std::ptr;

use apsis_sys as sys;

use crate::context::{read_all, Contact, Context};
use crate::error::Error;
use crate::image::Source;
use crate::options::Options;
use crate::slabs::{columns_of, read, Part};

/// Adds up what several slabs tell of equal values: `parts` is then in ascending order of these, and [`crate::measure`] makes
/// of those of all slabs what [`Context::statistics`] says.
pub fn merge_parts(parts: &mut Vec<Part>) {
    let left = unsafe { sys::apsis_slab_merge_parts(parts.len() as i64, parts.as_mut_ptr()) };
    parts.truncate(left as usize);
}

impl Context {
    /// What is known of each value of a slab, in ascending order, with its places in the image; `start` rows lie before it.
    pub fn slab_statistics(&self, labels: &dyn Source, start: i64) -> Result<Vec<Part>, Error> {
        let (labels, options) = (self.source(labels)?, Options::new());
        read_all(|parts, capacity, count| {
            self.call(|raw| unsafe { sys::apsis_slab_statistics(raw, &labels, start, parts, capacity, count, options.raw()) })
        })
    }

    /// Which values touch in a slab, and across the cut before it: `before` has the values in the row before the slab, in 3-D
    /// plane, or is none if there is none.
    pub fn slab_contacts(&self, labels: &dyn Source, before: Option<&[i64]>, options: &Options) -> Result<Vec<Contact>, Error> {
        let labels = self.source(labels)?;
        let before = read("before", before, columns_of(&labels))?;
        read_all(|contacts, capacity, count| {
            self.call(|raw| unsafe { sys::apsis_slab_contacts(raw, &labels, before, contacts, capacity, count, options.raw()) })
        })
    }

    /// Adds up the contacts that several slabs tell, of an image of so many axes: those of all are what [`Context::contacts`]
    /// says.
    pub fn slab_merge_contacts(&self, axes: usize, contacts: &mut Vec<Contact>, options: &Options) -> Result<(), Error> {
        let mut count = contacts.len() as i64;
        let array = if contacts.is_empty() { ptr::null_mut() } else { contacts.as_mut_ptr() };
        self.call(|raw| unsafe { sys::apsis_slab_merge_contacts(raw, axes as i32, array, &mut count, options.raw()) })?;
        contacts.truncate(count as usize);
        Ok(())
    }
}
