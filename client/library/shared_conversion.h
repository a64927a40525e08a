// Parts of messages that several operations share, from and to the wire.
#ifndef GRIDFOLD_CLIENT_LIBRARY_SHARED_CONVERSION_H_
#define GRIDFOLD_CLIENT_LIBRARY_SHARED_CONVERSION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_field.h"
#include "gridfold/element_type.h"
#include "gridfold/execution_statistics.h"
#include "gridfold/grouping.h"
#include "gridfold/resident_array.h"
#include "gridfold/stream.h"
#include "gridfold/v1/array.pb.h"
#include "gridfold/v1/execution.pb.h"

namespace gridfold::client {

ExecutionStatistics FromProto(const v1::ExecutionStatistics& execution);

// A Grouping with no kind set stands for the whole array, just as none does.
v1::Grouping ToProto(const Grouping& grouping);

v1::ResidentArray ToProto(const ResidentArray& array);

// Names the strategy in a request, if there is a name.
template <typename Request>
void SetStrategy(const std::string& strategy, Request& request) {
  if (!strategy.empty()) request.mutable_execution_options()->set_strategy(strategy);
}

// Names the output type in a request, if there is one.
template <typename Request>
void SetOutputType(const std::optional<ElementType>& output_type, Request& request) {
  if (output_type) request.set_output_type(static_cast<v1::ElementType>(*output_type));
}

v1::ArraySource ToProto(const StreamedArray& array);

// INTERNAL where the type is none of the element types.
absl::StatusOr<ArrayDescription> FromProto(const v1::ArrayDescription& description);

template <typename To, typename From>
std::vector<To> ToVector(const google::protobuf::RepeatedField<From>& values) {
  return std::vector<To>(values.begin(), values.end());
}

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_SHARED_CONVERSION_H_
