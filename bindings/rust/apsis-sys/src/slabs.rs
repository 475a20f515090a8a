//! What `apsis.h` declares of images that are cut into slabs.

use crate::{apsis_component, apsis_contact, apsis_context, apsis_image, apsis_options, apsis_status};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_slab {
    pub start: i64,
    pub extent: i64,
    pub above: *const i64,
    pub below: *const i64,
    pub complement_above: *const i64,
    pub complement_below: *const i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_slab_paths {
    pub start: i64,
    pub extent: i64,
    pub above: *const i64,
    pub below: *const i64,
    pub above_seeds: *const i64,
    pub below_seeds: *const i64,
    pub first: *mut i64,
    pub last: *mut i64,
    pub first_seeds: *mut i64,
    pub last_seeds: *mut i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_part {
    pub first: i64,
    pub area: i64,
    pub lower: [i64; 3],
    pub upper: [i64; 3],
    pub sum: [i64; 3],
    pub value: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct apsis_slab_labels {
    pub start: i64,
    pub rows: i64,
    pub count: i64,
    pub before: i64,
    pub first: *mut i64,
    pub last: *mut i64,
    pub parts: *mut apsis_part,
    pub capacity: i64,
    pub numbers: *mut i64,
}

extern "C" {
    pub fn apsis_slab_summary(
        context: *mut apsis_context,
        set: *const apsis_image,
        start: i64,
        first: *mut i64,
        last: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_merge(columns: i64, first: *const i64, last: *const i64, all_first: *mut i64, all_last: *mut i64);
    pub fn apsis_slab_gather(
        context: *mut apsis_context,
        columns: i64,
        first: *const *const i64,
        last: *const *const i64,
        slab_count: i64,
        slab: i64,
        above: *mut i64,
        below: *mut i64,
    ) -> apsis_status;
    pub fn apsis_slab_statistics(
        context: *mut apsis_context,
        labels: *const apsis_image,
        start: i64,
        parts: *mut apsis_part,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_merge_parts(count: i64, parts: *mut apsis_part) -> i64;
    pub fn apsis_slab_contacts(
        context: *mut apsis_context,
        labels: *const apsis_image,
        before: *const i64,
        contacts: *mut apsis_contact,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_merge_contacts(
        context: *mut apsis_context,
        ndim: i32,
        contacts: *mut apsis_contact,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_merge_labels(columns: i64, first: *const i64, last: *const i64, all_first: *mut i64, all_last: *mut i64);
    pub fn apsis_slab_close_labels(
        columns: i64,
        extent: i64,
        first: *const i64,
        last: *const i64,
        all_first: *mut i64,
        all_last: *mut i64,
    );
    pub fn apsis_slab_voronoi(
        context: *mut apsis_context,
        set: *const apsis_image,
        slab: *const apsis_slab,
        cells: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_distance(
        context: *mut apsis_context,
        set: *const apsis_image,
        slab: *const apsis_slab,
        distance: *const apsis_image,
        nearest: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_geodesic(
        context: *mut apsis_context,
        set: *const apsis_image,
        seeds: *const apsis_image,
        slab: *const apsis_slab_paths,
        distance: *const apsis_image,
        nearest: *const apsis_image,
        changed: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_parts(
        context: *mut apsis_context,
        set: *const apsis_image,
        slab: *mut apsis_slab_labels,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_join(
        context: *mut apsis_context,
        ndim: i32,
        size: *const i64,
        slabs: *mut apsis_slab_labels,
        slab_count: i64,
        parts: *mut apsis_part,
        capacity: i64,
        count: *mut i64,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_renumber(
        context: *mut apsis_context,
        columns: i64,
        joined: *const apsis_slab_labels,
        slabs: *mut apsis_slab_labels,
        slab_count: i64,
    ) -> apsis_status;
    pub fn apsis_slab_components(
        context: *mut apsis_context,
        set: *const apsis_image,
        slab: *const apsis_slab_labels,
        labels: *const apsis_image,
        options: *const apsis_options,
    ) -> apsis_status;
    pub fn apsis_slab_measure(count: i64, parts: *const apsis_part, components: *mut apsis_component);
}
