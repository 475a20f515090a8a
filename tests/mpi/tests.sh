# The tests of MPI, which ./run reads: with Debian's Open MPI, by CTest, the library that is built for it; with its MPICH what
# users do, who compile the source that is installed.
test_mpi() {
    deps libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran python3-mpi4py python3-numpy
    echo "== mpi"
    if ! configure_and_build test -DAPSIS_WERROR=ON -DAPSIS_HOSTS= -DCMAKE_CUDA_ARCHITECTURES="$(tested_gpu)" -DAPSIS_MPI=ON \
        -DMPI_C_COMPILER=mpicc.openmpi -DMPIEXEC_EXECUTABLE="$(command -v mpirun.openmpi)"; then
        fail "libapsis_mpi does not build"
        return
    fi
    rm -f build/test/mpi.xml
    ctest --test-dir build/test -j "$(nproc)" -R '^mpi\.' --no-tests=error --output-on-failure --output-junit mpi.xml || true
    count_results build/test/mpi.xml
    local user
    for user in source library cmake fortran python interface; do count tests/mpi/users.sh "$user" build/test; done
}
