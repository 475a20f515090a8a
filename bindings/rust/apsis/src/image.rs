//! Views of pixels: in slices, which are borrowed, and in memory of a GPU, which is owned.

use std::marker::PhantomData;
use std::ptr;

use apsis_sys as sys;

use crate::context::Context;
use crate::error::{Error, Status};

/// The type of a pixel that is read: sets are of `bool`, `u8`, `u16`, `i32` or `i64`, and grey images of `f32` too.
pub trait Pixel: Copy + Sealed {
    #[doc(hidden)]
    const KIND: sys::apsis_type;
}

/// The type of a pixel that may be written.
pub trait Writable: Pixel {}

pub trait Sealed {}

macro_rules! pixels {
    ($($kind:ty: $constant:ident),*) => {$(
        impl Sealed for $kind {}
        impl Pixel for $kind {
            const KIND: sys::apsis_type = sys::$constant;
        }
    )*};
}
pixels!(bool: APSIS_U8, u8: APSIS_U8, u16: APSIS_U16, i32: APSIS_I32, i64: APSIS_I64, f32: APSIS_F32, f64: APSIS_F64);

impl Writable for u8 {}
impl Writable for i32 {}
impl Writable for i64 {}
impl Writable for f32 {}
impl Writable for f64 {}

/// What the library is told of an image, and the context whose memory it is in; null for memory of the CPU.
#[derive(Clone, Copy)]
pub struct View {
    pub(crate) image: sys::apsis_image,
    pub(crate) home: *const sys::apsis_context,
}

/// What a transform may read.
pub trait Source: Sealed {
    #[doc(hidden)]
    fn view(&self) -> View;
}

/// What a transform may write.
pub trait Target: Source {}

/// Pixels of a slice, to be read.
#[derive(Clone, Copy)]
pub struct Image<'a, T> {
    image: sys::apsis_image,
    pixels: PhantomData<&'a [T]>,
}

/// Pixels of a slice, to be written.
pub struct ImageMut<'a, T> {
    image: sys::apsis_image,
    pixels: PhantomData<&'a mut [T]>,
}

impl<'a, T: Pixel> Image<'a, T> {
    /// An image of `size` x, y or x, y, z: pixel (x, y, z) is `data[x + size[0] * (y + size[1] * z)]`.
    pub fn new(data: &'a [T], size: &[usize]) -> Result<Image<'a, T>, Error> {
        Image::strided(data, 0, size, &packed(size))
    }

    /// Pixel (x, y, z) is `data[first + x * stride[0] + y * stride[1] + z * stride[2]]`.
    pub fn strided(data: &'a [T], first: usize, size: &[usize], stride: &[isize]) -> Result<Image<'a, T>, Error> {
        check_reach(data.len(), first, size, stride)?;
        // From the whole slice, since strides may be negative.
        let start = unsafe { data.as_ptr().add(first) };
        Ok(Image { image: describe::<T>(start as *mut T, size, stride), pixels: PhantomData })
    }
}

impl<'a, T: Writable> ImageMut<'a, T> {
    /// As [`Image::new`].
    pub fn new(data: &'a mut [T], size: &[usize]) -> Result<ImageMut<'a, T>, Error> {
        ImageMut::strided(data, 0, size, &packed(size))
    }

    /// As [`Image::strided`]; no two pixels are one.
    pub fn strided(data: &'a mut [T], first: usize, size: &[usize], stride: &[isize]) -> Result<ImageMut<'a, T>, Error> {
        check_reach(data.len(), first, size, stride)?;
        check_apart(size, stride)?;
        let start = unsafe { data.as_mut_ptr().add(first) };
        Ok(ImageMut { image: describe::<T>(start, size, stride), pixels: PhantomData })
    }
}

/// Pixels in memory of a context's GPU, packed, from [`Context::device_image`].
pub struct DeviceImage<'c, T> {
    context: &'c Context,
    image: sys::apsis_image,
    pixels: PhantomData<T>,
}

impl<'c, T: Writable> DeviceImage<'c, T> {
    pub(crate) fn new(context: &'c Context, size: &[usize]) -> Result<DeviceImage<'c, T>, Error> {
        check_axes(size, size.len())?;
        let mut image = describe::<T>(ptr::null_mut(), size, &[0; 3][..size.len()]);
        context.call(|raw| unsafe { sys::apsis_alloc(raw, sys::APSIS_DEVICE, &mut image) })?;
        Ok(DeviceImage { context, image, pixels: PhantomData })
    }
}

impl<T> Drop for DeviceImage<'_, T> {
    fn drop(&mut self) {
        unsafe { sys::apsis_free(self.context.raw(), &mut self.image) }
    }
}

impl<T> Sealed for Image<'_, T> {}
impl<T> Sealed for ImageMut<'_, T> {}
impl<T> Sealed for DeviceImage<'_, T> {}

impl<T> Source for Image<'_, T> {
    fn view(&self) -> View {
        View { image: self.image, home: ptr::null() }
    }
}

impl<T> Source for ImageMut<'_, T> {
    fn view(&self) -> View {
        View { image: self.image, home: ptr::null() }
    }
}

impl<T> Source for DeviceImage<'_, T> {
    fn view(&self) -> View {
        View { image: self.image, home: self.context.raw() }
    }
}

impl<T> Target for ImageMut<'_, T> {}
impl<T> Target for DeviceImage<'_, T> {}

// ---- What makes a view safe ----

fn refuse<T>(message: String) -> Result<T, Error> {
    Err(Error::new(Status::Argument, message))
}

/// Strides of an image that is packed, in pixels.
fn packed(size: &[usize]) -> Vec<isize> {
    let mut stride = 1isize;
    let after = |&extent: &usize| {
        let here = stride;
        stride = stride.saturating_mul(extent as isize); // what overflows is found to reach too far
        here
    };
    size.iter().map(after).collect()
}

fn check_axes(size: &[usize], strides: usize) -> Result<(), Error> {
    if !(2..=3).contains(&size.len()) {
        return refuse(format!("size has {} axes, but an image has 2 or 3", size.len()));
    }
    if strides != size.len() {
        return refuse(format!("stride has {} axes, but size has {}", strides, size.len()));
    }
    if let Some(extent) = size.iter().find(|&&extent| extent > 1 << 30) {
        return refuse(format!("size is {:?}, but {} is more than 2^30", size, extent));
    }
    Ok(())
}

/// Every pixel is in the slice.
fn check_reach(length: usize, first: usize, size: &[usize], stride: &[isize]) -> Result<(), Error> {
    check_axes(size, stride.len())?;
    let used = !size.contains(&0);
    let (mut low, mut high) = (first as i128, first as i128);
    for (&extent, &step) in size.iter().zip(stride) {
        let reach = (extent.max(1) - 1) as i128 * step as i128;
        low += reach.min(0);
        high += reach.max(0);
        if step == 0 && extent > 1 && used {
            return refuse(format!("stride is {:?}, but pixels of an axis of {} cannot be one", stride, extent));
        }
    }
    if first > length || (used && (low < 0 || high >= length as i128)) {
        return refuse(format!("size {:?} with stride {:?} from {} is not inside a slice of {}", size, stride, first, length));
    }
    Ok(())
}

/// No two pixels are one: each axis, in the order of their strides, steps over all that lies before it.
fn check_apart(size: &[usize], stride: &[isize]) -> Result<(), Error> {
    let mut axes: Vec<_> =
        size.iter().zip(stride).filter(|(&n, _)| n > 1).map(|(&n, s)| (s.unsigned_abs() as u128, n)).collect();
    axes.sort_unstable();
    let mut extent = 1u128;
    for (step, count) in axes {
        if step < extent && !size.contains(&0) {
            return refuse(format!("size {:?} with stride {:?} has pixels that lie in one place", size, stride));
        }
        extent += step * (count as u128 - 1);
    }
    Ok(())
}

/// An image without pixels has no data.
fn describe<T: Pixel>(data: *mut T, size: &[usize], stride: &[isize]) -> sys::apsis_image {
    let bytes = std::mem::size_of::<T>() as i64;
    let mut image = sys::apsis_image {
        data: if size.contains(&0) { ptr::null_mut() } else { data.cast() },
        r#type: T::KIND,
        ndim: size.len() as i32,
        size: [1; 3],
        stride: [0; 3],
        memory: sys::APSIS_HOST,
        reserved: 0,
    };
    for (axis, (&extent, &step)) in size.iter().zip(stride).enumerate() {
        image.size[axis] = extent as i64;
        // An axis of one pixel has no stride, and where it is 0 the library takes it for packed.
        image.stride[axis] = if size.contains(&0) || extent == 1 { 0 } else { step as i64 * bytes };
    }
    image
}
