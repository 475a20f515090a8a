/*
 * A small problem for each transform, whose answers can be compared byte by byte, for tests that let something fail.
 */
#ifndef CALLS_H
#define CALLS_H

#include "apsis_test.h"

enum { CALL_WIDTH = 61, CALL_HEIGHT = 47, CALL_DEPTH = 3, CALL_PIXELS = CALL_WIDTH * CALL_HEIGHT * CALL_DEPTH, CANARY = 64 };

/** What a call writes, each array between bytes that it must leave alone. */
typedef struct call_outputs {
    uint8_t before_real[CANARY];
    float real[CALL_PIXELS];
    uint8_t before_index[CANARY];
    int32_t index[CALL_PIXELS];
    uint8_t before_parts[CANARY];
    apsis_component parts[CALL_PIXELS / 2];
    uint8_t after_parts[CANARY];
    int64_t count;
} call_outputs;

typedef struct named_call {
    const char *name;
    apsis_status (*run)(apsis_context *ctx, call_outputs *out);
} named_call;

extern const named_call calls[];
extern const int call_count;

/** Poisons the outputs. */
void prepare_outputs(call_outputs *out);

/** Whether nothing beside the arrays has changed. */
bool canaries_live(const call_outputs *out);

#endif
