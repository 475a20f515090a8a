//! Images that are cut into slabs: the maps of the whole image, and what is refused.

use apsis::{
    measure, merge_parts, merge_sums, wanted, Beside, Context, Device, Image, ImageMut, Labels, Metric, Options, Paths, Slab,
    Source, Status, Summary,
};

const SIZES: [&[usize]; 2] = [&[17, 23], &[8, 9, 11]];
const CUTS: [usize; 5] = [0, 3, 3, 4, 9]; // one slab without rows; the last goes on to the end

struct Cut {
    pixels: Vec<u8>,
    size: Vec<usize>,
    columns: usize,
}

impl Cut {
    /// Random pixels, so many of 100 in the set.
    fn new(size: &[usize], percent: u32, mut seed: u32) -> Cut {
        let mut roll = || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            u8::from((seed >> 16) % 100 < percent)
        };
        let count = size.iter().product();
        Cut { pixels: (0..count).map(|_| roll()).collect(), size: size.to_vec(), columns: count / size[size.len() - 1] }
    }

    fn rows(&self) -> usize {
        self.size[self.size.len() - 1]
    }

    fn whole(&self) -> Image<'_, u8> {
        Image::new(&self.pixels, &self.size).unwrap()
    }

    fn start(&self, k: usize) -> usize {
        *CUTS.get(k).unwrap_or(&self.rows())
    }

    /// The size of a slab, and where it lies among the pixels.
    fn place(&self, k: usize) -> (Vec<usize>, std::ops::Range<usize>) {
        let (start, end) = (self.start(k), self.start(k + 1));
        let mut size = self.size.clone();
        *size.last_mut().unwrap() = end - start;
        (size, start * self.columns..end * self.columns)
    }

    fn slab(&self, k: usize) -> Image<'_, u8> {
        let (size, range) = self.place(k);
        Image::new(&self.pixels[range], &size).unwrap()
    }
}

fn merged(told: &[Summary]) -> Option<Summary> {
    let (first, others) = told.split_first()?;
    let mut all = first.clone();
    others.iter().for_each(|other| all.merge(other).unwrap());
    Some(all)
}

/// Of a label image: the same, for distances to another value and for the labels of sites.
#[test]
fn maps_of_label_images_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    for ((options, is_ring), size) in [(Options::new(), false), (Options::new().border(), false), (Options::new(), true)]
        .iter()
        .flat_map(|o| SIZES.map(|s| (*o, s)))
    {
        let mut cut = Cut::new(size, 20, 25);
        let columns = cut.columns;
        for i in columns..cut.pixels.len() {
            cut.pixels[i] = if i % 7 > 0 { cut.pixels[i - columns] } else { 3 * cut.pixels[i] };
        }
        let (mut between, mut sites) = (options.labels(), Options::new().labels().max_distance(3.0));
        if is_ring {
            let close = |o: Options| if size.len() == 3 { o.periodic_z() } else { o.periodic_y() };
            (between, sites) = (close(between), close(sites));
        }
        let count = cut.pixels.len();
        let (mut whole, mut grown) = (vec![0f32; count], vec![0i32; count]);
        context.distance(&cut.whole(), Some(&mut ImageMut::new(&mut whole, size).unwrap()), None, &between).unwrap();
        context.voronoi(&cut.whole(), &mut ImageMut::new(&mut grown, size).unwrap(), &sites).unwrap();
        let of = |k| context.slab_summary(&cut.slab(k), cut.start(k) as i64, &sites).unwrap();
        let told: Vec<Summary> = (0..CUTS.len()).map(of).collect();
        let merged = |told: &[Summary]| -> Option<Summary> {
            let (first, others) = told.split_first()?;
            let mut all = first.clone();
            others.iter().for_each(|other| all.merge_labels(other).unwrap());
            Some(all)
        };
        let (mut got, mut labels) = (vec![0f32; count], vec![0i32; count]);
        for k in 0..CUTS.len() {
            let (mut above, mut below) = (merged(&told[..k]), merged(&told[k + 1..]));
            if is_ring {
                let all = merged(&told).unwrap();
                let none = Summary { first: vec![i64::MAX; all.first.len()], last: vec![-1; all.last.len()] };
                for side in [&mut above, &mut below] {
                    side.get_or_insert_with(|| none.clone()).close_labels(&all, cut.rows() as i64).unwrap();
                }
            }
            let slab = Slab {
                start: cut.start(k) as i64,
                extent: cut.rows() as i64,
                above: above.as_ref().map(|all| &all.last[..]),
                below: below.as_ref().map(|all| &all.first[..]),
                ..Slab::default()
            };
            let (size, range) = cut.place(k);
            let mut part = ImageMut::new(&mut got[range.clone()], &size).unwrap();
            context.slab_distance(&cut.slab(k), &slab, Some(&mut part), None, &between).unwrap();
            let mut part = ImageMut::new(&mut labels[range], &size).unwrap();
            context.slab_voronoi(&cut.slab(k), &slab, &mut part, &sites).unwrap();
        }
        assert_eq!(got, whole);
        assert_eq!(labels, grown);
    }
}

#[test]
fn distances_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    let signed = Options::new().signed().spacing([1.0, 2.0, 3.0]);
    for (options, size) in [Options::new(), signed].iter().flat_map(|o| SIZES.map(|s| (*o, s))) {
        let cut = Cut::new(size, 10, 24);
        let (mut whole, mut which) = (vec![0f64; cut.pixels.len()], vec![0i64; cut.pixels.len()]);
        let mut maps = (ImageMut::new(&mut whole, size).unwrap(), ImageMut::new(&mut which, size).unwrap());
        context.distance(&cut.whole(), Some(&mut maps.0), Some(&mut maps.1), &options).unwrap();

        let summary = |options: Options| -> Vec<Summary> {
            let of = |k| context.slab_summary(&cut.slab(k), cut.start(k) as i64, &options).unwrap();
            (0..CUTS.len()).map(of).collect()
        };
        let (told, others) = (summary(options), summary(options.complement()));
        let (mut got, mut from) = (vec![0f64; cut.pixels.len()], vec![0i64; cut.pixels.len()]);
        for k in 0..CUTS.len() {
            let outside = |of: &[Summary]| (merged(&of[..k]), merged(&of[k + 1..]));
            let ((above, below), (other_above, other_below)) = (outside(&told), outside(&others));
            let slab = Slab {
                start: cut.start(k) as i64,
                extent: cut.rows() as i64,
                above: above.as_ref().map(|all| &all.last[..]),
                below: below.as_ref().map(|all| &all.first[..]),
                complement_above: other_above.as_ref().map(|all| &all.last[..]),
                complement_below: other_below.as_ref().map(|all| &all.first[..]),
            };
            let (size, range) = cut.place(k);
            let mut distance = ImageMut::new(&mut got[range.clone()], &size).unwrap();
            let mut nearest = ImageMut::new(&mut from[range], &size).unwrap();
            context.slab_distance(&cut.slab(k), &slab, Some(&mut distance), Some(&mut nearest), &options).unwrap();
        }
        assert!(got == whole && from == which, "{:?}", options);
    }
}

#[test]
fn geodesic_distances_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    for (size, options) in SIZES.iter().zip([Options::new(), Options::new().metric(Metric::CityBlock)]) {
        let (cut, seeds) = (Cut::new(size, 70, 1), Cut::new(size, 5, 2));
        let (mut whole, mut which) = (vec![0f32; cut.pixels.len()], vec![0i32; cut.pixels.len()]);
        let mut maps = (ImageMut::new(&mut whole, size).unwrap(), ImageMut::new(&mut which, size).unwrap());
        context.geodesic(&cut.whole(), &seeds.whole(), Some(&mut maps.0), Some(&mut maps.1), &options).unwrap();

        let mut paths = vec![Paths::new(cut.columns, true); CUTS.len()];
        let (mut got, mut from) = (vec![0f32; cut.pixels.len()], vec![0i32; cut.pixels.len()]);
        let (mut rounds, mut changed) = (0, 1);
        while changed > 0 {
            changed = 0;
            for k in 0..CUTS.len() {
                let (before, rest) = paths.split_at_mut(k);
                let (own, behind) = rest.split_first_mut().unwrap();
                let (start, extent) = (cut.start(k) as i64, cut.rows() as i64);
                let beside = Beside { start, extent, above: before.last(), below: behind.first() };
                let (size, range) = cut.place(k);
                let mut distance = ImageMut::new(&mut got[range.clone()], &size).unwrap();
                let mut nearest = ImageMut::new(&mut from[range], &size).unwrap();
                changed += context
                    .slab_geodesic(
                        &cut.slab(k),
                        &seeds.slab(k),
                        &beside,
                        own,
                        Some(&mut distance),
                        Some(&mut nearest),
                        &options,
                    )
                    .unwrap();
            }
            rounds += 1;
        }
        assert!(rounds > 2 && got == whole && from == which, "{:?}", options);
    }
}

#[test]
fn components_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    let plain = Options::new();
    for (options, in_groups) in [
        (plain, false),
        (plain.connectivity(2), true),
        (plain.connectivity(2).largest(3), false),
        (plain.largest(4), true),
        (plain.no_border().min_area(2), false),
    ] {
        for size in SIZES {
            let cut = Cut::new(size, 40, 3);
            let mut whole = vec![0i32; cut.pixels.len()];
            let mut map = ImageMut::new(&mut whole, size).unwrap();
            let known = context.component_statistics(&cut.whole(), Some(&mut map), &options).unwrap();

            let parts = |k| context.slab_parts(&cut.slab(k), cut.start(k) as i64, true, &options).unwrap();
            let mut told: Vec<Labels> = (0..CUTS.len()).map(parts).collect();
            let join = |slabs: &mut [Labels], how| context.slab_join(slabs, size, how).unwrap();
            let all = if in_groups {
                let every = options.largest(0); // a group is not the whole image
                let mut groups = [join(&mut told[..2], &every), join(&mut told[2..], &every)];
                let all = join(&mut groups, &options);
                context.slab_renumber(&groups[0], &mut told[..2]).unwrap();
                context.slab_renumber(&groups[1], &mut told[2..]).unwrap();
                all
            } else {
                join(&mut told, &options)
            };
            assert_eq!((all.count as usize, all.rows as usize), (known.len(), cut.rows()));
            assert_eq!(format!("{:?}", measure(&all.parts.unwrap())), format!("{:?}", known));
            let mut got = vec![0i32; cut.pixels.len()];
            for (k, slab) in told.iter().enumerate() {
                let (size, range) = cut.place(k);
                let mut labels = ImageMut::new(&mut got[range], &size).unwrap();
                context.slab_components(&cut.slab(k), slab, &mut labels, &options).unwrap();
            }
            assert_eq!(got, whole);
        }
    }
}

/// Three values in cells of some pixels, and 0.
fn label_image(size: &[usize]) -> Cut {
    let mut cut = Cut::new(size, 60, 11);
    let columns = cut.columns;
    for i in 0..cut.pixels.len() {
        let above = if i >= columns { cut.pixels[i - columns] } else { 0 };
        cut.pixels[i] = if i % 5 > 1 { above } else { cut.pixels[i] * (1 + (i % 3) as u8) };
    }
    cut
}

#[test]
fn components_of_label_images_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    let plain = Options::new().labels();
    for options in [plain, plain.connectivity(2).min_area(2)] {
        for size in SIZES {
            let cut = label_image(size);
            let mut whole = vec![0i32; cut.pixels.len()];
            let mut map = ImageMut::new(&mut whole, size).unwrap();
            let known = context.component_statistics(&cut.whole(), Some(&mut map), &options).unwrap();
            let parts = |k| context.slab_parts(&cut.slab(k), cut.start(k) as i64, false, &options).unwrap();
            let mut told: Vec<Labels> = (0..CUTS.len()).map(parts).collect();
            let all = context.slab_join(&mut told, size, &options).unwrap();
            assert_eq!(format!("{:?}", measure(&all.parts.unwrap())), format!("{:?}", known));
            let mut got = vec![0i32; cut.pixels.len()];
            for (k, slab) in told.iter().enumerate() {
                let (size, range) = cut.place(k);
                let mut labels = ImageMut::new(&mut got[range], &size).unwrap();
                context.slab_components(&cut.slab(k), slab, &mut labels, &options).unwrap();
            }
            assert_eq!(got, whole);
        }
    }
}

#[test]
fn values_and_contacts_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    for options in [Options::new(), Options::new().connectivity(2).spacing([2.0, 3.0, 5.0])] {
        for size in SIZES {
            let cut = label_image(size);
            let (mut parts, mut contacts) = (vec![], vec![]);
            for k in 0..CUTS.len() {
                let start = cut.start(k);
                parts.extend(context.slab_statistics(&cut.slab(k), start as i64).unwrap());
                let row = |start| cut.pixels[(start - 1) * cut.columns..start * cut.columns].iter();
                let before: Option<Vec<i64>> = (start > 0).then(|| row(start).map(|&value| value.into()).collect());
                contacts.extend(context.slab_contacts(&cut.slab(k), before.as_deref(), &options).unwrap());
            }
            merge_parts(&mut parts);
            let known = context.statistics(&cut.whole()).unwrap();
            assert_eq!(format!("{:?}", measure(&parts)), format!("{:?}", known));
            context.slab_merge_contacts(size.len(), &mut contacts, &options).unwrap();
            let known = context.contacts(&cut.whole(), &options).unwrap();
            assert!(known.len() > 2);
            assert_eq!(format!("{:?}", contacts), format!("{:?}", known));
        }
    }
    let image = Image::new(&[1u8, 2, 3, 4, 5, 6], &[3, 2]).unwrap();
    let error = context.slab_contacts(&image, Some(&[1, 2]), &Options::new()).unwrap_err();
    assert_eq!(error.message(), "before has 2 elements, but must have 3");
    let error = context.slab_statistics(&image, -1).unwrap_err();
    assert!(error.message().contains("start is -1"), "{}", error);
    let error = context.slab_merge_contacts(4, &mut vec![], &Options::new()).unwrap_err();
    assert_eq!(error.status(), Status::Argument);
    merge_parts(&mut vec![]);
}

#[test]
fn measures_are_those_of_the_whole_image() {
    let context = Context::new(Device::Cpu).unwrap();
    for (options, size) in [Options::new(), Options::new().spacing([0.5; 3])].iter().flat_map(|o| SIZES.map(|s| (*o, s))) {
        let cut = label_image(size);
        let grey: Vec<f32> = (0..cut.pixels.len()).map(|i| i as f32 / 7.0).collect();
        let around = if size.len() == 2 { wanted::PERIMETER } else { wanted::EULER };
        let all = wanted::MOMENTS | wanted::SURFACE | wanted::INTENSITY | around;
        let mut sums = vec![];
        for k in (0..CUTS.len()).rev() {
            let ((place, range), rows) = (cut.place(k), cut.start(k).min(4));
            let mut above = place.clone();
            *above.last_mut().unwrap() = rows;
            let before = Image::new(&cut.pixels[range.start - rows * cut.columns..range.start], &above).unwrap();
            let bright = Image::new(&grey[range], &place).unwrap();
            let before: Option<&dyn Source> = if rows > 0 { Some(&before) } else { None };
            let start = cut.start(k) as i64;
            sums.extend(context.slab_sums(&cut.slab(k), Some(&bright), before, start, all, &options).unwrap());
        }
        merge_sums(&mut sums);
        let bright = Image::new(&grey, size).unwrap();
        let known = context.measures(&cut.whole(), Some(&bright), all, &options).unwrap();
        assert!(known.len() > 2);
        assert_eq!(format!("{:?}", context.slab_measures(size, &sums, &options).unwrap()), format!("{:?}", known));
    }
    let image = Image::new(&[1u8, 2, 3, 4, 5, 6], &[3, 2]).unwrap();
    let error = context.slab_sums(&image, None, None, 3, wanted::EULER, &Options::new()).unwrap_err();
    assert!(error.message().contains("before is None, but the slab needs 1 of the rows"), "{}", error);
    let sums = context.slab_sums(&image, None, None, 3, 0, &Options::new()).unwrap();
    let error = context.slab_measures(&[3, 2], &sums, &Options::new()).unwrap_err();
    assert!(error.message().contains("sums[0] cannot be"), "{}", error);
    assert!(context.slab_measures(&[3, 2], &[], &Options::new()).unwrap().is_empty());
    merge_sums(&mut vec![]);
}

#[test]
fn wrong_arguments() {
    let context = Context::new(Device::Cpu).unwrap();
    let (pixels, options) = ([0u8, 1, 0, 0, 1, 0], Options::new());
    let set = Image::new(&pixels, &[3, 2]).unwrap();
    let mut map = [0f32; 6];
    let mut refuse = |slab: Slab, words: &str| {
        let mut out = ImageMut::new(&mut map, &[3, 2]).unwrap();
        let error = context.slab_distance(&set, &slab, Some(&mut out), None, &options).unwrap_err();
        assert!(error.status() == Status::Argument && error.message().contains(words), "{}", error);
    };
    refuse(Slab { start: 4, extent: 5, ..Slab::default() }, "start is 4, but must be from 0 to 3: the slab has 2 of 5 rows");
    refuse(Slab { start: 1, extent: 3, above: Some(&[0; 2]), ..Slab::default() }, "above has 2 elements, but must have 3");
    refuse(
        Slab { start: 1, extent: 3, above: Some(&[1; 3]), ..Slab::default() },
        "above[0] is 1, but must be from 0 to 0, or -1",
    );

    let mut one = context.slab_summary(&set, 0, &options).unwrap();
    assert_eq!(one, Summary { first: vec![i64::MAX, 0, i64::MAX], last: vec![-1, 1, -1] });
    let error = one.merge(&Summary { first: vec![0], last: vec![0; 3] }).unwrap_err();
    assert_eq!(error.message(), "other.first has 1 elements, but must have 3");

    let above = Paths::new(3, false);
    let beside = Beside { start: 1, extent: 3, above: Some(&above), below: None };
    let error = context.slab_geodesic(&set, &set, &beside, &mut Paths::new(3, true), None, None, &options).unwrap_err();
    assert!(error.message().contains("above_seeds is None, but nearest seeds are wanted"), "{}", error);
    let error = context.slab_geodesic(&set, &set, &beside, &mut Paths::new(2, false), None, None, &options).unwrap_err();
    assert_eq!(error.message(), "paths.first has 2 elements, but must have 3");

    let part = context.slab_parts(&set, 0, false, &options).unwrap();
    let join = |size: &[usize], options: &Options| context.slab_join(&mut [part.clone()], size, options).unwrap_err();
    assert!(join(&[3, 1], &options).message().contains("slabs[0]: rows is 2, but must be from 0 to 1"));
    assert_eq!(join(&[4, 2], &options).message(), "slabs[0]: first has 3 elements, but must have 4");
    assert!(join(&[3, 2], &options.largest(1)).message().contains("slabs[0]: parts is None"));
    assert_eq!(join(&[3], &options).message(), "size has 1 axes, but an image has 2 or 3");
}

#[test]
fn several_devices() {
    let refused = |devices: &[i32]| Context::on_devices(devices).err().expect("it is refused");
    assert_eq!(refused(&[]).message(), "devices is empty, but must have the number of a CUDA device");
    let negative = "on_devices: devices[0] is -1, but must be a CUDA device number";
    assert_eq!(refused(&[-1]).message(), negative);
    let most = apsis::device_count();
    assert_eq!(refused(&[most, most]).status(), Status::NoDevice);
    if most > 0 {
        assert_eq!(Context::on_devices(&[0, most - 1]).unwrap().device(), Some(0));
    }
}
