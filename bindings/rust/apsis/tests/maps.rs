//! Maps, and the images of calls, on the CPU, and on a GPU where there is one.

mod common;

use apsis::{Image, ImageMut, Operation, Options, Status, Surface};

use common::{by_trying, contexts, mask, SIZE};

#[test]
fn distances_and_nearest_pixels() {
    let mask = mask();
    for context in contexts() {
        let (mut squares, mut nearest) = (vec![0i32; 45], vec![0i32; 45]);
        let set = Image::new(&mask, &SIZE).unwrap();
        let mut out = ImageMut::new(&mut squares, &SIZE).unwrap();
        let mut which = ImageMut::new(&mut nearest, &SIZE).unwrap();
        context.distance(&set, Some(&mut out), Some(&mut which), &Options::new()).unwrap();
        assert_eq!((squares, nearest), by_trying(&mask), "{}", context.name());
    }
}

#[test]
fn dilation_and_its_kin() {
    let mask = mask();
    let set = Image::new(&mask, &SIZE).unwrap();
    for context in contexts() {
        let run = |operation, radius, from: &Image<u8>| {
            let mut pixels = vec![7u8; 45];
            let mut result = ImageMut::new(&mut pixels, &SIZE).unwrap();
            context.morphology(operation, radius, from, &mut result, &Options::new()).map(|()| pixels)
        };
        let grown = run(Operation::Dilate, 1.5, &set).unwrap();
        let near: Vec<u8> = by_trying(&mask).0.iter().map(|&square| (square <= 2) as u8).collect();
        assert_eq!(grown, near, "{}", context.name());
        let closed = run(Operation::Erode, 1.5, &Image::new(&grown, &SIZE).unwrap()).unwrap();
        assert_eq!(run(Operation::Close, 1.5, &set).unwrap(), closed);
        assert_eq!(run(Operation::Open, 0.0, &set).unwrap(), mask);
        let error = run(Operation::Open, -1.0, &set).unwrap_err();
        assert!(error.to_string().contains("radius is -1"), "{}", error);
    }
}

#[test]
fn balls() {
    // A bar of five pixels by three.
    let mask: Vec<u8> = (0..45).map(|i| (i / 9 >= 1 && i / 9 <= 3 && i % 9 >= 2 && i % 9 <= 6) as u8).collect();
    let set = Image::new(&mask, &SIZE).unwrap();
    for context in contexts() {
        let mut squares = vec![-7i32; 45];
        context.thickness(&set, &mut ImageMut::new(&mut squares, &SIZE).unwrap(), &Options::new()).unwrap();
        assert!(mask.iter().zip(&squares).all(|(&pixel, &square)| square == 4 * pixel as i32), "{}", context.name());
        context.medial_axis(&set, &mut ImageMut::new(&mut squares, &SIZE).unwrap(), &Options::new()).unwrap();
        let axis: Vec<usize> = (0..45).filter(|&i| squares[i] > 0).collect();
        assert_eq!(axis, [21, 22, 23], "{}", context.name());
        let mut bytes = vec![0u8; 45];
        let error = context.thickness(&set, &mut ImageMut::new(&mut bytes, &SIZE).unwrap(), &Options::new()).unwrap_err();
        assert!(error.to_string().contains("type is u8"), "{}", error);
    }
}

#[test]
fn surfaces() {
    let (mut first, mut second) = (vec![0u8; 45], vec![0u8; 45]);
    first[0] = 1;
    second[9 * 4 + 3] = 1;
    let (a, b) = (Image::new(&first, &SIZE).unwrap(), Image::new(&second, &SIZE).unwrap());
    for context in contexts() {
        let found = context.surface_distance(&a, &b, Surface::Pixels, 95.0, 4.5, &Options::new()).unwrap();
        assert_eq!((found.hausdorff, found.average, found.dice), (5.0, 5.0, 0.0), "{}", context.name());
        assert_eq!(found.points, [1, 1]);
        let found = context.surface_distance(&a, &b, Surface::Corners, 95.0, 4.5, &Options::new()).unwrap();
        assert_eq!(found.points, [4, 4]);
        assert!((found.area[0] - 8f64.sqrt()).abs() < 1e-12);
        let all = context.label_surface_distances(&a, &b, Surface::All, 95.0, 0.0, &Options::new()).unwrap();
        assert_eq!((all.len(), all[0].value, all[0].hausdorff), (1, 1, 5.0));
        let error = context.surface_distance(&a, &b, Surface::Pixels, 101.0, 0.0, &Options::new()).unwrap_err();
        assert!(error.to_string().contains("percentile is 101"), "{}", error);
    }
}

#[test]
fn any_strides() {
    let mask = mask();
    let flags: Vec<bool> = mask.iter().rev().map(|&pixel| pixel != 0).collect();
    for context in contexts() {
        // Read from the end, written into every second column.
        let mut wide = vec![-7i32; 18 * 5];
        let set = Image::strided(&flags, 44, &SIZE, &[-1, -9]).unwrap();
        let mut out = ImageMut::strided(&mut wide, 1, &SIZE, &[2, 18]).unwrap();
        context.distance(&set, Some(&mut out), None, &Options::new()).unwrap();
        let (squares, _) = by_trying(&mask);
        for (i, pair) in wide.chunks(2).enumerate() {
            assert_eq!(pair, [-7, squares[i]]);
        }
    }
}

#[test]
fn views_stay_inside_their_slices() {
    let (mask, mut out) = (mask(), vec![0f32; 45]);
    for (first, size, stride) in [
        (0, vec![9, 6], vec![1, 9]),
        (1, vec![9, 5], vec![1, 9]),
        (0, vec![9, 5], vec![-1, 9]),
        (46, vec![0, 5], vec![1, 9]),
        (0, vec![9, 5], vec![1]),
        (0, vec![9, 5], vec![0, 9]),
        (0, vec![9], vec![1]),
        (0, vec![usize::MAX, 2], vec![1, 1]),
        (0, vec![1 << 30, 1 << 30], vec![isize::MAX, isize::MIN]),
    ] {
        let read = Image::strided(&mask, first, &size, &stride).err().expect("it is refused");
        let write = ImageMut::strided(&mut out, first, &size, &stride).err().expect("it is refused");
        assert_eq!((read.status(), write.status()), (Status::Argument, Status::Argument), "{}", read);
    }
    assert!(Image::new(&mask, &[1 << 30, 1 << 30, 1 << 30]).is_err());
    assert!(Image::strided(&mask, 0, &[9, 5], &[1, 1]).is_ok(), "what is read may be read twice");
    assert!(ImageMut::strided(&mut out, 0, &[9, 5], &[1, 1]).is_err(), "what is written may not");
    assert!(ImageMut::strided(&mut out, 0, &[5, 9], &[9, 1]).is_ok(), "an image may be turned");
}

#[test]
fn images_without_pixels() {
    let mut none: [f32; 0] = [];
    let set: [u8; 0] = [];
    for context in contexts() {
        let mut out = ImageMut::new(&mut none, &[0, 5]).unwrap();
        context.distance(&Image::new(&set, &[0, 5]).unwrap(), Some(&mut out), None, &Options::new()).unwrap();
    }
}
