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
        let name = unsafe { CStr::from_ptr(sys::apsis_status_name(status)) };
        let message = if said.to_bytes().is_empty() { name } else { said };
        Error::new(status.into(), message.to_string_lossy())
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
