//! Exact maps of binary images, in 2-D and 3-D, on the CPU or on an NVIDIA GPU: a safe interface to the C library apsis, whose
//! header `apsis.h` says what each transform gives.
//!
//! A [`Context`] says where the work runs, an [`Image`] or [`ImageMut`] is a view of pixels that are yours, [`Options`] say
//! what is computed.
//!
//! ```
//! use apsis::{Context, Device, Image, ImageMut, Options};
//!
//! # fn main() -> Result<(), apsis::Error> {
//! let mut mask = [0u8; 7 * 5];
//! mask[2 * 7 + 3] = 1;
//! let mut out = [0f32; 7 * 5];
//!
//! let context = Context::new(Device::Cpu)?;
//! let set = Image::new(&mask, &[7, 5])?;
//! let mut distance = ImageMut::new(&mut out, &[7, 5])?;
//! context.distance(&set, Some(&mut distance), None, &Options::new())?;
//! assert_eq!(format!("{:.3}", out[0]), "3.606");
//! # Ok(())
//! # }
//! ```
//!
//! A context goes from thread to thread, but serves one at a time:
//!
//! ```compile_fail
//! fn shared<T: Sync>() {}
//! shared::<apsis::Context>();
//! ```

#![deny(unsafe_op_in_unsafe_fn)]

mod context;
mod error;
mod image;
mod measures;
mod options;
mod slab_measures;
mod slab_values;
mod slabs;

pub use apsis_sys as sys;
pub use context::{device_count, Component, Contact, Context, Device, Extent};
pub use error::{Error, Status};
pub use image::{DeviceImage, Image, ImageMut, Pixel, Source, Target, Writable};
pub use measures::{Measure, Path, SurfaceDistances};
pub use options::{Method, Metric, Operation, Options, Surface};
pub use slab_measures::{merge_sums, Sums};
pub use slab_values::merge_parts;
pub use slabs::{measure, Beside, Labels, Part, Paths, Slab, Summary};

/// What [`Context::measures`] is asked for: these, combined by `|`.
pub mod wanted {
    pub use apsis_sys::{
        APSIS_EULER as EULER, APSIS_FERET as FERET, APSIS_FILLED as FILLED, APSIS_HULL as HULL, APSIS_INTENSITY as INTENSITY,
        APSIS_MOMENTS as MOMENTS, APSIS_PERIMETER as PERIMETER, APSIS_SURFACE as SURFACE,
    };
}
