// How large an answer will be, known from the plan, so that one which would not fit in a message is
// refused before any work is done. Upper bounds, exact to a few KiB but for accumulators, whose
// size depends on the elements. Errors: INVALID_ARGUMENT that names the part of the request to make
// smaller. Pure functions; thread-safe.
#ifndef GRIDFOLD_SERVER_ANSWER_SIZE_H_
#define GRIDFOLD_SERVER_ANSWER_SIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/histogram.h"
#include "kernels/reduction.h"
#include "kernels/scan.h"
#include "server/limits.h"

namespace gridfold::server {

// Groups of this kind that an answer has room for, as far as the limits allow them.
uint64_t AnsweredGroupsMax(const kernels::ReductionPlan& plan, const Limits& limits);

// Of the values and the accumulator. The end of 64 bits stands for more than that.
uint64_t AnswerBytes(const kernels::ReductionPlan& plan);
uint64_t AnswerBytes(const kernels::ScanPlan& plan);
uint64_t AnswerBytes(const kernels::HistogramPlan& plan);

absl::Status CheckAnswerSize(const kernels::ReductionPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::ScanPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::HistogramPlan& plan, const Limits& limits);

// What a streamed scan works on at once, at the least: bytes of its input or of its results,
// whichever are more.
uint64_t ScanBatchBytesMin(const kernels::ScanPlan& plan);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_ANSWER_SIZE_H_
