#include "kernels/cpu/worker_pool.h"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

namespace gridfold::kernels {

WorkerPool::WorkerPool(int threads)
    : thread_count_(threads > 0 ? threads : tbb::info::default_concurrency()),
      arena_(thread_count_) {
  if (thread_count_ > tbb::info::default_concurrency()) {
    more_threads_.emplace(tbb::global_control::max_allowed_parallelism, thread_count_);
  }
}

absl::Status WorkerPool::ForEach(uint64_t count, std::stop_token stop,
                                 const std::function<void(uint64_t)>& work) {
  const auto run = [&](const tbb::blocked_range<uint64_t>& range) {
    for (uint64_t i = range.begin(); i != range.end() && !stop.stop_requested(); ++i) work(i);
  };
  // Even a single call runs inside the arena, which holds all callers together to its threads.
  arena_.execute([&] {
    if (count == 1) return run({0, 1});
    tbb::parallel_for(tbb::blocked_range<uint64_t>(0, count), run);
  });
  return stop.stop_requested() ? absl::CancelledError("the job was cancelled") : absl::OkStatus();
}

}  // namespace gridfold::kernels
