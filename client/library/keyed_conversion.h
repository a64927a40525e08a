// Reductions by key to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_KEYED_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_KEYED_CONVERSION_H_

#include "absl/status/statusor.h"
#include "client/library/operation_call.h"
#include "client/library/wire_message.h"
#include "gridfold/array_input.h"
#include "gridfold/keyed_reduction.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

WireMessage ToWire(const ArrayInput& keys, const ArrayInput& values,
                   const KeyedReductionOptions& options);

// Of a stream of keys and values of these types, with second coordinates where there are y_keys.
v1::ReduceByKeyRequest ToStreamedProto(ElementType key_type, ElementType value_type,
                                       const KeyedReductionOptions& options);

// INTERNAL where something does not have one entry for each group.
absl::StatusOr<KeyedReductionResult> FromProto(const v1::ReduceByKeyResponse& response);

// The call that asks a server.
OperationCall<v1::ReduceByKeyResponse, KeyedReductionResult> CallOf(
    const ArrayInput& keys, const ArrayInput& values, const KeyedReductionOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_KEYED_CONVERSION_H_
