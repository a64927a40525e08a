// Between the messages of gridfold.v1 and the types of the kernels, both ways. The only place that
// knows the enumerations of both. Pure functions; thread-safe.
//
// `field` is the path of the value in the request, for the error: INVALID_ARGUMENT that names it,
// for a number that the enumeration does not have or, where there is no default, for none given.
#ifndef GRIDFOLD_SERVER_WIRE_PROTO_CONVERSION_H_
#define GRIDFOLD_SERVER_WIRE_PROTO_CONVERSION_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/compute_service.pb.h"
#include "gridfold/v1/histogram_rule.pb.h"
#include "gridfold/v1/order_statistics.pb.h"
#include "gridfold/v1/paired_statistics.pb.h"
#include "gridfold/v1/selection.pb.h"
#include "kernels/contract/bin_rule.h"
#include "kernels/contract/engine.h"
#include "kernels/contract/scalar.h"
#include "kernels/contract/tolerant_reduction.h"

namespace gridfold::server {

absl::StatusOr<kernels::ElementType> FromWire(v1::ElementType type, absl::string_view field);
absl::StatusOr<kernels::Statistic> FromWire(v1::Statistic statistic, absl::string_view field);
absl::StatusOr<kernels::NanPolicy> FromWire(v1::NanPolicy policy, absl::string_view field);
absl::StatusOr<kernels::OverflowPolicy> FromWire(v1::OverflowPolicy policy,
                                                 absl::string_view field);
absl::StatusOr<kernels::OutOfRangePolicy> FromWire(v1::OutOfRangePolicy policy,
                                                   absl::string_view field);
absl::StatusOr<kernels::ScanOperation> FromWire(v1::ScanOperation operation,
                                                absl::string_view field);
absl::StatusOr<kernels::ScanMode> FromWire(v1::ScanMode mode, absl::string_view field);
absl::StatusOr<kernels::ScanDirection> FromWire(v1::ScanDirection direction,
                                                absl::string_view field);
// Of elements of type bool: they are uint8 elsewhere.
constexpr bool IsBool(v1::ElementType type) { return type == v1::ELEMENT_TYPE_BOOL; }
absl::StatusOr<kernels::Scalar> FromWire(const v1::Scalar& scalar, absl::string_view field);
absl::StatusOr<kernels::QuantileMethod> FromWire(v1::QuantileMethod method,
                                                 absl::string_view field);
absl::StatusOr<kernels::PairedStatistic> FromWire(v1::PairedStatistic statistic,
                                                  absl::string_view field);
absl::StatusOr<kernels::WeightKind> FromWire(v1::WeightKind kind, absl::string_view field);
absl::StatusOr<kernels::BinRule> FromWire(v1::HistogramBinRule rule, absl::string_view field);
// The default where there is none.
absl::StatusOr<kernels::EmptyGroupRule> FromWire(const v1::EmptyGroup& rule,
                                                 absl::string_view field);
// Whether the format is the sparse one.
absl::StatusOr<bool> IsSparse(v1::HistogramFormat format, absl::string_view field);

// Nothing for a kind that is not set.
std::optional<kernels::BinSpec> FromWire(const v1::BinSpecification& bins);

v1::ElementType ToWire(kernels::ElementType type);
inline v1::ElementType ToWire(kernels::ElementType type, bool is_bool) {
  return is_bool ? v1::ELEMENT_TYPE_BOOL : ToWire(type);
}
v1::Statistic ToWire(kernels::Statistic statistic);
v1::PairedStatistic ToWire(kernels::PairedStatistic statistic);
v1::HistogramFormat FormatToWire(bool is_sparse);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_PROTO_CONVERSION_H_
