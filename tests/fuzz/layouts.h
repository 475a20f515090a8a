/* Valid TIFF files in every layout that the command reads, made with libtiff from samples that are known. */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include "tool_tiff.h"

/** How many there are: codecs with the sizes of samples that they take, and each of these in every arrangement. */
int layouts(void);
enum { ARRANGEMENTS = 2 * 2 * 2 * 2 * 2 * 5 };

/** Layout n, from 0; false if this libtiff has not its codec. */
bool layout_at(int n, Layout *l);

/** Sparse `samples` of all values that so many bits have, the largest and those of one high bit alone among them. */
void make_all_samples(int bits, uint32_t seed);

/** In words. */
const char *layout_name(const Layout *l);

/** Seeds for fuzzing: files of at most 1 KB, one for each codec and size of samples, and some that are odd. */
int seeds(void);
enum { MOST_SEED = 1024 };
/** Writes seed n to a file; its size, or 0 if this libtiff has not its codec. */
size_t write_seed(int n, const char *path);

#endif
