//! What `apsis_measures.h` declares.

use std::os::raw::c_int;

use crate::{apsis_component, apsis_context, apsis_image, apsis_options, apsis_part, apsis_status};

pub type apsis_operation = c_int;
pub const APSIS_DILATE: apsis_operation = 0;
pub const APSIS_ERODE: apsis_operation = 1;
pub const APSIS_OPEN: apsis_operation = 2;
pub const APSIS_CLOSE: apsis_operation = 3;

pub type apsis_surface = c_int;
pub const APSIS_SURFACE_PIXELS: apsis_surface = 0;
pub const APSIS_SURFACE_ALL: apsis_surface = 1;
pub const APSIS_SURFACE_CORNERS: apsis_surface = 2;

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

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_sums {
    pub part: apsis_part,
    pub wanted: i64,
    pub products_low: [i64; 6],
    pub products_high: [i64; 6],
    pub faces: [i64; 3],
    pub diagonals: i64,
    pub euler: i64,
    pub steps: [i64; 3],
    pub intensity_low: [i64; 8],
    pub intensity_high: [i64; 8],
    pub least: i64,
    pub largest: i64,
    pub special: i64,
    pub reserved: [i64; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_surface_distances {
    pub value: i64,
    pub points: [i64; 2],
    pub area: [f64; 2],
    pub within: [f64; 2],
    pub largest: [f64; 2],
    pub percentile: [f64; 2],
    pub mean: [f64; 2],
    pub hausdorff: f64,
    pub hausdorff_percentile: f64,
    pub average: f64,
    pub dice: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct apsis_path {
    pub start: i64,
    pub seed: i64,
    pub first: i64,
    pub count: i64,
    pub length: f64,
    pub cost: f64,
    pub straight: f64,
    pub tortuosity: f64,
}

extern "C" {
    pub fn apsis_morphology(
        context: *mut apsis_context,
        operation: apsis_operation,
        radius: f64,
        set: *const apsis_image,
        result: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_surface_distance(
        context: *mut apsis_context,
        first: *const apsis_image,
        second: *const apsis_image,
        surface: apsis_surface,
        percentile: f64,
        tolerance: f64,
        distances: *mut apsis_surface_distances,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_thickness(
        context: *mut apsis_context,
        set: *const apsis_image,
        thickness: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_medial_axis(
        context: *mut apsis_context,
        set: *const apsis_image,
        radii: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_cost_distance(
        context: *mut apsis_context,
        set: *const apsis_image,
        costs: *const apsis_image,
        seeds: *const apsis_image,
        distance: *const apsis_image,
        nearest: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_paths(
        context: *mut apsis_context,
        set: *const apsis_image,
        costs: *const apsis_image,
        seeds: *const apsis_image,
        starts: *const i64,
        start_count: i64,
        paths: *mut apsis_path,
        pixels: *mut i64,
        capacity: i64,
        pixel_count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_longest_paths(
        context: *mut apsis_context,
        set: *const apsis_image,
        paths: *mut apsis_path,
        path_capacity: i64,
        path_count: *mut i64,
        pixels: *mut i64,
        pixel_capacity: i64,
        pixel_count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
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
    pub fn apsis_slab_sums(
        context: *mut apsis_context,
        labels: *const apsis_image,
        grey: *const apsis_image,
        before: *const apsis_image,
        start: i64,
        wanted: u32,
        sums: *mut apsis_sums,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_merge_sums(count: i64, sums: *mut apsis_sums) -> i64;
    pub fn apsis_slab_measures(
        context: *mut apsis_context,
        ndim: i32,
        size: *const i64,
        sums: *const apsis_sums,
        count: i64,
        measures: *mut apsis_measure,
        options: *const apsis_options,
    ) -> apsis_status;
}
