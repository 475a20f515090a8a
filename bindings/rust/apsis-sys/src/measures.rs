//! What `apsis_measures.h` declares of the values of a label image.

use crate::{apsis_component, apsis_context, apsis_image, apsis_options, apsis_status};

pub const APSIS_MOMENTS: u32 = 1 << 0;
pub const APSIS_PERIMETER: u32 = 1 << 1;
pub const APSIS_SURFACE: u32 = 1 << 2;
pub const APSIS_EULER: u32 = 1 << 3;
pub const APSIS_FILLED: u32 = 1 << 4;
pub const APSIS_HULL: u32 = 1 << 5;
pub const APSIS_FERET: u32 = 1 << 6;
pub const APSIS_INTENSITY: u32 = 1 << 7;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_measure {
    pub component: apsis_component,
    pub border: i64,
    pub euler: i64,
    pub filled: i64,
    pub convex: i64,
    pub faces: [i64; 3],
    pub surface: f64,
    pub moments: [f64; 6],
    pub axes: [f64; 3],
    pub orientation: f64,
    pub eccentricity: f64,
    pub perimeter: f64,
    pub crofton: [f64; 2],
    pub convex_area: f64,
    pub feret: [f64; 2],
    pub feret_contour: f64,
    pub intensity_sum: f64,
    pub intensity_mean: f64,
    pub intensity_min: f64,
    pub intensity_max: f64,
    pub reserved: [f64; 8],
}

extern "C" {
    pub fn apsis_measures(
        context: *mut apsis_context,
        labels: *const apsis_image,
        grey: *const apsis_image,
        wanted: u32,
        measures: *mut apsis_measure,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
}
