//! The TIFF that the gallery and the apsis command have in common: little-endian, one page, one sample a pixel, not
//! compressed, strip after strip.

use std::io;
use std::path::Path;

const WIDTH: u16 = 256;
const HEIGHT: u16 = 257;
const BITS: u16 = 258;
const COMPRESSION: u16 = 259;
const PHOTOMETRIC: u16 = 262;
const STRIP_OFFSETS: u16 = 273;
const ROWS_PER_STRIP: u16 = 278;
const STRIP_BYTES: u16 = 279;
const SAMPLE_FORMAT: u16 = 339;

/// Samples as the bytes that are in the file.
pub struct Tiff {
    pub size: [usize; 2],
    pub bits: u16,
    pub format: u16, // 1 unsigned, 2 signed, 3 floating-point
    pub bytes: Vec<u8>,
}

pub fn read(path: &Path) -> io::Result<Tiff> {
    let file = std::fs::read(path)?;
    parse(&file).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{} is another TIFF", path.display())))
}

fn number(file: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let digits = file.get(at..at.checked_add(bytes)?)?;
    Some(digits.iter().rev().fold(0, |all, &digit| all << 8 | usize::from(digit)))
}

/// The values of a tag, where they are short or long integers.
fn tag(file: &[u8], tag: u16) -> Option<Vec<usize>> {
    let directory = number(file, 4, 4)?;
    let entries = number(file, directory, 2)?;
    let at = (0..entries).map(|i| directory + 2 + 12 * i).find(|&at| number(file, at, 2) == Some(tag.into()))?;
    let bytes = if number(file, at + 2, 2)? == 3 { 2 } else { 4 };
    let count = number(file, at + 4, 4)?;
    let values = if count * bytes <= 4 { at + 8 } else { number(file, at + 8, 4)? };
    (0..count).map(|i| number(file, values + bytes * i, bytes)).collect()
}

fn parse(file: &[u8]) -> Option<Tiff> {
    let one = |name| tag(file, name).map_or(Some(1), |values| values.first().copied());
    if !file.starts_with(b"II*\0") || one(COMPRESSION)? != 1 {
        return None;
    }
    let mut bytes = Vec::new();
    for (offset, count) in tag(file, STRIP_OFFSETS)?.into_iter().zip(tag(file, STRIP_BYTES)?) {
        bytes.extend_from_slice(file.get(offset..offset.checked_add(count)?)?);
    }
    let (size, bits) = ([one(WIDTH)?, one(HEIGHT)?], one(BITS)? as u16);
    let format = one(SAMPLE_FORMAT)? as u16;
    (bytes.len() * 8 == size[0] * size[1] * usize::from(bits)).then_some(Tiff { size, bits, format, bytes })
}

pub fn write(path: &Path, image: &Tiff) -> io::Result<()> {
    let (data, long, short) = (8u32, 4u16, 3u16);
    let directory = data + image.bytes.len() as u32 + image.bytes.len() as u32 % 2;
    let entries: [(u16, u16, u32); 9] = [
        (WIDTH, long, image.size[0] as u32),
        (HEIGHT, long, image.size[1] as u32),
        (BITS, short, image.bits.into()),
        (COMPRESSION, short, 1),
        (PHOTOMETRIC, short, 1),
        (STRIP_OFFSETS, long, data),
        (ROWS_PER_STRIP, long, image.size[1] as u32),
        (STRIP_BYTES, long, image.bytes.len() as u32),
        (SAMPLE_FORMAT, short, image.format.into()),
    ];
    let mut file = b"II*\0".to_vec();
    file.extend(directory.to_le_bytes());
    file.extend(&image.bytes);
    file.resize(directory as usize, 0);
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    std::fs::write(path, file)
}
