//! gallery SETS MAPS [DEVICE]: maps of a page of text, of random points and of a flower.
//!
//! SETS has page.pgm, points.pgm and flower.pgm, which bindings/gallery/make.py draws.  DEVICE is cpu, best or the number of a
//! GPU.

mod files;

use std::error::Error;
use std::path::Path;

use apsis::{Context, Device, Image, ImageMut, Options};
use files::Set;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (sets, maps, device) = match &arguments[..] {
        [sets, maps] => (Path::new(sets), Path::new(maps), Device::Best),
        [sets, maps, device] => (Path::new(sets), Path::new(maps), device_of(device)?),
        _ => return Err("usage: gallery SETS MAPS [DEVICE]".into()),
    };
    let context = Context::new(device)?;
    println!("on {}", context.name());

    let page = files::read(&sets.join("page.pgm"))?;
    distance(&context, &page, &maps.join("distance.f32"))?;
    cells(&context, &files::read(&sets.join("points.pgm"))?, &maps.join("cells.i32"))?;
    letters(&context, &page, &maps.join("letters.i32"))?;
    reach(&context, &files::read(&sets.join("flower.pgm"))?, &maps.join("reach.f32"))?;

    let refused = context.distance(&image(&page)?, None, None, &Options::new().max_distance(-1.0));
    println!("refused: {}", refused.expect_err("a distance is not negative"));
    Ok(())
}

fn device_of(name: &str) -> Result<Device, Box<dyn Error>> {
    Ok(match name {
        "cpu" => Device::Cpu,
        "best" => Device::Best,
        number => Device::Cuda(number.parse()?),
    })
}

fn image(set: &Set) -> Result<Image<'_, u8>, apsis::Error> {
    Image::new(&set.pixels, &set.size)
}

/// How far is every pixel of a page from its ink?
fn distance(context: &Context, page: &Set, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut map = vec![0f32; page.pixels.len()];
    context.distance(&image(page)?, Some(&mut ImageMut::new(&mut map, &page.size)?), None, &Options::new())?;
    Ok(files::write(path, &map, |value| value.to_le_bytes())?)
}

/// In whose cell is every pixel, where every cell is connected?
fn cells(context: &Context, points: &Set, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut map = vec![0i32; points.pixels.len()];
    context.voronoi(&image(points)?, &mut ImageMut::new(&mut map, &points.size)?, &Options::new().connected())?;
    Ok(files::write(path, &map, |value| value.to_le_bytes())?)
}

/// Which letter is every pixel of, and what is known of the letters?
fn letters(context: &Context, page: &Set, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut map = vec![0i32; page.pixels.len()];
    let mut labels = ImageMut::new(&mut map, &page.size)?;
    let known = context.component_statistics(&image(page)?, Some(&mut labels), &Options::new().connectivity(2))?;
    let largest = known.iter().map(|letter| letter.area).max().unwrap_or(0);
    println!("{} letters; the largest has {} pixels", known.len(), largest);
    files::write_table(&path.with_extension("csv"), &known)?;
    Ok(files::write(path, &map, |value| value.to_le_bytes())?)
}

/// How far is it from every pixel of a shape to the farthest, inside the shape?
fn reach(context: &Context, shape: &Set, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut map = vec![0f32; shape.pixels.len()];
    let mut lengths = ImageMut::new(&mut map, &shape.size)?;
    for extent in context.extents(&image(shape)?, Some(&mut lengths), None, &Options::new())? {
        println!("the flower: diameter {:.3}, radius {:.3}", extent.diameter, extent.radius);
    }
    Ok(files::write(path, &map, |value| value.to_le_bytes())?)
}
