/* The command's reader of TIFF and PNG files, for tests that give it thousands of them: in this process, from C too. */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The name of a file in memory, which may be written and read again and again. */
const char *memory_file(void);

/** Makes these bytes its contents. */
void fill_memory_file(const uint8_t *bytes, size_t size);

/** What was read of a file: the pixels of the set, a byte each; or why it was refused. */
typedef struct ReadSet {
    int64_t width, height, pages, sites;
    int orientation;
    uint8_t *marks; /* to be freed; NULL if the file was refused */
    char refused[400];
} ReadSet;

/** Reads the samples that are not zero, or, with a threshold, those that are as large; of damaged files too, if they are
 *  tolerated. */
ReadSet read_file(const char *path, const int64_t *threshold, bool tolerate);

/** The number of samples that are not zero, as `apsis info` counts them; -1 if it refuses to. */
int64_t count_file(const char *path);

#ifdef __cplusplus
}
#endif

#endif
