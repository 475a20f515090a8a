// Steps that all ranks do together: what fails on one, fails on all.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <new>

#include "apsis.h"
#include "tool/failure.h"

namespace tool {

struct Ranks {
    int rank = 0, count = 1;
    int local = 0, local_count = 1;  // of those on the same machine
};

/// Asks MPI.
inline Ranks ask_ranks() {
    Ranks ranks;
    MPI_Comm machine;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &ranks.local);
    MPI_Comm_size(machine, &ranks.local_count);
    MPI_Comm_free(&machine);
    return ranks;
}

/// Runs a step, and throws on every rank what the lowest rank has thrown that has.
template <class Step>
void together(const Ranks &ranks, Step step) {
    struct {
        int code = kSuccess;
        char sentence[1020] = "";
    } failure;
    const auto take = [&failure](int code, const char *sentence) {
        failure.code = code;
        std::snprintf(failure.sentence, sizeof failure.sentence, "%s", sentence);
    };
    try {
        step();
    } catch (const Failure &thrown) {
        take(thrown.code, thrown.sentence.c_str());
    } catch (const std::bad_alloc &) {
        take(kStatus + APSIS_ERROR_MEMORY, "memory ran out");
    } catch (const std::exception &error) {
        take(kFailed, error.what());
    }
    const int mine = failure.code == kSuccess ? ranks.count : ranks.rank;
    int first = 0;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks.count) return;
    MPI_Bcast(&failure, sizeof failure, MPI_BYTE, first, MPI_COMM_WORLD);
    throw Failure{failure.code, failure.sentence};
}

}  // namespace tool
