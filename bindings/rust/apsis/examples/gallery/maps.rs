//! The four maps of the gallery.

use apsis::{Component, Context, Error, Extent, Image, ImageMut, Options};

use crate::tiff::Tiff;

/// A set: one byte a pixel, not 0 inside.
pub struct Mask {
    pub size: [usize; 2],
    pub pixels: Vec<u8>,
}

impl Mask {
    fn image(&self) -> Result<Image<'_, u8>, Error> {
        Image::new(&self.pixels, &self.size)
    }
}

impl From<Tiff> for Mask {
    fn from(tiff: Tiff) -> Mask {
        assert_eq!(tiff.bits, 8, "a mask has one byte a pixel");
        Mask { size: tiff.size, pixels: tiff.bytes }
    }
}

fn floats(size: [usize; 2], map: &[f32]) -> Tiff {
    Tiff { size, bits: 32, format: 3, bytes: map.iter().flat_map(|value| value.to_le_bytes()).collect() }
}

fn integers(size: [usize; 2], map: &[i32]) -> Tiff {
    Tiff { size, bits: 32, format: 2, bytes: map.iter().flat_map(|value| value.to_le_bytes()).collect() }
}

/// How far is every pixel of a page from its ink?
pub fn distance(context: &Context, page: &Mask) -> Result<Tiff, Error> {
    let mut map = vec![0f32; page.pixels.len()];
    context.distance(&page.image()?, Some(&mut ImageMut::new(&mut map, &page.size)?), None, &Options::new())?;
    Ok(floats(page.size, &map))
}

/// In whose cell is every pixel, where every cell is connected?
pub fn cells(context: &Context, sites: &Mask) -> Result<Tiff, Error> {
    let mut map = vec![0i32; sites.pixels.len()];
    context.voronoi(&sites.image()?, &mut ImageMut::new(&mut map, &sites.size)?, &Options::new().connected())?;
    Ok(integers(sites.size, &map))
}

/// Which letter is every pixel of, and what is known of the letters?
pub fn letters(context: &Context, page: &Mask) -> Result<(Tiff, Vec<Component>), Error> {
    let mut map = vec![0i32; page.pixels.len()];
    let mut labels = ImageMut::new(&mut map, &page.size)?;
    let known = context.component_statistics(&page.image()?, Some(&mut labels), &Options::new().connectivity(2))?;
    Ok((integers(page.size, &map), known))
}

/// How far is it from every pixel of a shape to the farthest, inside the shape?
pub fn reach(context: &Context, shape: &Mask) -> Result<(Tiff, Vec<Extent>), Error> {
    let mut map = vec![0f32; shape.pixels.len()];
    let mut lengths = ImageMut::new(&mut map, &shape.size)?;
    let extents = context.extents(&shape.image()?, Some(&mut lengths), None, &Options::new())?;
    Ok((floats(shape.size, &map), extents))
}

/// Some random pixels.
pub fn random_points(size: [usize; 2], count: usize) -> Mask {
    let mut pixels = vec![0; size[0] * size[1]];
    let mut state = 1u64;
    for _ in 0..count {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let place = (state >> 33) as usize % pixels.len();
        pixels[place] = 1;
    }
    Mask { size, pixels }
}

/// A flower of five petals.
pub fn flower(side: usize) -> Mask {
    let middle = (side as f64 - 1.0) / 2.0;
    let inside = |i: usize| {
        let (x, y) = ((i % side) as f64 - middle, (i / side) as f64 - middle);
        x.hypot(y) <= middle * (0.6 + 0.4 * (5.0 * y.atan2(x)).cos())
    };
    Mask { size: [side, side], pixels: (0..side * side).map(|i| inside(i).into()).collect() }
}
