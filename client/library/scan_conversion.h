// Scans to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_SCAN_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_SCAN_CONVERSION_H_

#include "absl/status/statusor.h"
#include "client/library/operation_call.h"
#include "client/library/wire_message.h"
#include "gridfold/array_input.h"
#include "gridfold/scan.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

// All but the arrays.
v1::ScanArrayRequest ToProto(const ScanOptions& options);

// Whether the answer brings the results.
bool IsInline(const ScanOptions& options);

WireMessage ToWire(const ArrayInput& array, const ScanOptions& options);

// Takes the data out of `response`. INTERNAL where it is no array of one of the element types.
absl::StatusOr<ScanResult> FromProto(v1::ScanArrayResponse&& response);

// The call that asks a server.
OperationCall<v1::ScanArrayResponse, ScanResult> CallOf(const ArrayInput& array,
                                                        const ScanOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_SCAN_CONVERSION_H_
