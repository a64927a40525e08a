// What an operation of the CPU engine runs with.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_JOB_CONTEXT_H_
#define GRIDFOLD_KERNELS_CPU_BASE_JOB_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <stop_token>

#include "absl/status/status.h"
#include "kernels/contract/engine.h"
#include "kernels/cpu/base/worker_pool.h"

namespace gridfold::kernels::cpu {

struct JobContext {
  WorkerPool& workers;
  int threads;  // As many of the workers as it is worth waking.
  std::stop_token stop;
  RunStatistics& statistics;  // The operation sets `strategy` and `bytes_read`.

  // WorkerPool::ForEach with these threads, until the job is stopped.
  absl::Status ForEach(uint64_t count, const std::function<void(uint64_t)>& work) {
    return workers.ForEach(count, threads, stop, work);
  }
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_JOB_CONTEXT_H_
