"""Every rank has two rows of an image 5 wide; the last pixel of the last rank is in the set.  Rank 0 prints the farthest
distance: mpirun -n 3 python3 distance_by_ranks.py.  mpi4py must be of the MPI that libapsis_mpi was built for."""
import ctypes

import numpy as np
from mpi4py import MPI

apsis, apsis_mpi = ctypes.CDLL("libapsis.so.0"), ctypes.CDLL("libapsis_mpi.so.0")
apsis_mpi.apsis_mpi_message.restype = ctypes.c_char_p
U8, F32, CPU = 2, 5, -1


class Image(ctypes.Structure):
    """apsis_image, of a C-contiguous array."""
    _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int), ("ndim", ctypes.c_int32), ("size", ctypes.c_int64 * 3),
                ("stride", ctypes.c_int64 * 3), ("memory", ctypes.c_int), ("reserved", ctypes.c_int32)]

    def __init__(self, array, kind):
        super().__init__(array.ctypes.data, kind, array.ndim, tuple(reversed(array.shape)))


def communicator(comm):
    """What C calls MPI_Comm: a number in some libraries, a pointer in others."""
    kind = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
    return kind.from_address(MPI._addressof(comm))


world, context = MPI.COMM_WORLD, ctypes.c_void_p()
mask, far = np.zeros((2, 5), np.uint8), np.empty((2, 5), np.float32)
mask[-1, -1] = world.rank == world.size - 1
apsis.apsis_create(apsis.apsis_version(), CPU, ctypes.byref(context))
set_of, map_of = ctypes.byref(Image(mask, U8)), ctypes.byref(Image(far, F32))
if apsis_mpi.apsis_mpi_distance(context, communicator(world), set_of, map_of, None, None):
    raise RuntimeError(apsis_mpi.apsis_mpi_message().decode())
apsis.apsis_destroy(context)
if world.rank == 0:
    print(f"{far[0, 0]:.3f}")
