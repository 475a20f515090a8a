//! gallery PAGE.tif FOLDER: maps of a page of text, of random points and of a flower, as TIFF.
//!
//! The page has one byte a pixel, 1 where there is ink: `apsis components tests/data/page.tif page.tif --sites black --type u8`.

mod maps;
mod tiff;

use std::error::Error;
use std::path::Path;

use apsis::{Context, Device};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (page, folder) = match &arguments[1..] {
        [page, folder] => (Path::new(page), Path::new(folder)),
        _ => return Err("usage: gallery PAGE.tif FOLDER".into()),
    };
    let context = Context::new(Device::Best)?;
    println!("on {}", context.name());

    let page = maps::Mask::from(tiff::read(page)?);
    tiff::write(&folder.join("distance.tif"), &maps::distance(&context, &page)?)?;
    tiff::write(&folder.join("cells.tif"), &maps::cells(&context, &maps::random_points([640, 480], 200))?)?;

    let (labels, letters) = maps::letters(&context, &page)?;
    tiff::write(&folder.join("letters.tif"), &labels)?;
    let largest = letters.iter().map(|letter| letter.area).max().unwrap_or(0);
    println!("{} pieces of ink; the largest has {} pixels", letters.len(), largest);

    let (lengths, extents) = maps::reach(&context, &maps::flower(301))?;
    tiff::write(&folder.join("reach.tif"), &lengths)?;
    for extent in &extents {
        println!("the flower: diameter {:.3}, radius {:.3}", extent.diameter, extent.radius);
    }
    Ok(())
}
