package apsis

// #include "bridge.h"
import "C"

import "errors"

// ErrorClosed is what a call on a context that is closed returns.
var ErrorClosed = errors.New("apsis: the context is closed")

// Status says what became of a call.  It is an error itself, for errors.Is:
//
//	if errors.Is(err, apsis.ErrorRange) { ... }
type Status int

const (
	ErrorArgument    Status = C.APSIS_ERROR_ARGUMENT    // an argument breaks its documented rule
	ErrorUnsupported Status = C.APSIS_ERROR_UNSUPPORTED // valid, but not in this version or build
	ErrorNoDevice    Status = C.APSIS_ERROR_NO_DEVICE   // no such device, or no driver for it
	ErrorMemory      Status = C.APSIS_ERROR_MEMORY      // host or device memory ran out
	ErrorWorkspace   Status = C.APSIS_ERROR_WORKSPACE   // the workspace is too small
	ErrorRange       Status = C.APSIS_ERROR_RANGE       // a result might not fit the output type
	ErrorCancelled   Status = C.APSIS_ERROR_CANCELLED   // the progress function asked to stop
	ErrorDevice      Status = C.APSIS_ERROR_DEVICE      // the device failed; close the context
	ErrorInternal    Status = C.APSIS_ERROR_INTERNAL    // a bug in apsis
	ErrorBudget      Status = C.APSIS_ERROR_BUDGET      // Options.Budget has run out; the outputs are bounds
)

// Error is the name of the status, such as "ErrorRange".
func (s Status) Error() string { return inGo(C.GoString(C.apsis_status_name(C.apsis_status(s)))) }

// Error is why a call failed.
type Error struct {
	Status  Status
	Message string // which argument, its value, and what was expected
}

func (e *Error) Error() string { return "apsis: " + e.Message }
func (e *Error) Unwrap() error { return e.Status }
