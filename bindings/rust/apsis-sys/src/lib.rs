//! The declarations of `apsis.h`, one by one and by the same names; that header says what they mean.
//!
//! Enumerations are integers, since a later version of the library may add to them.  `tests/header.rs` compares all of this
//! with the header.  The crate `apsis` is made for use.
#![allow(non_camel_case_types)]

use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_void};

mod measures;
mod slabs;
pub use measures::*;
pub use slabs::*;

pub const APSIS_VERSION_MAJOR: c_int = 0;
pub const APSIS_VERSION_MINOR: c_int = 5;
pub const APSIS_VERSION_PATCH: c_int = 0;
pub const APSIS_VERSION: c_int = APSIS_VERSION_MAJOR * 10000 + APSIS_VERSION_MINOR * 100 + APSIS_VERSION_PATCH;

/// A context, of which only the library knows what is in it.
#[repr(C)]
pub struct apsis_context {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

/// What `cudaStream_t` and `CUstream` point to.
#[repr(C)]
pub struct CUstream_st {
    _private: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

pub type apsis_status = c_int;
pub const APSIS_OK: apsis_status = 0;
pub const APSIS_ERROR_ARGUMENT: apsis_status = 1;
pub const APSIS_ERROR_UNSUPPORTED: apsis_status = 2;
pub const APSIS_ERROR_NO_DEVICE: apsis_status = 3;
pub const APSIS_ERROR_MEMORY: apsis_status = 4;
pub const APSIS_ERROR_WORKSPACE: apsis_status = 5;
pub const APSIS_ERROR_RANGE: apsis_status = 6;
pub const APSIS_ERROR_CANCELLED: apsis_status = 7;
pub const APSIS_ERROR_DEVICE: apsis_status = 8;
pub const APSIS_ERROR_INTERNAL: apsis_status = 9;
pub const APSIS_ERROR_BUDGET: apsis_status = 10;

pub type apsis_type = c_int;
pub const APSIS_BIT: apsis_type = 1;
pub const APSIS_U8: apsis_type = 2;
pub const APSIS_I32: apsis_type = 3;
pub const APSIS_I64: apsis_type = 4;
pub const APSIS_F32: apsis_type = 5;
pub const APSIS_F64: apsis_type = 6;
pub const APSIS_U16: apsis_type = 7;

pub type apsis_memory = c_int;
pub const APSIS_HOST: apsis_memory = 0;
pub const APSIS_DEVICE: apsis_memory = 1;

pub type apsis_metric = c_int;
pub const APSIS_EUCLIDEAN: apsis_metric = 0;
pub const APSIS_CITY_BLOCK: apsis_metric = 1;
pub const APSIS_CHESSBOARD: apsis_metric = 2;
pub const APSIS_CHAMFER: apsis_metric = 3;

pub type apsis_method = c_int;
pub const APSIS_AUTO: apsis_method = 0;
pub const APSIS_RASTER_SCAN: apsis_method = 1;
pub const APSIS_SWEEP: apsis_method = 2;
pub const APSIS_JUMP_FLOOD: apsis_method = 3;
pub const APSIS_TILE_FILL: apsis_method = 4;
pub const APSIS_EVERY_SOURCE: apsis_method = 5;
pub const APSIS_SWEEP_BLOCKS: apsis_method = 6;
pub const APSIS_SWEEP_ROWS: apsis_method = 7;
pub const APSIS_SEQUENTIAL_SCAN: apsis_method = 8;

pub const APSIS_COMPLEMENT: u32 = 1 << 0;
pub const APSIS_SIGNED: u32 = 1 << 1;
pub const APSIS_CONNECTED: u32 = 1 << 2;
pub const APSIS_SLICES: u32 = 1 << 3;
pub const APSIS_NO_BORDER: u32 = 1 << 4;
pub const APSIS_NO_INNER: u32 = 1 << 5;
pub const APSIS_MIXED: u32 = 1 << 6;
pub const APSIS_LABELS: u32 = 1 << 7;
pub const APSIS_BORDER: u32 = 1 << 8;
pub const APSIS_DENSE: u32 = 1 << 9;
pub const APSIS_PERIODIC_X: u32 = 1 << 10;
pub const APSIS_PERIODIC_Y: u32 = 1 << 11;
pub const APSIS_PERIODIC_Z: u32 = 1 << 12;

pub const APSIS_CPU: c_int = -1;
pub const APSIS_BEST: c_int = -2;

pub type apsis_transform = c_int;
pub const APSIS_DISTANCE: apsis_transform = 0;
pub const APSIS_VORONOI: apsis_transform = 1;
pub const APSIS_COMPONENTS: apsis_transform = 2;
pub const APSIS_GEODESIC: apsis_transform = 3;
pub const APSIS_ECCENTRICITY: apsis_transform = 4;
pub const APSIS_STATISTICS: apsis_transform = 5;
pub const APSIS_CONTACTS: apsis_transform = 6;
pub const APSIS_MORPHOLOGY: apsis_transform = 7;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_image {
    pub data: *mut c_void,
    pub r#type: apsis_type,
    pub ndim: i32,
    pub size: [i64; 3],
    pub stride: [i64; 3],
    pub memory: apsis_memory,
    pub reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_options {
    pub struct_size: u32,
    pub flags: u32,
    pub spacing: [f64; 3],
    pub max_distance: f64,
    pub metric: apsis_metric,
    pub method: apsis_method,
    pub connectivity: i32,
    pub largest: i32,
    pub min_area: i64,
    pub max_area: i64,
    pub budget: i64,
    pub delta: f64,
    pub weights: [i32; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_component {
    pub first: i64,
    pub area: i64,
    pub lower: [i64; 3],
    pub upper: [i64; 3],
    pub centroid: [f64; 3],
    pub value: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_contact {
    pub a: i64,
    pub b: i64,
    pub faces: [i64; 3],
    pub corners: i64,
    pub area: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_extent {
    pub first: i64,
    pub ends: [i64; 2],
    pub centre: i64,
    pub diameter: f64,
    pub radius: f64,
    pub gap: f64,
}

pub type apsis_alloc_fn = Option<
    unsafe extern "C" fn(user: *mut c_void, memory: apsis_memory, bytes: usize, stream: *mut CUstream_st) -> *mut c_void,
>;
pub type apsis_free_fn = Option<
    unsafe extern "C" fn(user: *mut c_void, memory: apsis_memory, data: *mut c_void, bytes: usize, stream: *mut CUstream_st),
>;
pub type apsis_progress_fn = Option<unsafe extern "C" fn(user: *mut c_void, done: f64) -> c_int>;
pub type apsis_allreduce_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, r#type: apsis_type, numbers: *mut c_void, count: i64) -> c_int>;
pub type apsis_log_fn = Option<unsafe extern "C" fn(user: *mut c_void, line: *const c_char)>;

extern "C" {
    pub fn apsis_status_name(status: apsis_status) -> *const c_char;
    pub fn apsis_version() -> c_int;
    pub fn apsis_device_count() -> c_int;
    pub fn apsis_create(version: c_int, device: c_int, context: *mut *mut apsis_context) -> apsis_status;
    pub fn apsis_create_devices(
        version: c_int,
        devices: *const c_int,
        count: c_int,
        context: *mut *mut apsis_context,
    ) -> apsis_status;
    pub fn apsis_destroy(context: *mut apsis_context);
    pub fn apsis_device(context: *const apsis_context) -> c_int;
    pub fn apsis_device_name(context: *const apsis_context) -> *const c_char;
    pub fn apsis_message(context: *const apsis_context) -> *const c_char;
    pub fn apsis_distance(
        context: *mut apsis_context,
        set: *const apsis_image,
        distance: *const apsis_image,
        nearest: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_voronoi(
        context: *mut apsis_context,
        set: *const apsis_image,
        cells: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_components(
        context: *mut apsis_context,
        set: *const apsis_image,
        labels: *const apsis_image,
        components: *mut apsis_component,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_statistics(
        context: *mut apsis_context,
        labels: *const apsis_image,
        components: *mut apsis_component,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_contacts(
        context: *mut apsis_context,
        labels: *const apsis_image,
        contacts: *mut apsis_contact,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_geodesic(
        context: *mut apsis_context,
        set: *const apsis_image,
        seeds: *const apsis_image,
        distance: *const apsis_image,
        nearest: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_eccentricity(
        context: *mut apsis_context,
        set: *const apsis_image,
        eccentricity: *const apsis_image,
        farthest: *const apsis_image,
        extents: *mut apsis_extent,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_alloc(context: *mut apsis_context, memory: apsis_memory, image: *mut apsis_image) -> apsis_status;
    pub fn apsis_free(context: *mut apsis_context, image: *mut apsis_image);
    pub fn apsis_copy(context: *mut apsis_context, from: *const apsis_image, to: *const apsis_image) -> apsis_status;
    pub fn apsis_set_stream(context: *mut apsis_context, stream: *mut CUstream_st) -> apsis_status;
    pub fn apsis_sync(context: *mut apsis_context) -> apsis_status;
    pub fn apsis_set_threads(context: *mut apsis_context, threads: c_int) -> apsis_status;
    pub fn apsis_workspace_size(
        context: *mut apsis_context,
        transform: apsis_transform,
        images: *const *const apsis_image,
        count: c_int,
        options: *const apsis_options,
        bytes: *mut usize,
    ) -> apsis_status;
    pub fn apsis_set_workspace(context: *mut apsis_context, memory: *mut c_void, bytes: usize) -> apsis_status;
    pub fn apsis_set_allocator(
        context: *mut apsis_context,
        allocate: apsis_alloc_fn,
        release: apsis_free_fn,
        user: *mut c_void,
    ) -> apsis_status;
    pub fn apsis_set_progress(context: *mut apsis_context, progress: apsis_progress_fn, user: *mut c_void) -> apsis_status;
    pub fn apsis_set_allreduce(
        context: *mut apsis_context,
        rank: c_int,
        ranks: c_int,
        allreduce: apsis_allreduce_fn,
        user: *mut c_void,
    ) -> apsis_status;
    pub fn apsis_set_log(context: *mut apsis_context, log: apsis_log_fn, user: *mut c_void) -> apsis_status;
}
