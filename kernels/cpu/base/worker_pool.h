// The threads of a CPU engine, shared by all its lanes.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_WORKER_POOL_H_
#define GRIDFOLD_KERNELS_CPU_BASE_WORKER_POOL_H_

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace gridfold::kernels::cpu {

// Processors that this process may use.
int ProcessorCount();

// Runs blocks of work on a fixed number of threads. Thread-safe: several callers share the threads.
//
// A process that `fork` has made of one whose pools had worked has none of these threads, and what
// they had locked stays locked: there a pool of any age works in the threads that call, alone.
class WorkerPool {
 public:
  // 0 threads: one for each processor.
  explicit WorkerPool(int threads);
  ~WorkerPool();

  int thread_count() const { return thread_count_; }

  // Calls work(i) for every i in [0, count), in any order, and returns when all calls have. They
  // are made from about `threads` threads, from one where that is 1, which wakes no other. Once
  // `stop` is requested the calls that have not begun are left out, and the result is CANCELLED.
  absl::Status ForEach(uint64_t count, int threads, std::stop_token stop,
                       const std::function<void(uint64_t)>& work);

 private:
  // Calls work(begin, end) for parts that make up [0, count), in any order and from about so many
  // threads.
  void Spread(uint64_t count, int threads,
              absl::FunctionRef<void(uint64_t begin, uint64_t end)> work);

  struct Threads {
    explicit Threads(int count);

    // oneTBB starts no more threads than there are processors unless it is told to.
    std::optional<tbb::global_control> more_than_processors;
    tbb::task_arena arena;
  };

  const int thread_count_;
  std::unique_ptr<Threads> threads_;  // None where this process cannot have them.
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_WORKER_POOL_H_
