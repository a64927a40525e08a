// The threads of gRPC at the end of the program.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_KEPT_THREADS_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_KEPT_THREADS_H_

namespace gridfold::client {

// Keeps the threads that run gRPC's callbacks until the process ends, from the first call on.
//
// Without it whoever destroys the last channel waits until these threads have ended, 4 ms, of which
// a program that then ends has nothing. Not for libraries: a process may fork while it has no
// client, and must have no such threads then.
//
// Thread-safe.
void KeepCallbackThreads();

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_KEPT_THREADS_H_
