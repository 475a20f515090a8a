// Package apsis computes exact maps of binary images, on the CPU or on an NVIDIA GPU: the distance to the nearest pixel of a
// set and which pixel that is, Voronoi cells, connected components, the length of paths inside a set, and how far each of its
// pixels is from the farthest.  It is the C library libapsis; apsis.h says all that there is to know of each map.
//
//	context, err := apsis.New(apsis.Best)
//	if err != nil { ... }
//	defer context.Close()
//	distance := make([]float32, width*height)
//	err = context.Distance(apsis.Of(mask, width, height), apsis.Of(distance, width, height), apsis.None, nil)
//
// Slices are taken where they lie: nothing is copied, and nothing is kept after a call.
package apsis

// #cgo pkg-config: apsis
// #include "bridge.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// Devices, beside the numbers of CUDA devices.
const (
	CPU  = C.APSIS_CPU  // all cores of this machine
	Best = C.APSIS_BEST // the first usable CUDA device, otherwise the CPU
)

// HeaderVersion is that of the header that this package was compiled with: 10000 major + 100 minor + patch.
const HeaderVersion = C.APSIS_VERSION

// LibraryVersion is that of the library itself.
func LibraryVersion() int { return int(C.apsis_version()) }

// DeviceCount is one more than the highest number of a usable CUDA device; 0 if there is none.
func DeviceCount() int { return int(C.apsis_device_count()) }

// Context says where work runs.  Use one from one goroutine at a time; different ones are independent.
type Context struct {
	handle *C.apsis_context
	told   *callbacks
	user   cgo.Handle // of told; it must not keep the context itself alive
}

// New makes a context on a CUDA device, on the CPU, or on the Best of them.
func New(device int) (*Context, error) {
	return created(func(handle **C.apsis_context, message *C.char, room C.size_t) C.apsis_status {
		return C.bridge_create(C.int(device), handle, message, room)
	})
}

// NewDevices makes a context that spreads images in memory of the host over several CUDA devices: distance maps, complete
// Voronoi maps, components, statistics and contacts.  Other calls run on the first.  One that is listed twice has two slabs.
func NewDevices(devices ...int) (*Context, error) {
	if len(devices) == 0 {
		return nil, &Error{ErrorArgument, "NewDevices: devices is empty, but must have the number of a CUDA device"}
	}
	numbers := make([]C.int, len(devices))
	for i, device := range devices {
		numbers[i] = C.int(device)
	}
	return created(func(handle **C.apsis_context, message *C.char, room C.size_t) C.apsis_status {
		return C.bridge_create_devices(&numbers[0], C.int(len(numbers)), handle, message, room)
	})
}

func created(create func(handle **C.apsis_context, message *C.char, room C.size_t) C.apsis_status) (*Context, error) {
	c := &Context{told: &callbacks{}}
	var handle *C.apsis_context
	var message [256]C.char
	status := create(&handle, &message[0], C.size_t(len(message)))
	c.handle = handle
	if status != C.APSIS_OK {
		return nil, &Error{Status(status), inGo(C.GoString(&message[0]))}
	}
	c.user = cgo.NewHandle(c.told)
	runtime.SetFinalizer(c, (*Context).Close)
	return c, nil
}

// Close waits for the context's work, and frees it.  Later calls, of Close too, return ErrorClosed.
func (c *Context) Close() error {
	if c.handle == nil {
		return ErrorClosed
	}
	C.apsis_destroy(c.handle)
	c.user.Delete()
	c.handle = nil
	runtime.SetFinalizer(c, nil)
	return nil
}

// Device is the number of the context's CUDA device, the first of several, or CPU; of a closed context, CPU.
func (c *Context) Device() int {
	defer runtime.KeepAlive(c)
	return int(C.apsis_device(c.handle))
}

// Name says what the context runs on, in words; of a closed context, "".
func (c *Context) Name() string {
	defer runtime.KeepAlive(c)
	return C.GoString(C.apsis_device_name(c.handle))
}

// SetThreads limits the threads on the CPU; 0 is one a core.
func (c *Context) SetThreads(threads int) error {
	return c.check(C.apsis_set_threads(c.handle, C.int(threads)))
}

// SetStream queues later work on a CUstream or cudaStream_t of the context's device; nil is CUDA's default stream.
func (c *Context) SetStream(stream unsafe.Pointer) error {
	return c.check(C.apsis_set_stream(c.handle, (*C.struct_CUstream_st)(stream)))
}

// Sync waits for what has been queued on a GPU, and reports an error in it.
func (c *Context) Sync() error { return c.check(C.apsis_sync(c.handle)) }

// check makes an error of a status; and goes on with a panic of a callback, which must not pass through C.  A closed context
// has no handle, and without one every function of the library does nothing.
func (c *Context) check(status C.apsis_status) error {
	defer runtime.KeepAlive(c)
	if c.handle == nil {
		return ErrorClosed
	}
	if panicked := c.told.panicked; panicked != nil {
		c.told.panicked = nil
		panic(panicked)
	}
	if status == C.APSIS_OK {
		return nil
	}
	return &Error{Status(status), inGo(C.GoString(C.apsis_message(c.handle)))}
}
