// The version of the program. Thread-safe.
#ifndef GRIDFOLD_SERVER_BASE_VERSION_H_
#define GRIDFOLD_SERVER_BASE_VERSION_H_

namespace gridfold::server {

// MAJOR.MINOR.PATCH of the program, as the build file states it.
const char* Version();

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_VERSION_H_
