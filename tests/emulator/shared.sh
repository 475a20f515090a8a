#!/bin/sh
# shared.sh LIBRARY: no kernel has more shared memory than its assembler allows, which is asked only where there is a GPU.
# A kernel's shared variables are those of a function of apsis-emulated.
set -eu
limit=49152 # bytes a block, of what is not asked for at a launch
nm -C -S -t d "$1" | awk -v limit=$limit '
    $3 ~ /^[bBdDuV]$/ && /\(.*::[a-z_]+$/ {
        bytes = $2
        sub(/^[0-9]+ [0-9]+ . /, "")
        sub(/::[a-z_]+$/, "")
        sum[$0] += bytes
    }
    END {
        for (kernel in sum) {
            ++kernels
            if (sum[kernel] > limit) { print kernel " has " sum[kernel] " bytes of shared memory"; bad = 1 }
        }
        print kernels + 0 " kernels with shared memory"
        exit bad || !kernels
    }'
