#include "server/array_sweeper.h"

namespace gridfold::server {

ArraySweeper::ArraySweeper(ArrayStore& store, std::chrono::milliseconds interval)
    : store_(store),
      thread_([this, interval](const std::stop_token& stop) { Run(stop, interval); }) {}

void ArraySweeper::Run(const std::stop_token& stop, std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wakes_.wait_for(lock, stop, interval, [] { return false; });
    store_.RemoveExpired();
  }
}

}  // namespace gridfold::server
