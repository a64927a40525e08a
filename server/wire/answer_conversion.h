// Results of the kernels as answers of gridfold.v1. Pure functions; thread-safe.
#ifndef GRIDFOLD_SERVER_WIRE_ANSWER_CONVERSION_H_
#define GRIDFOLD_SERVER_WIRE_ANSWER_CONVERSION_H_

#include "gridfold/v1/compute_service.pb.h"
#include "gridfold/v1/order_statistics.pb.h"
#include "gridfold/v1/paired_statistics.pb.h"
#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/engine.h"

namespace gridfold::server {

// Fill everything but `execution` and, of the first two, `accumulator`. A column without slots, of
// a part, has no values. Minima, maxima and the like of elements that are truth values are such.
void FillResponse(const kernels::ReductionPlan& plan, const kernels::ReductionResult& result,
                  v1::ReduceArrayResponse& response, bool is_bool = false);
// In compact form where `is_compact`, as ComputeHistogramRequest.compact_answer says.
void FillResponse(const kernels::HistogramResult& result, bool is_compact,
                  v1::ComputeHistogramResponse& response);
void FillResponse(const kernels::KeyedReductionPlan& plan, const kernels::KeyedAnswer& answer,
                  v1::ReduceByKeyResponse& response);
// The bins of a keyed reduction, and what is in none of them.
void FillOutcomes(const kernels::KeyedReductionResult& result, v1::ReduceByKeyResponse& response);
void FillResponse(const kernels::QuantilePlan& plan, const kernels::QuantileResult& result,
                  v1::ComputeQuantilesResponse& response);
void FillResponse(const kernels::TopPlan& plan, const kernels::TopResult& result,
                  v1::SelectTopResponse& response);
void FillResponse(const kernels::PairedPlan& plan, const kernels::PairedResult& result,
                  v1::RelateArraysResponse& response);
void FillResponse(const kernels::MergePlan& plan, kernels::MergedAnswer merged,
                  v1::MergeAccumulatorsResponse& response);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_ANSWER_CONVERSION_H_
