// Statistics of two columns, to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_PAIRED_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_PAIRED_CONVERSION_H_

#include "absl/status/statusor.h"
#include "client/library/operation_call.h"
#include "client/library/wire_message.h"
#include "gridfold/array_input.h"
#include "gridfold/paired.h"
#include "gridfold/v1/paired_statistics.pb.h"

namespace gridfold::client {

WireMessage ToWire(const ArrayInput& x, const RelateOptions& options);

// INTERNAL where there are not as many values as were asked for.
absl::StatusOr<RelateResult> FromProto(const v1::RelateArraysResponse& response,
                                       const RelateOptions& options);

// The call that asks a server.
OperationCall<v1::RelateArraysResponse, RelateResult> CallOf(const ArrayInput& x,
                                                             const RelateOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_PAIRED_CONVERSION_H_
