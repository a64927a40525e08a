// Merges and subtractions of accumulators to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_MERGE_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_MERGE_CONVERSION_H_

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "client/library/wire_message.h"
#include "gridfold/accumulator.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

WireMessage ToWire(std::span<const std::string> accumulators, const MergeOptions& options);
WireMessage ToWire(const std::string& minuend, std::span<const std::string> subtrahends,
                   const SubtractOptions& options);

// INTERNAL where there is no answer, or one that does not fit its own description.
absl::StatusOr<MergeResult> FromProto(v1::MergeAccumulatorsResponse&& response);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_MERGE_CONVERSION_H_
