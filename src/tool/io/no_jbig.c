/* In place of the part of a static libtiff that calls libjbig.  That is under the GPL, and a wheel under the Apache License
 * must not have it inside.  A scheme that sets up nothing is one that libtiff can neither read nor write, and says so. */
#include <tiffio.h>

int TIFFInitJBIG(TIFF *tiff, int scheme);

int TIFFInitJBIG(TIFF *tiff, int scheme) {
    (void)tiff;
    (void)scheme;
    return 1;
}
