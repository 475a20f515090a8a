//! Every call of the crate, on the CPU, and on a GPU where there is one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use apsis::{
    wanted, Contact, Context, Device, Image, ImageMut, Measure, Method, Metric, Operation, Options, Source, Status, Surface,
};

const SIZE: [usize; 2] = [9, 5];

fn contexts() -> Vec<Context> {
    let devices = (0..apsis::device_count()).filter_map(|number| Context::new(Device::Cuda(number)).ok());
    devices.chain([Context::new(Device::Cpu).unwrap()]).collect()
}

fn mask() -> Vec<u8> {
    let mut mask = vec![0; 45];
    for (x, y) in [(1, 1), (2, 1), (7, 3), (4, 4)] {
        mask[x + 9 * y] = 1;
    }
    mask
}

/// Squares of distances and nearest pixels, by trying all; of several the lowest.
fn by_trying(mask: &[u8]) -> (Vec<i32>, Vec<i32>) {
    let nearest = |at: usize| {
        let far = |to: usize| {
            let (dx, dy) = ((at % 9) as i32 - (to % 9) as i32, (at / 9) as i32 - (to / 9) as i32);
            (dx * dx + dy * dy, to as i32)
        };
        (0..mask.len()).filter(|&to| mask[to] != 0).map(far).min().unwrap()
    };
    (0..mask.len()).map(nearest).unzip()
}

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

#[test]
fn errors_say_what_is_wrong() {
    let (mask, mut out) = (mask(), vec![0f32; 45]);
    let set = Image::new(&mask, &SIZE).unwrap();
    for context in contexts() {
        let mut image = ImageMut::new(&mut out, &[5, 9]).unwrap();
        let error = context.distance(&set, Some(&mut image), None, &Options::new()).unwrap_err();
        assert_eq!(error.status(), Status::Argument);
        assert!(error.to_string().contains("size"), "{}", error);
        let error = context.components(&set, None, &Options::new().method(Method::Sweep)).unwrap_err();
        assert!(!error.message().is_empty());
    }
    assert_eq!(Context::new(Device::Cuda(1000)).err().unwrap().status(), Status::NoDevice);
    assert_eq!(Context::new(Device::Cuda(-2)).err().unwrap().status(), Status::NoDevice);
}

#[test]
fn errors_have_the_names_of_the_crate() {
    let (mask, pixels) = (mask(), vec![0f32; 45]);
    let (mut distance, mut nearest) = (vec![0f32; 45], vec![0i32; 45]);
    let set = Image::new(&mask, &SIZE).unwrap();
    let lengths = Image::new(&pixels, &SIZE).unwrap();
    let context = Context::new(Device::Cpu).unwrap();
    let mut out = ImageMut::new(&mut distance, &SIZE).unwrap();
    let mut which = ImageMut::new(&mut nearest, &SIZE).unwrap();
    let scan = Options::new().method(Method::SequentialScan).metric(Metric::CityBlock);
    let mixed =
        "voronoi: options: mixed is set, but method is Auto, and the mixed map is what Sweep, SweepBlocks and SweepRows leave";
    for (error, message) in [
        (
            context.components(&set, None, &Options::new().method(Method::Sweep)).unwrap_err(),
            "components: options: method is Sweep, but components takes Auto, TileFill",
        ),
        (
            context.components(&lengths, None, &Options::new()).unwrap_err(),
            "components: set: type is f32, but a set is bool, u8, u16, i32 or i64",
        ),
        (
            context.components(&set, None, &Options::new().slices()).unwrap_err(),
            "components: options: slices is set, but ndim is 2 and not 3",
        ),
        (context.voronoi(&set, &mut which, &Options::new().mixed()).unwrap_err(), mixed),
        (
            context.distance(&set, Some(&mut out), Some(&mut which), &scan).unwrap_err(),
            "distance: nearest is not None, but SequentialScan knows it only where the metric is Euclidean",
        ),
        (
            context.distance(&set, Some(&mut out), None, &Options::new().spacing([1.0, 1e39, 1.0])).unwrap_err(),
            "distance: options: spacing[0] is 1, too small beside the others for this image: it must be at least",
        ),
        (context.with_threads(-1).err().unwrap(), "with_threads: threads is -1, but cannot be negative"),
        (Context::new(Device::Cuda(1000)).err().unwrap(), "new: "),
    ] {
        assert!(error.message().starts_with(message), "{}", error);
    }
}

/// A distance map that is large enough to tell of progress.
fn map_noise(context: &Context) -> Result<(), apsis::Error> {
    let mask: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2654435761) >> 24 == 0).into()).collect();
    let mut out = vec![0f32; 1 << 20];
    let mut image = ImageMut::new(&mut out, &[1024, 1024])?;
    context.distance(&Image::new(&mask, &[1024, 1024])?, Some(&mut image), None, &Options::new())
}

#[test]
fn progress_is_told_and_stops() {
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let context = Context::new(Device::Cpu).unwrap();
    let context = context.with_progress(move |_| count.fetch_add(1, Ordering::Relaxed) < usize::MAX).unwrap();
    map_noise(&context).unwrap();
    assert!(told.load(Ordering::Relaxed) > 0);
    let context = context.with_progress(|_| false).unwrap();
    assert_eq!(map_noise(&context).unwrap_err().status(), Status::Cancelled);
}

#[test]
fn a_panic_passes_through() {
    let context = Context::new(Device::Cpu).unwrap().with_progress(|_| panic!("from a callback")).unwrap();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| map_noise(&context))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"from a callback"));
    let context = context.with_progress(|_| true).unwrap();
    map_noise(&context).unwrap();
}

#[test]
fn contexts_go_to_other_threads() {
    let context = Context::new(Device::Best).unwrap().with_threads(1).unwrap();
    std::thread::spawn(move || map_noise(&context)).join().unwrap().unwrap();
}

#[test]
fn the_log_is_read() {
    let context = Context::new(Device::Cpu).unwrap().with_log(|line| assert!(!line.contains('\n'))).unwrap();
    map_noise(&context).unwrap();
    context.sync().unwrap();
    assert_eq!(context.device(), None);
}

#[test]
fn memory_of_the_device() {
    let mask = mask();
    let set = Image::new(&mask, &SIZE).unwrap();
    for context in contexts() {
        if context.device().is_none() {
            assert_eq!(context.device_image::<f32>(&SIZE).err().unwrap().status(), Status::Argument);
            continue;
        }
        let mut there = context.device_image::<u8>(&SIZE).unwrap();
        let mut squares = context.device_image::<i32>(&SIZE).unwrap();
        context.copy(&set, &mut there).unwrap();
        context.distance(&there, Some(&mut squares), None, &Options::new()).unwrap();
        let mut out = vec![0i32; 45];
        context.copy(&squares, &mut ImageMut::new(&mut out, &SIZE).unwrap()).unwrap();
        assert_eq!(out, by_trying(&mask).0);
        let other = Context::new(Device::Cpu).unwrap();
        assert_eq!(other.components(&there, None, &Options::new()).unwrap_err().status(), Status::Argument);
    }
}
