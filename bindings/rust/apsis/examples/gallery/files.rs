//! The files of the gallery.

use std::fs;
use std::io;
use std::path::Path;

use apsis::Component;

/// A set: its pixels that are not 0.
pub struct Set {
    pub size: [usize; 2],
    pub pixels: Vec<u8>,
}

/// Reads a PGM.
pub fn read(path: &Path) -> io::Result<Set> {
    let file = fs::read(path)?;
    parse(&file).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{} is another PGM", path.display())))
}

fn parse(file: &[u8]) -> Option<Set> {
    let end = file.iter().position(|&byte| byte == b'\n')?;
    let mut words = std::str::from_utf8(&file[..end]).ok()?.split(' ').skip(1);
    let size = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
    Some(Set { size, pixels: file[end + 1..].to_vec() })
}

/// Writes a map: its pixels, and nothing else.
pub fn write<T: Copy>(path: &Path, map: &[T], bytes: impl Fn(T) -> [u8; 4]) -> io::Result<()> {
    fs::write(path, map.iter().flat_map(|&pixel| bytes(pixel)).collect::<Vec<u8>>())
}

/// Writes what is known of components, a line for each; numbers in as few digits as tell them apart.
pub fn write_table(path: &Path, known: &[Component]) -> io::Result<()> {
    let mut text = String::from("label,first,area,x_min,y_min,z_min,x_max,y_max,z_max,x_mean,y_mean,z_mean\n");
    for (c, label) in known.iter().zip(1..) {
        let whole = [label, c.first, c.area].into_iter().chain(c.lower).chain(c.upper).map(|number| number.to_string());
        let means = c.centroid.into_iter().map(|mean| mean.to_string());
        text += &whole.chain(means).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    fs::write(path, text)
}
