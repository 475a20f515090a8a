// What a window of 2 x 2 pixels, in 3-D of 2 x 2 x 2, adds to the counts of a value that has some of them.
//
// There is a window around every corner of a pixel, also of those at the border of the image, beyond which there is no value.
// It has the pixel behind the corner along each axis, and the faces, edges, ... that begin there.  The pixels of the value are
// a cell complex: with connectivity 1 pixels are its vertices, pairs of neighbours edges, and so on; with the largest one
// pixels are the cells, with all of their faces, edges and corners.  The Euler number is the number of cells of even dimension
// less that of odd dimension.  A window that is full adds nothing.
#pragma once

#include "core/view.h"

namespace apsis {

struct Windows {
    struct Sums {
        int8_t faces[3], diagonals, euler;
    };

    /// Bit dx + 2 dy + 4 dz of a window stands for the pixel that is behind the corner along the axes whose d is 1.
    Windows(int axes, int connectivity) {
        const int pixels = 1 << axes, all = pixels - 1;
        for (int of = 0; of < 1 << pixels; ++of) {
            Sums &found = sums[of];
            found = {};
            for (int a = 0; a < axes; ++a) found.faces[a] = (of >> all & 1) != (of >> (all ^ 1 << a) & 1);
            if (axes == 2) found.diagonals = ((of & 1) != (of >> 3)) + ((of >> 1 & 1) != (of >> 2 & 1));
            // A cell that begins here lies along some axes.  It has the pixels behind the corner along these, and those on both
            // sides of it along others.
            for (int along = 0; along < pixels; ++along) {
                int cell = 0, dimension = 0;
                for (int k = 0; k < pixels; ++k)
                    if ((k & along) == along) cell |= 1 << k;
                for (int a = 0; a < axes; ++a) dimension += along >> a & 1;
                const bool is_there = connectivity == 1 ? (of & cell) == cell : (of & cell) != 0;
                if (connectivity == 1) dimension = axes - dimension;
                found.euler = static_cast<int8_t>(found.euler + (is_there ? dimension % 2 ? -1 : 1 : 0));
            }
        }
    }

    Sums sums[256];
};

}  // namespace apsis
