// Quantiles, and the largest or smallest elements, to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_ORDER_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_ORDER_CONVERSION_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/library/operation_call.h"
#include "client/library/wire_message.h"
#include "gridfold/array_input.h"
#include "gridfold/quantiles.h"
#include "gridfold/top.h"
#include "gridfold/v1/order_statistics.pb.h"

namespace gridfold::client {

WireMessage ToWire(const ArrayInput& array, const QuantileOptions& options);
WireMessage ToWire(const ArrayInput& array, const TopOptions& options);

// INVALID_ARGUMENT where no element is asked for.
absl::Status Check(const TopOptions& options);

// INTERNAL where there are not as many values as were asked for.
absl::StatusOr<QuantileResult> FromProto(const v1::ComputeQuantilesResponse& response,
                                         const QuantileOptions& options);
absl::StatusOr<TopResult> FromProto(const v1::SelectTopResponse& response,
                                    const TopOptions& options);

// The call that asks a server.
OperationCall<v1::ComputeQuantilesResponse, QuantileResult> CallOf(const ArrayInput& array,
                                                                   const QuantileOptions& options);
// The options must be such as Check finds in order.
OperationCall<v1::SelectTopResponse, TopResult> CallOf(const ArrayInput& array,
                                                       const TopOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_ORDER_CONVERSION_H_
