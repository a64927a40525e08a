// Steps of which the validation of a request is made. Used by request_validation.cc and
// *_validation.cc beside it only.
#ifndef GRIDFOLD_SERVER_PLANNING_VALIDATION_STEPS_H_
#define GRIDFOLD_SERVER_PLANNING_VALIDATION_STEPS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/repeated_field.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/contract/strategy_error.h"
#include "kernels/types/statistic.h"
#include "server/base/limits.h"
#include "server/planning/answer_size.h"
#include "server/planning/array_validation.h"
#include "server/wire/proto_conversion.h"

namespace gridfold::server {

// Stores the value of `source` in `target`, or returns its error.
template <class Source, class Target>
absl::Status Assign(absl::StatusOr<Source> source, Target& target) {
  if (!source.ok()) return source.status();
  target = *std::move(source);
  return absl::OkStatus();
}

// Takes an array into a plan, which keeps it alive.
template <class Planned>
void Hold(const InputArray& array, kernels::InputSpan& place, Planned& planned) {
  place = array.data;
  if (array.resident) planned.leases.push_back(array.resident->lease);
  if (array.region != nullptr) planned.regions.push_back(array.region);
}

// Appends a request's `statistics`.
absl::Status ConvertStatistics(const google::protobuf::RepeatedField<int>& from,
                               std::vector<kernels::Statistic>& statistics);

// The first error of several independent checks.
template <class... Statuses>
absl::Status FirstError(Statuses... statuses) {
  for (const absl::Status& status : {statuses...}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Copies the strategy that a request names. A name that is longer than any is not looked up.
template <class Request>
absl::Status ConvertStrategy(const Request& request, std::string& strategy) {
  constexpr size_t kNameBytesMax = 64;
  strategy = request.execution_options().strategy();
  if (strategy.size() <= kNameBytesMax) return absl::OkStatus();
  return kernels::InvalidField(kernels::kStrategyField, "is the name of no strategy");
}

// Copies the output type that a request names, if it names one.
template <class Request>
absl::Status ConvertOutputType(const Request& request,
                               std::optional<kernels::ElementType>& output_type) {
  if (request.output_type() == v1::ElementType{}) return absl::OkStatus();
  return Assign(FromWire(request.output_type(), "output_type"), output_type);
}

// Refuses a strategy where an array is computed in parts, as streams and sharded arrays are: parts
// have strategies of their own.
template <class Request>
absl::Status RefuseStrategy(const Request& request, const char* array) {
  if (request.execution_options().strategy().empty()) return absl::OkStatus();
  return kernels::InvalidField(
      kernels::kStrategyField,
      absl::StrCat(array, " is computed in parts, which have strategies of their own"));
}

// The error of planning, or that of an answer that would be too large.
template <class Plan>
absl::Status CheckPlan(const absl::StatusOr<Plan>& plan, const Limits& limits) {
  return plan.ok() ? CheckAnswerSize(*plan, limits) : plan.status();
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_PLANNING_VALIDATION_STEPS_H_
