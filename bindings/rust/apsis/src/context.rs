//! A context of the library, and the transforms as its methods.

use std::any::Any;
use std::cell::Cell;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::rc::Rc;

use apsis_sys as sys;

use crate::error::{Error, Status};
use crate::image::{DeviceImage, Source, Target, Writable};
use crate::options::Options;

pub use sys::apsis_component as Component;
pub use sys::apsis_contact as Contact;
pub use sys::apsis_extent as Extent;

/// Components of which is told without asking twice.
const ROOM: usize = 4096;

/// Where work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// All cores of this machine.
    Cpu,
    /// The first usable CUDA device, otherwise the CPU.
    Best,
    /// The CUDA device of this number.
    Cuda(i32),
}

/// One more than the highest number of a usable CUDA device; 0 if there is none.
pub fn device_count() -> i32 {
    unsafe { sys::apsis_device_count() }
}

type Progress = dyn Fn(f64) -> bool + Send;
type Log = dyn Fn(&str) + Send;

/// Whom a context tells, and with what they have panicked: it must not pass through C, so the call ends, and goes on with it.
#[derive(Default)]
struct Callbacks {
    progress: Option<Box<Progress>>,
    log: Option<Box<Log>>,
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

/// Where work runs, and the memory that it needs.  It is used from one thread at a time.
pub struct Context {
    raw: *mut sys::apsis_context,
    callbacks: Rc<Callbacks>,
    calling: Cell<bool>,
}

// The library binds a context to no thread, and what is told can be sent; no other has a part in `callbacks`.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { sys::apsis_destroy(self.raw) }
    }
}

impl Context {
    pub fn new(device: Device) -> Result<Context, Error> {
        let number = match device {
            Device::Cpu => sys::APSIS_CPU,
            Device::Best => sys::APSIS_BEST,
            Device::Cuda(number) if number >= 0 => number,
            Device::Cuda(number) => {
                return Err(Error::new(Status::NoDevice, format!("device is {}, but must not be negative", number)))
            }
        };
        Context::created(|raw| unsafe { sys::apsis_create(sys::APSIS_VERSION, number, raw) })
    }

    /// Spreads images in memory of the CPU over several CUDA devices: distance maps, complete Voronoi maps,
    /// components, statistics and contacts.  Other calls run on the first.  One that is listed twice has two slabs.
    pub fn on_devices(devices: &[i32]) -> Result<Context, Error> {
        if devices.is_empty() {
            return Err(Error::new(Status::Argument, "devices is empty, but must have the number of a CUDA device"));
        }
        Context::created(|raw| unsafe {
            sys::apsis_create_devices(sys::APSIS_VERSION, devices.as_ptr(), devices.len() as c_int, raw)
        })
    }

    fn created(create: impl FnOnce(&mut *mut sys::apsis_context) -> sys::apsis_status) -> Result<Context, Error> {
        let mut raw = ptr::null_mut();
        match create(&mut raw) {
            sys::APSIS_OK => Ok(Context { raw, callbacks: Rc::default(), calling: Cell::new(false) }),
            status => Err(unsafe { Error::of(status, ptr::null()) }),
        }
    }

    /// Uses at most this many threads on the CPU; 0, the default, is one per core.
    pub fn with_threads(self, threads: i32) -> Result<Context, Error> {
        self.call(|raw| unsafe { sys::apsis_set_threads(raw, threads) })?;
        Ok(self)
    }

    /// `progress` is told how much is done, from 0 to 1, and returns whether to go on.
    pub fn with_progress(mut self, progress: impl Fn(f64) -> bool + Send + 'static) -> Result<Context, Error> {
        self.own_callbacks().progress = Some(Box::new(progress));
        let user = Rc::as_ptr(&self.callbacks) as *mut c_void;
        self.call(|raw| unsafe { sys::apsis_set_progress(raw, Some(tell_progress), user) })?;
        Ok(self)
    }

    /// `log` is told what happens, line by line.
    pub fn with_log(mut self, log: impl Fn(&str) + Send + 'static) -> Result<Context, Error> {
        self.own_callbacks().log = Some(Box::new(log));
        let user = Rc::as_ptr(&self.callbacks) as *mut c_void;
        self.call(|raw| unsafe { sys::apsis_set_log(raw, Some(tell_log), user) })?;
        Ok(self)
    }

    fn own_callbacks(&mut self) -> &mut Callbacks {
        Rc::get_mut(&mut self.callbacks).expect("no one else has them")
    }

    /// Queues later work on this stream of the context's device.
    ///
    /// # Safety
    /// `stream` is null or a `cudaStream_t` of the context's device, and lives until it is replaced or the context is gone.
    pub unsafe fn set_stream(&self, stream: *mut c_void) -> Result<(), Error> {
        self.call(|raw| unsafe { sys::apsis_set_stream(raw, stream.cast()) })
    }

    /// The number of its CUDA device, the first of several, or none for the CPU.
    pub fn device(&self) -> Option<i32> {
        let number = unsafe { sys::apsis_device(self.raw) };
        (number >= 0).then_some(number)
    }

    /// What it runs on, in words.
    pub fn name(&self) -> String {
        unsafe { CStr::from_ptr(sys::apsis_device_name(self.raw)) }.to_string_lossy().into_owned()
    }

    /// Waits for what has been queued on a GPU, and reports an error in it.
    pub fn sync(&self) -> Result<(), Error> {
        self.call(|raw| unsafe { sys::apsis_sync(raw) })
    }

    // ---- Transforms ----
    //
    // All images of a call have the same size.  With images on the device alone a call may return before the work is done;
    // what comes after it waits for that work.

    /// The distance from every pixel to the nearest pixel of the set, and the index of that pixel.
    pub fn distance(
        &self,
        set: &dyn Source,
        distance: Option<&mut dyn Target>,
        nearest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, distance, nearest) = (self.source(set)?, self.target(distance)?, self.target(nearest)?);
        self.call(|raw| unsafe { sys::apsis_distance(raw, &set, or_null(&distance), or_null(&nearest), options.raw()) })
    }

    /// For every pixel the index of the site, a pixel of the set, of the cell that it is in.
    pub fn voronoi(&self, set: &dyn Source, cells: &mut dyn Target, options: &Options) -> Result<(), Error> {
        let (set, cells) = (self.source(set)?, self.target(Some(cells))?);
        self.call(|raw| unsafe { sys::apsis_voronoi(raw, &set, or_null(&cells), options.raw()) })
    }

    /// Numbers the connected components of the set 1, 2, 3, ... by their lowest index, and returns how many there are.
    pub fn components(&self, set: &dyn Source, labels: Option<&mut dyn Target>, options: &Options) -> Result<i64, Error> {
        let (set, labels) = (self.source(set)?, self.target(labels)?);
        let mut count = 0;
        self.call(|raw| unsafe {
            sys::apsis_components(raw, &set, or_null(&labels), ptr::null_mut(), 0, &mut count, options.raw())
        })?;
        Ok(count)
    }

    /// What is known of each component, besides.
    pub fn component_statistics(
        &self,
        set: &dyn Source,
        labels: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<Vec<Component>, Error> {
        let (set, labels) = (self.source(set)?, self.target(labels)?);
        let mut labels = or_null(&labels);
        read_all(|known, capacity, count| {
            let status =
                self.call(|raw| unsafe { sys::apsis_components(raw, &set, labels, known, capacity, count, options.raw()) });
            labels = ptr::null(); // written the first time
            status
        })
    }

    /// What is known of each value of a label image, wherever its pixels are, in ascending order; of 0, the background, too.
    pub fn statistics(&self, labels: &dyn Source) -> Result<Vec<Component>, Error> {
        let labels = self.source(labels)?;
        read_all(|known, capacity, count| {
            let options = Options::new();
            self.call(|raw| unsafe { sys::apsis_statistics(raw, &labels, known, capacity, count, options.raw()) })
        })
    }

    /// What is known of the values 0, 1, ..., below `capacity`, by value: of one that does not occur, the area is 0.
    pub fn statistics_by_value(&self, labels: &dyn Source, capacity: usize) -> Result<Vec<Component>, Error> {
        let labels = self.source(labels)?;
        let none = |value| Component { first: -1, area: 0, lower: [-1; 3], upper: [-1; 3], centroid: [0.0; 3], value };
        let mut known: Vec<_> = (0..capacity as i64).map(none).collect();
        let (options, room) = (Options::new().dense(), known.len() as i64);
        self.call(|raw| unsafe {
            sys::apsis_statistics(raw, &labels, known.as_mut_ptr(), room, ptr::null_mut(), options.raw())
        })?;
        Ok(known)
    }

    /// Which values of a label image touch, and how much, in ascending order; 0, the background, touches nothing.
    pub fn contacts(&self, labels: &dyn Source, options: &Options) -> Result<Vec<Contact>, Error> {
        let labels = self.source(labels)?;
        read_all(|known, capacity, count| {
            self.call(|raw| unsafe { sys::apsis_contacts(raw, &labels, known, capacity, count, options.raw()) })
        })
    }

    /// The length of the shortest path inside the set from every pixel of it to the nearest seed, and the index of that seed.
    pub fn geodesic(
        &self,
        set: &dyn Source,
        seeds: &dyn Source,
        distance: Option<&mut dyn Target>,
        nearest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, seeds) = (self.source(set)?, self.source(seeds)?);
        let (distance, nearest) = (self.target(distance)?, self.target(nearest)?);
        self.call(|raw| unsafe { sys::apsis_geodesic(raw, &set, &seeds, or_null(&distance), or_null(&nearest), options.raw()) })
    }

    /// The length of the shortest path from every pixel of the set to the farthest one of its component, and the index of
    /// that.  Where [`Options::budget`] runs out the outputs are bounds, and the error is [`Status::Budget`].
    pub fn eccentricity(
        &self,
        set: &dyn Source,
        eccentricity: Option<&mut dyn Target>,
        farthest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<(), Error> {
        let (set, eccentricity, farthest) = (self.source(set)?, self.target(eccentricity)?, self.target(farthest)?);
        self.call(|raw| unsafe {
            let (eccentricity, farthest) = (or_null(&eccentricity), or_null(&farthest));
            sys::apsis_eccentricity(raw, &set, eccentricity, farthest, ptr::null_mut(), 0, ptr::null_mut(), options.raw())
        })
    }

    /// How far each component reaches, besides.  Where the budget runs out that is no error here: [`Extent::gap`] tells.
    pub fn extents(
        &self,
        set: &dyn Source,
        eccentricity: Option<&mut dyn Target>,
        farthest: Option<&mut dyn Target>,
        options: &Options,
    ) -> Result<Vec<Extent>, Error> {
        let (set, eccentricity, farthest) = (self.source(set)?, self.target(eccentricity)?, self.target(farthest)?);
        let (mut eccentricity, mut farthest) = (or_null(&eccentricity), or_null(&farthest));
        read_all(|known, capacity, count| {
            let status = self.call(|raw| unsafe {
                sys::apsis_eccentricity(raw, &set, eccentricity, farthest, known, capacity, count, options.raw())
            });
            eccentricity = ptr::null(); // written the first time
            farthest = ptr::null();
            match status {
                Err(error) if error.status() == Status::Budget => Ok(()),
                other => other,
            }
        })
    }

    // ---- Memory ----

    /// Pixels on the context's GPU, of `size` x, y or x, y, z, not initialised.
    pub fn device_image<T: Writable>(&self, size: &[usize]) -> Result<DeviceImage<'_, T>, Error> {
        DeviceImage::new(self, size)
    }

    /// Copies pixels between two images of one size and type.
    pub fn copy(&self, from: &dyn Source, to: &mut dyn Target) -> Result<(), Error> {
        let (from, to) = (self.source(from)?, self.target(Some(to))?);
        self.call(|raw| unsafe { sys::apsis_copy(raw, &from, or_null(&to)) })
    }

    // ---- Calls ----

    pub(crate) fn raw(&self) -> *mut sys::apsis_context {
        self.raw
    }

    /// Calls the library once; a callback that it calls meanwhile cannot.
    pub(crate) fn call(&self, function: impl FnOnce(*mut sys::apsis_context) -> sys::apsis_status) -> Result<(), Error> {
        if self.calling.replace(true) {
            return Err(Error::new(Status::Argument, "the context is in a call, and a callback must not use it"));
        }
        let status = function(self.raw);
        self.calling.set(false);
        if let Some(panic) = self.callbacks.panic.take() {
            resume_unwind(panic);
        }
        match status {
            sys::APSIS_OK => Ok(()),
            status => Err(unsafe { Error::of(status, self.raw) }),
        }
    }

    pub(crate) fn source(&self, source: &dyn Source) -> Result<sys::apsis_image, Error> {
        let view = source.view();
        if !view.home.is_null() && view.home != self.raw {
            return Err(Error::new(Status::Argument, "an image is in the memory of another context"));
        }
        Ok(view.image)
    }

    pub(crate) fn optional(&self, source: Option<&dyn Source>) -> Result<Option<sys::apsis_image>, Error> {
        source.map(|source| self.source(source)).transpose()
    }

    pub(crate) fn target(&self, target: Option<&mut dyn Target>) -> Result<Option<sys::apsis_image>, Error> {
        target.map(|target| self.source(&AsSource(target))).transpose()
    }
}

/// A target, which can be read too.
struct AsSource<'a>(&'a dyn Target);

impl crate::image::Sealed for AsSource<'_> {}
impl Source for AsSource<'_> {
    fn view(&self) -> crate::image::View {
        self.0.view()
    }
}

pub(crate) fn or_null(image: &Option<sys::apsis_image>) -> *const sys::apsis_image {
    image.as_ref().map_or(ptr::null(), |image| image)
}

/// What a call tells of all components; it is made again if there are more than was expected.
pub(crate) fn read_all<T>(mut call: impl FnMut(*mut T, i64, &mut i64) -> Result<(), Error>) -> Result<Vec<T>, Error> {
    let mut known = Vec::with_capacity(ROOM);
    let mut count = 0;
    call(known.as_mut_ptr(), known.capacity() as i64, &mut count)?;
    if count as usize > known.capacity() {
        known.reserve_exact(count as usize);
        call(known.as_mut_ptr(), known.capacity() as i64, &mut count)?;
    }
    // The library has written as many as it has counted and had room for.
    unsafe { known.set_len((count as usize).min(known.capacity())) };
    Ok(known)
}

// ---- Callbacks ----

impl Callbacks {
    /// Runs what may panic, and keeps the panic.
    fn keep_panic<R>(&self, tell: impl FnOnce() -> R) -> Option<R> {
        catch_unwind(AssertUnwindSafe(tell)).map_err(|panic| self.panic.set(Some(panic))).ok()
    }
}

unsafe extern "C" fn tell_progress(user: *mut c_void, done: f64) -> c_int {
    let callbacks = unsafe { &*(user as *const Callbacks) };
    let goes_on = callbacks.progress.as_ref().map_or(Some(true), |progress| callbacks.keep_panic(|| progress(done)));
    c_int::from(goes_on != Some(true))
}

unsafe extern "C" fn tell_log(user: *mut c_void, line: *const c_char) {
    let (callbacks, line) = unsafe { (&*(user as *const Callbacks), CStr::from_ptr(line)) };
    if let Some(log) = &callbacks.log {
        callbacks.keep_panic(|| log(&line.to_string_lossy()));
    }
}
