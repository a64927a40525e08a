// How many threads a job is worth: waking one takes as long as a small job.
#ifndef GRIDFOLD_KERNELS_CPU_LANE_WORK_COST_H_
#define GRIDFOLD_KERNELS_CPU_LANE_WORK_COST_H_

#include <cstdint>

#include "kernels/contract/histogram.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/contract/paired.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/rearrangement.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/scan.h"
#include "kernels/contract/selection.h"
#include "kernels/contract/top.h"

namespace gridfold::kernels::cpu {

// How long one thread takes for it, within a factor of two or so: an estimate from the plan alone.
uint64_t WorkNanoseconds(const ReductionPlan& plan);
uint64_t WorkNanoseconds(const ScanPlan& plan);
uint64_t WorkNanoseconds(const HistogramPlan& plan);
uint64_t WorkNanoseconds(const KeyedReductionPlan& plan);
uint64_t WorkNanoseconds(const QuantilePlan& plan);
uint64_t WorkNanoseconds(const TopPlan& plan);
uint64_t WorkNanoseconds(const PairedPlan& plan);
uint64_t WorkNanoseconds(const Rearrangement& order);
uint64_t WorkNanoseconds(const SelectionPlan& plan);

// Of `threads`, as many as work of this length should be shared by; at least 1.
int ThreadsWorthWaking(uint64_t work_nanoseconds, int threads);

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_LANE_WORK_COST_H_
