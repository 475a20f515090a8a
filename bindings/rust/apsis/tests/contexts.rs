//! Contexts: errors, callbacks, threads, and memory of a device.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use apsis::{Context, Device, Image, ImageMut, Method, Metric, Options, Status};

use common::{by_trying, contexts, mask, SIZE};

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
