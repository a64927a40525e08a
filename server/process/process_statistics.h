// What the operating system knows of this process. Linux only. Thread-safe.
#ifndef GRIDFOLD_SERVER_PROCESS_PROCESS_STATISTICS_H_
#define GRIDFOLD_SERVER_PROCESS_PROCESS_STATISTICS_H_

#include <cstdint>

namespace gridfold::server {

// Memory of the process that is in RAM now; 0 where the system does not tell.
uint64_t ProcessResidentBytes();

// What of that is no file's and no shared memory's.
uint64_t ProcessPrivateBytes();

// When the process started, in seconds since 1970, to a hundredth; 0 where the system does not
// tell.
double ProcessStartTimeSeconds();

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PROCESS_PROCESS_STATISTICS_H_
