! Every rank has two rows of an image 5 wide; the last pixel of the last rank is in the set.  Rank 0 prints the farthest
! distance.
program main
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none
    interface
        integer(c_int) function far_from(comm, mask, map, width, rows) bind(c)
            import
            integer(c_int), value :: comm
            integer(c_int8_t), intent(in) :: mask(*)
            real(c_float), intent(out) :: map(*)
            integer(c_int64_t), value :: width, rows
        end function
    end interface
    integer(c_int8_t) :: mask(5, 2) = 0
    real(c_float) :: map(5, 2)
    integer :: code, rank, ranks
    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    if (rank == ranks - 1) mask(5, 2) = 1
    if (far_from(MPI_COMM_WORLD, mask, map, 5_c_int64_t, 2_c_int64_t) /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, code)
    if (rank == 0) print '(f0.3)', map(1, 1)
    call MPI_Finalize(code)
end program
