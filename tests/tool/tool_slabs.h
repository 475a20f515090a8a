/* Images that the apsis command computes slab by slab, compared with what it writes when it computes them at once. */
#ifndef TOOL_SLABS_H
#define TOOL_SLABS_H

#include "tool_tiff.h"

/** A number that the command has said, behind these words. */
long long number_after(const char *text, const char *words);

/** The least memory with which the command cuts the image of a line. */
long long least_memory(const char *words);

/** Whether a process takes long to start, as with a sanitizer: then an image is cut in the lowest slabs, and no other way. */
bool starts_slowly(void);

/**
 * Runs a line in the lowest slabs, in some more, and at once; the outputs are out.tif and, if there is an option for it,
 * another file.  Each must be the same in all of these, byte for byte, and the image must be cut; `spills`: and its set be kept
 * in a file.
 */
void compare_cuts(const char *words, const char *option, const char *other, bool spills);

/**
 * Nothing is left of a line, which makes out.tif and another file in slabs of in.tif, in strips of Deflate: when the disk is
 * full after so many bytes, of which the first are too few for the set, when the file changes, and when its strip 30 ends too
 * early.
 */
void check_failures(const char *line, const char *other, const size_t disks[3]);

#endif
