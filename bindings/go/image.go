package apsis

// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Type is the type of a pixel.
type Type int32

const (
	Bit Type = C.APSIS_BIT // one bit a pixel, lowest bit first; a row starts on a byte; sets only
	U8  Type = C.APSIS_U8  // sets and label images only
	U16 Type = C.APSIS_U16 // likewise
	I32 Type = C.APSIS_I32
	I64 Type = C.APSIS_I64
	F32 Type = C.APSIS_F32
	F64 Type = C.APSIS_F64
)

// Memory is where pixels are.
type Memory int32

const (
	Host   Memory = C.APSIS_HOST   // memory that the CPU can read and write
	Device Memory = C.APSIS_DEVICE // memory of the context's CUDA device
)

// Pixel is what a slice of pixels may hold.
type Pixel interface {
	bool | uint8 | uint16 | int32 | int64 | float32 | float64
}

// Image is a view of pixels in 2-D or 3-D.  Make one of a slice with Of, or in memory of the library with Context.Alloc.
type Image struct {
	data  unsafe.Pointer
	is    C.apsis_image // without its data, which is Go's
	wrong string        // what is wrong with it; the call that is given it says so
}

// None is an output that is left out.
var None Image

// Of is a slice as an image of this size: width, height and, in 3-D, depth.  Pixel (x, y, z) is pixels[x+width*(y+height*z)].
func Of[T Pixel](pixels []T, size ...int) Image {
	stride := make([]int, len(size))
	step := 1
	for axis, n := range size {
		stride[axis] = step
		step *= n
	}
	return View(pixels, 0, size, stride)
}

// View is a part of a slice as an image: pixel (x, y, z) is pixels[offset+x*stride[0]+y*stride[1]+z*stride[2]].  Strides
// count pixels, and may be negative.
func View[T Pixel](pixels []T, offset int, size, stride []int) Image {
	var pixel T
	image := empty(typeOf(pixel), Host, size)
	if image.wrong == "" && len(stride) != len(size) {
		image.wrong = fmt.Sprintf("has %d strides for %d extents", len(stride), len(size))
	}
	if image.wrong != "" || image.pixels() == 0 {
		return image
	}
	first, last := offset, offset
	for axis, n := range size {
		if reach := (n - 1) * stride[axis]; reach < 0 {
			first += reach
		} else {
			last += reach
		}
		if n > 1 && stride[axis] == 0 {
			image.wrong = fmt.Sprintf("has stride 0 along an axis of %d pixels", n)
			return image
		}
		image.is.stride[axis] = C.int64_t(stride[axis] * int(unsafe.Sizeof(pixel)))
	}
	if first < 0 || last >= len(pixels) {
		image.wrong = fmt.Sprintf("has pixels %d to %d, of a slice of %d", first, last, len(pixels))
		return image
	}
	image.data = unsafe.Pointer(&pixels[offset])
	return image
}

// Bits is a set of one bit a pixel, lowest bit first, whose rows start on bytes.
func Bits(bytes []byte, size ...int) Image {
	image := empty(Bit, Host, size)
	if image.wrong != "" || image.pixels() == 0 {
		return image
	}
	need := (int64(image.is.size[0]) + 7) / 8
	for axis := 1; axis < len(size); axis++ {
		need *= int64(image.is.size[axis])
	}
	if int64(len(bytes)) < need {
		image.wrong = fmt.Sprintf("needs %d bytes, and the slice has %d", need, len(bytes))
		return image
	}
	image.data = unsafe.Pointer(&bytes[0])
	return image
}

// At is an image of packed pixels that lie elsewhere: on a GPU, or in memory that is not Go's.
func At(data unsafe.Pointer, kind Type, memory Memory, size ...int) Image {
	image := empty(kind, memory, size)
	image.data = data
	return image
}

// Alloc makes an image in memory of the library, packed and not initialised: of the context's CUDA device, or of the host,
// page-locked if the context is a CUDA one.  Give it to Free before the context is closed.
func (c *Context) Alloc(kind Type, memory Memory, size ...int) (Image, error) {
	image := empty(kind, memory, size)
	if image.wrong != "" {
		return None, argumentError("image", image)
	}
	allocated := image.is
	if err := c.check(C.apsis_alloc(c.handle, C.apsis_memory(memory), &allocated)); err != nil {
		return None, err
	}
	image.data, allocated.data = allocated.data, nil
	image.is = allocated
	return image, nil
}

// Free frees what Alloc made with this context, and makes it None.
func (c *Context) Free(image *Image) {
	defer runtime.KeepAlive(c)
	if image == nil || image.data == nil {
		return
	}
	allocated := image.is
	allocated.data = image.data // not Go's memory
	C.apsis_free(c.handle, &allocated)
	*image = None
}

// Copy copies pixels between two images of one size and type, wherever they are.
func (c *Context) Copy(from, to Image) error {
	if err := wrongOf("from", from, "to", to); err != nil {
		return err
	}
	return c.check(C.bridge_copy(c.handle, from.is, from.data, to.is, to.data))
}

func empty(kind Type, memory Memory, size []int) Image {
	var image Image
	image.is._type = C.apsis_type(kind)
	image.is.ndim = C.int32_t(len(size))
	image.is.memory = C.apsis_memory(memory)
	if len(size) != 2 && len(size) != 3 {
		image.wrong = fmt.Sprintf("has %d extents, but 2 or 3 are needed", len(size))
		return image
	}
	for axis, n := range size {
		if n < 0 {
			image.wrong = fmt.Sprintf("has an extent of %d", n)
		}
		image.is.size[axis] = C.int64_t(n)
	}
	return image
}

func (i Image) pixels() int64 {
	count := int64(1)
	for axis := 0; axis < int(i.is.ndim); axis++ {
		count *= int64(i.is.size[axis])
	}
	return count
}

func typeOf(pixel any) Type {
	switch pixel.(type) {
	case uint16:
		return U16
	case int32:
		return I32
	case int64:
		return I64
	case float32:
		return F32
	case float64:
		return F64
	}
	return U8
}

// wrongOf is the error of the first of some named images that is wrong.
func wrongOf(named ...any) error {
	for i := 0; i < len(named); i += 2 {
		if image := named[i+1].(Image); image.wrong != "" {
			return argumentError(named[i].(string), image)
		}
	}
	return nil
}

func argumentError(name string, image Image) error {
	return &Error{ErrorArgument, name + " " + image.wrong}
}
