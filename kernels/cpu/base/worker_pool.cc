#include "kernels/cpu/base/worker_pool.h"

#include <pthread.h>
#include <tbb/info.h>

#include <atomic>

namespace gridfold::kernels::cpu {

namespace {

// Whether oneTBB has worked in this process, or in one that it was forked from.
std::atomic<bool> has_worked = false;
std::atomic<bool> is_forked_from_work = false;

void WatchForks() {
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { is_forked_from_work.store(has_worked.load()); });
}

}  // namespace

int ProcessorCount() { return tbb::info::default_concurrency(); }

WorkerPool::Threads::Threads(int count) : arena(count) {
  if (count <= ProcessorCount()) return;
  more_than_processors.emplace(tbb::global_control::max_allowed_parallelism, count);
}

WorkerPool::WorkerPool(int threads) : thread_count_(threads > 0 ? threads : ProcessorCount()) {
  WatchForks();
  if (!is_forked_from_work) threads_ = std::make_unique<Threads>(thread_count_);
}

WorkerPool::~WorkerPool() {
  if (is_forked_from_work) static_cast<void>(threads_.release());
}

absl::Status WorkerPool::ForEach(uint64_t count, int threads, std::stop_token stop,
                                 const std::function<void(uint64_t)>& work) {
  const auto work_on = [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i != end && !stop.stop_requested(); ++i) work(i);
  };
  if (is_forked_from_work.load(std::memory_order_relaxed)) {
    work_on(0, count);
  } else {
    if (!has_worked.load(std::memory_order_relaxed)) has_worked.store(true);
    Spread(count, threads, work_on);
  }
  return stop.stop_requested() ? absl::CancelledError("the job was cancelled") : absl::OkStatus();
}

}  // namespace gridfold::kernels::cpu
