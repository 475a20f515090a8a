//! Components, label images and measures, on the CPU, and on a GPU where there is one.

mod common;

use apsis::{wanted, Contact, Image, ImageMut, Measure, Metric, Options, Source, Status};

use common::{contexts, mask, SIZE};

#[test]
fn components_and_their_statistics() {
    let mask = mask();
    let set = Image::new(&mask, &SIZE).unwrap();
    for context in contexts() {
        let mut labels = vec![0i32; 45];
        let mut out = ImageMut::new(&mut labels, &SIZE).unwrap();
        let known = context.component_statistics(&set, Some(&mut out), &Options::new()).unwrap();
        assert_eq!(known.iter().map(|one| (one.first, one.area)).collect::<Vec<_>>(), [(10, 2), (34, 1), (40, 1)]);
        assert_eq!(known[0].centroid, [1.5, 1.0, 0.0]);
        assert_eq!((labels[10], labels[11], labels[34], labels[40]), (1, 1, 2, 3));
        assert_eq!(context.components(&set, None, &Options::new().min_area(2)).unwrap(), 1);
    }
}

#[test]
fn more_components_than_expected() {
    let size = [300, 100];
    let checkers: Vec<u8> = (0..30000).map(|i| ((i % 300 + i / 300) % 2) as u8).collect();
    for context in contexts() {
        let known = context.component_statistics(&Image::new(&checkers, &size).unwrap(), None, &Options::new()).unwrap();
        assert_eq!(known.len(), 15000);
        assert_eq!(known[14999].first, 29998);
    }
}

/// 3 3 0 0
/// 3 8 8 0
/// 0 8 8 5
const LABELS: [u16; 12] = [3, 3, 0, 0, 3, 8, 8, 0, 0, 8, 8, 5];

#[test]
fn label_images() {
    let size = [4, 3];
    let labels = Image::new(&LABELS, &size).unwrap();
    for context in contexts() {
        let known = context.statistics(&labels).unwrap();
        assert_eq!(known.iter().map(|one| (one.value, one.area)).collect::<Vec<_>>(), [(0, 4), (3, 3), (5, 1), (8, 4)]);
        assert_eq!((known[3].first, known[3].lower, known[3].upper), (5, [1, 1, 0], [2, 2, 0]));
        let by_value = context.statistics_by_value(&labels, 9).unwrap();
        assert_eq!(by_value.iter().map(|one| one.area).collect::<Vec<_>>(), [4, 0, 0, 3, 0, 1, 0, 0, 4]);
        assert_eq!((by_value[8].centroid, by_value[1].first, by_value[1].value), ([1.5, 1.5, 0.0], -1, 1));
        let error = context.statistics_by_value(&labels, 8).err().expect("8 has no place");
        assert_eq!((error.status(), error.to_string().contains("capacity is 8")), (Status::Range, true), "{}", error);

        let touching = context.contacts(&labels, &Options::new().connectivity(2).spacing([2.0, 5.0, 1.0])).unwrap();
        let told = |one: &Contact| (one.a, one.b, one.faces, one.corners, one.area);
        let expected = [(3, 8, [1, 1, 0], 3, 7.0), (5, 8, [1, 0, 0], 1, 5.0)];
        assert_eq!(touching.iter().map(told).collect::<Vec<_>>(), expected, "{}", context.name());
        assert_eq!(context.contacts(&labels, &Options::new().complement()).err().unwrap().status(), Status::Argument);

        let shapes = context.measures(&labels, None, wanted::SURFACE | wanted::EULER, &Options::new()).unwrap();
        let told = |one: &Measure| (one.component.value, one.border, one.euler, one.surface, one.perimeter);
        let expected = [(3, 1, 1, 8.0, 0.0), (5, 1, 1, 4.0, 0.0), (8, 1, 1, 8.0, 0.0)];
        assert_eq!(shapes.iter().map(told).collect::<Vec<_>>(), expected, "{}", context.name());
        let bright = context.measures(&labels, Some(&labels), wanted::INTENSITY, &Options::new()).unwrap();
        assert_eq!(bright.iter().map(|one| one.intensity_sum).collect::<Vec<_>>(), [9.0, 5.0, 32.0]);
        let error = context.measures(&labels, None, wanted::INTENSITY, &Options::new()).err().unwrap();
        assert_eq!((error.status(), error.to_string().contains("grey is None")), (Status::Argument, true), "{}", error);

        let mut squares = [0i32; 12];
        let mut out = ImageMut::new(&mut squares, &size).unwrap();
        context.distance(&labels, Some(&mut out), None, &Options::new().labels().border()).unwrap();
        assert_eq!(squares, [1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1]);
        let mut grown = [0i32; 12];
        context.voronoi(&labels, &mut ImageMut::new(&mut grown, &size).unwrap(), &Options::new().labels()).unwrap();
        assert_eq!(grown, [3, 3, 3, 8, 3, 8, 8, 8, 3, 8, 8, 5]);
        let (free, mut seeds) = ([true; 12], [0i64; 12]);
        let mut nearest = ImageMut::new(&mut seeds, &size).unwrap();
        let set = Image::new(&free, &size).unwrap();
        context.geodesic(&set, &labels, None, Some(&mut nearest), &Options::new().labels()).unwrap();
        assert_eq!((seeds[2], seeds[8], seeds[11]), (3, 3, 5));
        let paths = Options::new().metric(Metric::CityBlock);
        let mut reach = [0i32; 12];
        let mut out = ImageMut::new(&mut reach, &size).unwrap();
        context.eccentricity(&labels, Some(&mut out), None, &paths.labels()).unwrap();
        assert_eq!(reach, [1, 2, -1, -1, 2, 2, 2, -1, -1, 2, 2, 0]);
        let mut out = ImageMut::new(&mut reach, &size).unwrap();
        context.eccentricity(&set, Some(&mut out), None, &paths.periodic_x().periodic_y()).unwrap();
        assert_eq!(reach, [3; 12]);
    }
}

#[test]
fn components_of_grey_images() {
    for context in contexts() {
        let size = [4usize, 2];
        let count = |set: &dyn Source, delta| context.components(set, None, &Options::new().delta(delta));
        let bytes = Image::new(&[1u8, 2, 4, 0, 9, 0, 5, 7], &size).unwrap();
        assert_eq!([0.0, 1.0, 2.0].map(|delta| count(&bytes, delta).unwrap()), [6, 4, 2], "{}", context.name());
        let reals = Image::new(&[0.5f32, 0.75, f32::NAN, 0.0, -0.5, 1.0, 1.0, 1.25], &size).unwrap();
        assert_eq!([0.0, 0.25, 1.0].map(|delta| count(&reals, delta).unwrap()), [6, 3, 2], "{}", context.name());
        let error = count(&bytes, -1.0).err().expect("no difference is below 0");
        assert_eq!((error.status(), error.to_string().contains("delta is -1")), (Status::Argument, true), "{}", error);
        let wide = Image::new(&[1i64; 8], &size).unwrap();
        assert_eq!(count(&wide, 1.0).err().expect("not of 64 bits").status(), Status::Unsupported);
    }
}

#[test]
fn more_values_than_expected() {
    let values: Vec<i32> = (0..30000).rev().collect();
    let none: [i32; 0] = [];
    for context in contexts() {
        let labels = Image::new(&values, &[300, 100]).unwrap();
        let known = context.statistics(&labels).unwrap();
        assert_eq!((known.len(), known[29999].value, known[29999].first), (30000, 29999, 0));
        assert_eq!(context.contacts(&labels, &Options::new()).unwrap().len(), 299 * 100 - 1 + 99 * 300 - 1);
        assert!(context.statistics(&Image::new(&none, &[0, 5]).unwrap()).unwrap().is_empty());
        assert_eq!(context.statistics_by_value(&Image::new(&none, &[0, 5]).unwrap(), 2).unwrap()[1].first, -1);
    }
}
