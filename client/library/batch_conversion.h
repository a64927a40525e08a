// Batches to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_BATCH_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_BATCH_CONVERSION_H_

#include "absl/status/statusor.h"
#include "client/library/wire_message.h"
#include "gridfold/batch.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

WireMessage ToWire(const Batch& batch);

// The request of one operation, as a call of its own would send it.
WireMessage ToWire(const Batch::Operation& operation);

// Whether the server may carry out the batch twice.
bool IsRepeatable(const Batch& batch);

// INTERNAL where there is not one result for each operation; an entry is INTERNAL where its result
// is not what the operation asked for.
absl::StatusOr<BatchResult> FromProto(v1::BatchComputeResponse& response, const Batch& batch);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_BATCH_CONVERSION_H_
