//! Paths, and how far components reach, on the CPU, and on a GPU where there is one.

mod common;

use apsis::{Image, ImageMut, Metric, Options, Status};

use common::{contexts, SIZE};

#[test]
fn paths_and_extents() {
    // Round a wall: the way is longer than the distance.
    let mut free = vec![1u8; 45];
    (0..4).for_each(|y| free[4 + 9 * y] = 0);
    let mut seeds = vec![0u8; 45];
    seeds[0] = 1;
    let (set, seeds) = (Image::new(&free, &SIZE).unwrap(), Image::new(&seeds, &SIZE).unwrap());
    let options = Options::new().metric(Metric::CityBlock);
    for context in contexts() {
        let mut lengths = vec![0i64; 45];
        let mut out = ImageMut::new(&mut lengths, &SIZE).unwrap();
        context.geodesic(&set, &seeds, Some(&mut out), None, &options).unwrap();
        assert_eq!((lengths[8], lengths[4]), (16, -1));

        let mut reach = vec![0f64; 45];
        let mut out = ImageMut::new(&mut reach, &SIZE).unwrap();
        let extents = context.extents(&set, Some(&mut out), None, &options).unwrap();
        assert_eq!((extents.len(), extents[0].ends, extents[0].diameter), (1, [0, 8], 16.0));
        assert_eq!(reach[0], 16.0);
    }
}

#[test]
fn weights() {
    let (room, mut seeds) = ([1u8; 12], [0u8; 12]);
    seeds[0] = 1;
    let size = [4, 3];
    let (room, seeds) = (Image::new(&room, &size).unwrap(), Image::new(&seeds, &size).unwrap());
    let options = Options::new().metric(Metric::Chamfer).weights([5, 7, 11, 0]);
    for context in contexts() {
        let mut lengths = vec![0i32; 12];
        let mut out = ImageMut::new(&mut lengths, &size).unwrap();
        context.geodesic(&room, &seeds, Some(&mut out), None, &options).unwrap();
        assert_eq!(lengths, [0, 5, 10, 15, 5, 7, 11, 16, 10, 11, 14, 18]);
    }
}

#[test]
fn paths_of_least_cost() {
    let costs = [1u16, 9, 1, 1, 1, 0, 9, 1, 1, 1, 1, 1];
    let seeds = [1u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let size = [4, 3];
    let (costs, seeds) = (Image::new(&costs, &size).unwrap(), Image::new(&seeds, &size).unwrap());
    let options = Options::new().metric(Metric::CityBlock);
    for context in contexts() {
        let (mut distance, mut nearest) = (vec![0f64; 12], vec![0i32; 12]);
        let mut out = ImageMut::new(&mut distance, &size).unwrap();
        let mut which = ImageMut::new(&mut nearest, &size).unwrap();
        context.cost_distance(None, &costs, &seeds, Some(&mut out), Some(&mut which), &options).unwrap();
        assert_eq!((distance[2], distance[5], nearest[2], nearest[5]), (8.0, -1.0, 0, -1));
        let (paths, pixels) = context.paths(None, Some(&costs), &seeds, &[2, 5], &options).unwrap();
        assert_eq!(pixels, [2, 3, 7, 11, 10, 9, 8, 4, 0]);
        assert_eq!((paths[0].cost, paths[0].length, paths[0].seed, paths[1].seed), (8.0, 8.0, 0, -1));
        let (longest, pixels) = context.longest_paths(&costs, &options).unwrap();
        assert_eq!((longest.len(), longest[0].count as usize, longest[0].length), (1, pixels.len(), 5.0));
    }
}

#[test]
fn a_budget_that_runs_out() {
    // Rubble: the farthest pixel of one is not that of the next.
    let rubble: Vec<u8> = (0..3600u32).map(|i| (i.wrapping_mul(2654435761) >> 24 < 180).into()).collect();
    let set = Image::new(&rubble, &[60, 60]).unwrap();
    for context in contexts() {
        let options = Options::new().budget(1);
        let mut reach = vec![0f32; 3600];
        let mut out = ImageMut::new(&mut reach, &[60, 60]).unwrap();
        let error = context.eccentricity(&set, Some(&mut out), None, &options).unwrap_err();
        assert_eq!(error.status(), Status::Budget);
        let extents = context.extents(&set, None, None, &options).unwrap();
        assert!(extents.iter().any(|extent| extent.gap > 0.0));
    }
}
