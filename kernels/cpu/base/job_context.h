// What an operation of the CPU engine runs with.
#ifndef GRIDFOLD_KERNELS_CPU_BASE_JOB_CONTEXT_H_
#define GRIDFOLD_KERNELS_CPU_BASE_JOB_CONTEXT_H_

#include <stop_token>

#include "kernels/contract/engine.h"
#include "kernels/cpu/base/worker_pool.h"

namespace gridfold::kernels::cpu {

struct JobContext {
  WorkerPool& workers;
  std::stop_token stop;
  RunStatistics& statistics;  // The operation sets `strategy` and `bytes_read`.
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_BASE_JOB_CONTEXT_H_
