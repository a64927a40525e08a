// How long gRPC itself runs in a program.
#ifndef GRIDFOLD_CLIENT_LIBRARY_GRPC_LIFETIME_H_
#define GRIDFOLD_CLIENT_LIBRARY_GRPC_LIFETIME_H_

namespace gridfold::client {

// Keeps gRPC running until the process ends, from the first call on.
//
// Without it gRPC stops when its last channel is gone, and whoever destroys that channel waits for
// gRPC's threads. One of them may be watching a socket that took no more bytes at some time, for up
// to ten seconds and for nothing: gRPC wakes it only by events of that socket. The end of the
// process asks no thread, and threads of an idle gRPC only sleep.
//
// Thread-safe.
void KeepGrpcRunning();

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_GRPC_LIFETIME_H_
