// How large an answer will be, known from the plan, so that one that would not fit in a message is
// refused before any work is done. Upper bounds, exact to a few KiB except for accumulators, whose
// size depends on the elements. An answer has the values of a reduction in its output type, while
// lanes and folds hold the float64 ones: these are bounded too, by what a lane has room for.
// Errors: INVALID_ARGUMENT that names the part of the request to make smaller. Pure functions;
// thread-safe.
#ifndef GRIDFOLD_SERVER_PLANNING_ANSWER_SIZE_H_
#define GRIDFOLD_SERVER_PLANNING_ANSWER_SIZE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/histogram.h"
#include "kernels/contract/keyed_reduction.h"
#include "kernels/contract/paired.h"
#include "kernels/contract/quantiles.h"
#include "kernels/contract/reduction.h"
#include "kernels/contract/scan.h"
#include "kernels/contract/top.h"
#include "server/base/limits.h"

namespace gridfold::server {

// The most groups of this kind that the limits allow and whose values, as they are held before they
// are rounded to the output type, take no more than an answer may.
uint64_t AnsweredGroupsMax(const kernels::ReductionPlan& plan, const Limits& limits);

// Bounds the groups of keys that are found by the room that an answer has, and a lane for their
// values.
void BoundFoundKeys(const Limits& limits, kernels::KeyedReductionPlan& plan);

// What an accumulator of a request may hold.
kernels::AccumulatorLimits AccumulatorLimitsOf(const Limits& limits);

// Of the values, as they are sent, and the accumulator; saturates at 2^64 - 1.
uint64_t AnswerBytes(const kernels::ReductionPlan& plan);
uint64_t AnswerBytes(const kernels::ScanPlan& plan);
uint64_t AnswerBytes(const kernels::HistogramPlan& plan);
uint64_t AnswerBytes(const kernels::KeyedReductionPlan& plan);
uint64_t AnswerBytes(const kernels::QuantilePlan& plan);
uint64_t AnswerBytes(const kernels::TopPlan& plan);
uint64_t AnswerBytes(const kernels::PairedPlan& plan);

// As AnswerBytes, with the values as they are held, which take no less.
uint64_t HeldAnswerBytes(const kernels::ReductionPlan& plan);

absl::Status CheckAnswerSize(const kernels::ReductionPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::ScanPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::HistogramPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::KeyedReductionPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::QuantilePlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::TopPlan& plan, const Limits& limits);
absl::Status CheckAnswerSize(const kernels::PairedPlan& plan, const Limits& limits);

// The least that a streamed scan works on at a time: bytes of its input or of its results,
// whichever are more.
uint64_t ScanBatchBytesMin(const kernels::ScanPlan& plan);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_ANSWER_SIZE_H_
