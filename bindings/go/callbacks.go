package apsis

// #include "bridge.h"
import "C"

import "runtime/cgo"

// callbacks are what a context tells; C knows them by a handle.
type callbacks struct {
	progress func(done float64) bool
	log      func(line string)
	panicked any // what a callback panicked with: the call stops, and goes on with it on the Go side
}

// SetProgress sets a function that is told now and then how much is done, from 0 to 1, and stops the call, which then fails
// with ErrorCancelled, by returning true.  It is called on the goroutine of the call.  nil is none.
func (c *Context) SetProgress(progress func(done float64) bool) error {
	c.told.progress = progress
	return c.check(C.bridge_set_progress(c.handle, toInt(progress != nil), C.uintptr_t(c.user)))
}

// SetLog sets a function that is told what happens, a line at a time.  nil is none.
func (c *Context) SetLog(log func(line string)) error {
	c.told.log = log
	return c.check(C.bridge_set_log(c.handle, toInt(log != nil), C.uintptr_t(c.user)))
}

//export goProgress
func goProgress(user C.uintptr_t, done C.double) (stop C.int) {
	told := cgo.Handle(user).Value().(*callbacks)
	defer func() {
		if panicked := recover(); panicked != nil {
			told.panicked, stop = panicked, 1
		}
	}()
	return toInt(told.progress(float64(done)))
}

//export goLog
func goLog(user C.uintptr_t, line *C.char) {
	told := cgo.Handle(user).Value().(*callbacks)
	defer func() {
		if panicked := recover(); panicked != nil {
			told.panicked = panicked
		}
	}()
	told.log(C.GoString(line))
}

func toInt(yes bool) C.int {
	if yes {
		return 1
	}
	return 0
}
