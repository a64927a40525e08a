// Rules for the number of a histogram's bins: which requests may have one, and how many bins it may
// make. Errors: INVALID_ARGUMENT that names the field. Pure functions; thread-safe.
#ifndef GRIDFOLD_SERVER_PLANNING_BIN_RULE_VALIDATION_H_
#define GRIDFOLD_SERVER_PLANNING_BIN_RULE_VALIDATION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "gridfold/v1/compute_service.pb.h"
#include "kernels/contract/bin_rule.h"
#include "server/base/limits.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

// Where a request's only bins have their rule.
inline constexpr char kRuleField[] = "bins[0].even.rule";

// The request's rule, where it has one.
absl::Status ConvertRule(const v1::ComputeHistogramRequest& request,
                         std::optional<kernels::BinRule>& rule);

// An error where bins have a rule, which `what` cannot have. `field` is the path of the bins.
absl::Status RefuseRules(const google::protobuf::RepeatedPtrField<v1::BinSpecification>& bins,
                         absl::string_view field, absl::string_view what);

// The most bins that a rule may make of so many samples: the memory of an answer, which is set
// aside before the number is known, follows from the request's size.
uint64_t RuleBinsMax(uint64_t sample_count, const Limits& limits);

// Says where the rule, if there is one, has room, once all else is planned, and which engine the
// histogram needs by it, if it needs one.
void PlaceRule(PlannedHistogram& planned);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_BIN_RULE_VALIDATION_H_
