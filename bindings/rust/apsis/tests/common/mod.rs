//! What several tests share.
#![allow(dead_code)] // each has some of it

use apsis::{Context, Device};

pub const SIZE: [usize; 2] = [9, 5];

pub fn contexts() -> Vec<Context> {
    let devices = (0..apsis::device_count()).filter_map(|number| Context::new(Device::Cuda(number)).ok());
    devices.chain([Context::new(Device::Cpu).unwrap()]).collect()
}

pub fn mask() -> Vec<u8> {
    let mut mask = vec![0; 45];
    for (x, y) in [(1, 1), (2, 1), (7, 3), (4, 4)] {
        mask[x + 9 * y] = 1;
    }
    mask
}

/// Squares of distances and nearest pixels, by trying all; of several the lowest.
pub fn by_trying(mask: &[u8]) -> (Vec<i32>, Vec<i32>) {
    let nearest = |at: usize| {
        let far = |to: usize| {
            let (dx, dy) = ((at % 9) as i32 - (to % 9) as i32, (at / 9) as i32 - (to / 9) as i32);
            (dx * dx + dy * dy, to as i32)
        };
        (0..mask.len()).filter(|&to| mask[to] != 0).map(far).min().unwrap()
    };
    (0..mask.len()).map(nearest).unzip()
}
