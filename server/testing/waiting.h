// Waiting for what other threads are about to make true.
#ifndef GRIDFOLD_SERVER_TESTING_WAITING_H_
#define GRIDFOLD_SERVER_TESTING_WAITING_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "server/testing/test_server.h"

namespace gridfold::server {

template <class Condition>
void WaitFor(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Until what other threads count stands still, and has come to `least`.
inline void WaitUntilStill(const std::atomic<uint64_t>& counter, uint64_t least) {
  uint64_t last = 0;
  WaitFor([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const uint64_t before = std::exchange(last, counter.load());
    return before == last && last >= least;
  });
}

// Until the server, whose lanes are all at work, refuses calls because it drains: with what.
inline grpc::Status WaitUntilDraining(TestServer& server) {
  grpc::Status status;
  WaitFor([&] {
    grpc::ClientContext context;
    // A call that comes before the drain waits for a lane, but not for long.
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    v1::ReduceArrayResponse unused;
    status = server.compute().ReduceArray(&context, SmallReduction(), &unused);
    return status.error_code() == grpc::StatusCode::UNAVAILABLE;
  });
  return status;
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_WAITING_H_
