// Deletes expired arrays that nobody asks for, in a thread of its own, as long as it lives.
#ifndef GRIDFOLD_SERVER_ARRAY_SWEEPER_H_
#define GRIDFOLD_SERVER_ARRAY_SWEEPER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "server/array_store.h"

namespace gridfold::server {

class ArraySweeper {
 public:
  // Looks at `store`, which outlives it, once in an `interval`.
  ArraySweeper(ArrayStore& store, std::chrono::milliseconds interval);

 private:
  void Run(const std::stop_token& stop, std::chrono::milliseconds interval);

  ArrayStore& store_;
  std::mutex mutex_;
  std::condition_variable_any wakes_;
  std::jthread thread_;  // Last: it ends before what it uses.
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ARRAY_SWEEPER_H_
