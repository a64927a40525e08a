// Reductions to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_REDUCTION_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_REDUCTION_CONVERSION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "client/library/operation_call.h"
#include "client/library/wire_message.h"
#include "google/protobuf/repeated_field.h"
#include "gridfold/array_input.h"
#include "gridfold/reduction.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

// All but the arrays.
v1::ReduceArrayRequest ToProto(const ReductionOptions& options);

// Whether degrees of freedom are a number that the wire has a whole number for.
bool HasWholeDegreesOfFreedom(double ddof);

// Whether an option is one that a server takes of a whole array only: neither of parts nor in a
// stream.
bool NeedsWholeArray(const ReductionOptions& options);

WireMessage ToWire(const ArrayInput& array, const ReductionOptions& options);

// INTERNAL where the list has no kind; the second also where there are not `count` values.
absl::StatusOr<StatisticValues> ToValues(const v1::ValueList& list);
absl::StatusOr<StatisticValues> ToValues(const v1::ValueList& list, uint64_t count);

// The statistics of so many groups; of a part, without those that have no values. INTERNAL where a
// statistic does not have one value for each group.
absl::StatusOr<std::vector<ReductionResult::Entry>> ToEntries(
    const google::protobuf::RepeatedPtrField<v1::StatisticValues>& results, uint64_t group_count,
    bool is_part);

// INTERNAL where a statistic does not have one value for each group.
absl::StatusOr<ReductionResult> FromProto(const v1::ReduceArrayResponse& response);

// The call that asks a server.
OperationCall<v1::ReduceArrayResponse, ReductionResult> CallOf(const ArrayInput& array,
                                                               const ReductionOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_REDUCTION_CONVERSION_H_
