// Requests in Protobuf's text format, the plans that are made of them, and the fields that bad ones
// are told about. For tests.
#ifndef GRIDFOLD_SERVER_TESTING_PLANNED_REQUESTS_H_
#define GRIDFOLD_SERVER_TESTING_PLANNED_REQUESTS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/text_format.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/memory/host_resident_pool.h"
#include "server/arrays/array_store.h"
#include "server/base/limits.h"
#include "server/planning/planning_context.h"
#include "server/planning/request_validation.h"

namespace gridfold::server {

template <class Request>
Request Parse(const std::string& text) {
  Request request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  return request;
}

// Six int16 elements; and the same as a matrix.
inline constexpr char kSix[] =
    "inline_array { element_type: ELEMENT_TYPE_INT16 data: \"\\001\\000\\002\\000\\003\\000"
    "\\004\\000\\005\\000\\006\\000\" }";
inline constexpr char kMatrix[] =
    "inline_array { element_type: ELEMENT_TYPE_INT16 shape: [2, 3] data: \"abcdefghijkl\" }";
inline constexpr char kFloats[] =
    "inline_array { element_type: ELEMENT_TYPE_FLOAT32 data: \"abcdefgh\" }";

inline std::string Array(const char* array) { return std::string("array { ") + array + " } "; }

// Plans a request of a tenant who has no arrays.
template <class Request>
auto Plan(const Request& request, const Limits& limits) {
  static auto* const kNoArrays = new ArrayStore(kernels::CreateHostResidentPool(0), Limits{});
  return PlanRequest(request, PlanningContext{limits, TenantArrays(*kNoArrays, "")});
}

struct BadRequest {
  std::string text;
  std::string field;
};

template <class Request>
void ExpectFields(const std::vector<BadRequest>& cases, const Limits& limits = {}) {
  for (const auto& [text, field] : cases) {
    SCOPED_TRACE(text);
    const Request request = Parse<Request>(text);
    const auto planned = Plan(request, limits);
    ASSERT_FALSE(planned.ok()) << "accepted";
    EXPECT_TRUE(absl::IsInvalidArgument(planned.status())) << planned.status();
    EXPECT_EQ(kernels::FieldOf(planned.status()), field) << planned.status();
    EXPECT_THAT(std::string(planned.status().message()), testing::StartsWith(field + ": "));
  }
}

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_PLANNED_REQUESTS_H_
