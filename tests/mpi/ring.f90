! A ring of processes: each sends to the next, by a request and without, and all add up.
program ring
  use mpi
  implicit none
  integer :: error, rank, ranks, next, before, requests(2), statuses(MPI_STATUS_SIZE, 2), step
  double precision :: sent(1000), received(1000), total
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  sent = rank
  do step = 1, 4
    call mpi_irecv(received, 1000, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, requests(1), error)
    call mpi_isend(sent, 1000, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, requests(2), error)
    call mpi_waitall(2, requests, statuses, error)
    call mpi_sendrecv(sent, 10, MPI_INTEGER, next, 8, received, 10, MPI_INTEGER, before, 8, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE, error)
    total = rank
    call mpi_allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  call mpi_bcast(sent, 1000, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print *, 'total', int(total), int(sent(1))
  call mpi_finalize(error)
end program
