// How the pool's threads get their parts of the work. Apart from the rest of the pool, since
// ThreadSanitizer does not see how oneTBB hands a part from thread to thread: with it, what stands
// here is compiled without its checks, and says itself what comes before what.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "kernels/cpu/base/worker_pool.h"

#ifdef GRIDFOLD_SHOW_HAND_OVER
#include <sanitizer/tsan_interface.h>
#endif

namespace gridfold::kernels::cpu {

namespace {

// What was done before Give is done for whoever calls Take.
class HandOver {
 public:
#ifdef GRIDFOLD_SHOW_HAND_OVER
  void Give() { __tsan_release(this); }
  void Take() { __tsan_acquire(this); }
#else
  void Give() {}
  void Take() {}
#endif
};

}  // namespace

void WorkerPool::Spread(uint64_t count, int threads,
                        absl::FunctionRef<void(uint64_t, uint64_t)> work) {
  // Two, or one part would seem to come before another that only began later.
  HandOver to_threads;
  HandOver from_threads;
  const auto run = [&](const tbb::blocked_range<uint64_t>& range) {
    to_threads.Take();
    work(range.begin(), range.end());
    from_threads.Give();
  };
  to_threads.Give();
  // Even a single call runs inside the arena, which holds all callers together to its threads.
  threads_->arena.execute([&] {
    if (count <= 1 || threads <= 1) return run({0, count});
    // Some parts for each thread, so that none waits long for the last.
    constexpr uint64_t kPartsPerThread = 8;
    const uint64_t part_length = std::max<uint64_t>(count / (kPartsPerThread * threads), 1);
    tbb::parallel_for(tbb::blocked_range<uint64_t>(0, count, part_length), run);
  });
  from_threads.Take();
}

}  // namespace gridfold::kernels::cpu
