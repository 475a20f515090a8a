#!/bin/sh
# ranks.sh MPIRUN RANKS PROGRAM ...: runs it on so many ranks, also as root, and where there are fewer cores.
set -eu
mpirun=$1 ranks=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # MPICH asks for neither
export OMPI_MCA_odls_base_sigkill_timeout=0                       # when one rank fails, mpirun ends the others at once
oversubscribe=''
if "$mpirun" --version | grep -qE 'Open MPI|OpenRTE'; then oversubscribe=--oversubscribe; fi
exec "$mpirun" $oversubscribe -n "$ranks" "$@"
