// Histograms to and from the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_HISTOGRAM_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_HISTOGRAM_CONVERSION_H_

#include "absl/status/statusor.h"
#include "client/library/operation_call.h"
#include "client/library/wire_message.h"
#include "gridfold/array_input.h"
#include "gridfold/histogram.h"
#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

v1::BinSpecification ToProto(const BinSpecification& bins);

// All but the arrays.
v1::ComputeHistogramRequest ToProto(const HistogramOptions& options);

WireMessage ToWire(const ArrayInput& array, const HistogramOptions& options);

// INTERNAL where counts, bins, edges or quantiles are not as many as they must be for `options`.
absl::StatusOr<HistogramResult> FromProto(const v1::ComputeHistogramResponse& response,
                                          const HistogramOptions& options);

// The call that asks a server.
OperationCall<v1::ComputeHistogramResponse, HistogramResult> CallOf(
    const ArrayInput& array, const HistogramOptions& options);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_HISTOGRAM_CONVERSION_H_
