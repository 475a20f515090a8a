//! What a failed call gives: its status, and the library's message.

use std::ffi::CStr;
use std::fmt;

use apsis_sys as sys;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// An argument breaks its documented rule.
    Argument,
    /// Valid, but not in this version or build.
    Unsupported,
    /// No such device, or no driver for it.
    NoDevice,
    /// Host or device memory ran out.
    Memory,
    /// A result might not fit the type of the output.
    Range,
    /// The progress callback asked to stop.
    Cancelled,
    /// The device failed; the context is of no more use.
    Device,
    /// A bug in apsis; please report it.
    Internal,
    /// The budget of an eccentricity has run out; the outputs are bounds.
    Budget,
    /// What a later version of the library has added.
    Other(i32),
}

impl From<sys::apsis_status> for Status {
    fn from(status: sys::apsis_status) -> Status {
        match status {
            sys::APSIS_ERROR_ARGUMENT => Status::Argument,
            sys::APSIS_ERROR_UNSUPPORTED => Status::Unsupported,
            sys::APSIS_ERROR_NO_DEVICE => Status::NoDevice,
            sys::APSIS_ERROR_MEMORY => Status::Memory,
            sys::APSIS_ERROR_RANGE => Status::Range,
            sys::APSIS_ERROR_CANCELLED => Status::Cancelled,
            sys::APSIS_ERROR_DEVICE => Status::Device,
            sys::APSIS_ERROR_INTERNAL => Status::Internal,
            sys::APSIS_ERROR_BUDGET => Status::Budget,
            other => Status::Other(other),
        }
    }
}

/// A call has failed, and the message says why: it names the argument and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
}

impl Error {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Error {
        Error { status, message: message.into() }
    }

    /// What the library says of the last call on `context`, or with null of this thread's last `apsis_create`.
    ///
    /// # Safety
    /// `context` is null, or one that lives.
    pub(crate) unsafe fn of(status: sys::apsis_status, context: *const sys::apsis_context) -> Error {
        let said = unsafe { CStr::from_ptr(sys::apsis_message(context)) };
        Error::new(status.into(), in_rust(&said.to_string_lossy()))
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A message of the library with this crate's names for the things of C.
fn in_rust(message: &str) -> String {
    let mut message = message.replace("stream is not NULL", "stream is not null");
    for (function, method) in [
        ("create: ", "new: "),
        ("create_devices: ", "on_devices: "),
        ("alloc: ", "device_image: "),
        ("set_threads: ", "with_threads: "),
    ] {
        if let Some(said) = message.strip_prefix(function) {
            message = method.to_string() + said;
        }
    }
    let mut words = String::new();
    let ends_word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    for piece in message.split_inclusive(ends_word) {
        let word = piece.trim_end_matches(ends_word);
        words += &name_in_rust(word);
        words += &piece[word.len()..];
    }
    words
}

/// `APSIS_CITY_BLOCK` is a variant `CityBlock`, `APSIS_F32` the type `f32`, `APSIS_SIGNED` what the options' method is called.
fn name_in_rust(word: &str) -> String {
    let name = match (word.strip_prefix("APSIS_"), word.strip_prefix("apsis_")) {
        (Some(constant), _) => constant,
        (_, Some(function)) => return function.into(),
        _ if word == "NULL" => return "None".into(),
        _ => return word.into(),
    };
    match name {
        "BIT" => "bool".into(),
        "U8" | "U16" | "I32" | "I64" | "F32" | "F64" | "HOST" | "DEVICE" => name.to_lowercase(),
        "COMPLEMENT" | "SIGNED" | "CONNECTED" | "SLICES" | "NO_BORDER" | "NO_INNER" | "MIXED" => name.to_lowercase(),
        "LABELS" | "BORDER" | "DENSE" => name.to_lowercase(),
        _ => name.split('_').map(capitalised).collect(),
    }
}

fn capitalised(word: &str) -> String {
    let (first, others) = word.split_at(word.len().min(1));
    first.to_uppercase() + &others.to_lowercase()
}
