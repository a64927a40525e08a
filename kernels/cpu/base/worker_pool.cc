#include "kernels/cpu/base/worker_pool.h"

#include <tbb/info.h>

namespace gridfold::kernels::cpu {

int ProcessorCount() { return tbb::info::default_concurrency(); }

WorkerPool::WorkerPool(int threads)
    : thread_count_(threads > 0 ? threads : ProcessorCount()), arena_(thread_count_) {
  if (thread_count_ > ProcessorCount()) {
    more_threads_.emplace(tbb::global_control::max_allowed_parallelism, thread_count_);
  }
}

absl::Status WorkerPool::ForEach(uint64_t count, int threads, std::stop_token stop,
                                 const std::function<void(uint64_t)>& work) {
  Spread(count, threads, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i != end && !stop.stop_requested(); ++i) work(i);
  });
  return stop.stop_requested() ? absl::CancelledError("the job was cancelled") : absl::OkStatus();
}

}  // namespace gridfold::kernels::cpu
