#include "client/library/scan_conversion.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/library/proto_time.h"
#include "client/library/region_conversion.h"
#include "client/library/shared_conversion.h"

namespace gridfold::client {
namespace {

static_assert(static_cast<int>(ElementType::kBool) == v1::ELEMENT_TYPE_BOOL);
static_assert(static_cast<int>(ScanOperation::kMax) == v1::SCAN_OPERATION_MAX);
static_assert(static_cast<int>(ScanOperation::kMean) == v1::SCAN_OPERATION_MEAN);
static_assert(static_cast<int>(ScanMode::kExclusive) == v1::SCAN_MODE_EXCLUSIVE);
static_assert(static_cast<int>(ScanDirection::kReverse) == v1::SCAN_DIRECTION_REVERSE);

// Strings this long lie on the heap, where every element type is aligned, and stay there when they
// are moved.
constexpr size_t kHeapCapacity = 64;

v1::ScanDestination MakeDestination(const ScanDestination& destination) {
  v1::ScanDestination proto;
  if (const auto* const resident = std::get_if<ResidentDestination>(&destination)) {
    proto.mutable_resident_array()->set_name(resident->name);
    if (resident->idle_expiry) {
      *proto.mutable_resident_array()->mutable_idle_expiry() = ToProto(*resident->idle_expiry);
    }
  } else if (const auto* const region = std::get_if<RegionDestination>(&destination)) {
    proto.mutable_region()->set_name(region->name);
    proto.mutable_region()->set_offset_bytes(region->offset_bytes);
  } else if (std::holds_alternative<InPlaceDestination>(destination)) {
    proto.mutable_in_place();
  } else {
    proto.mutable_inline_array();
  }
  return proto;
}

}  // namespace

bool IsInline(const ScanOptions& options) {
  return std::holds_alternative<InlineDestination>(options.destination);
}

v1::ScanArrayRequest ToProto(const ScanOptions& options) {
  v1::ScanArrayRequest request;
  request.set_operation(static_cast<v1::ScanOperation>(options.operation));
  request.set_mode(static_cast<v1::ScanMode>(options.mode));
  request.set_direction(static_cast<v1::ScanDirection>(options.direction));
  *request.mutable_grouping() = ToProto(options.grouping);
  SetOutputType(options.output_type, request);
  request.set_nan_policy(static_cast<v1::NanPolicy>(options.nan_policy));
  request.set_overflow_policy(static_cast<v1::OverflowPolicy>(options.overflow_policy));
  *request.mutable_destination() = MakeDestination(options.destination);
  request.set_exact(options.exact);
  if (options.window) request.set_window(*options.window);
  request.set_min_count(options.min_count);
  SetStrategy(options.strategy, request);
  return request;
}

WireMessage ToWire(const ArrayInput& array, const ScanOptions& options) {
  WireMessage message;
  message.AppendArray(v1::ScanArrayRequest::kArrayFieldNumber, array);
  if (options.where) {
    message.AppendArray(v1::ScanArrayRequest::kWhereFieldNumber, *options.where);
  }
  message.AppendFields(ToProto(options));
  return message;
}

absl::StatusOr<ScanResult> FromProto(v1::ScanArrayResponse&& response) {
  if (response.has_resident_array()) {
    absl::StatusOr<ArrayDescription> array = FromProto(response.resident_array());
    if (!array.ok()) return array.status();
    return ScanResult{.element_type = array->element_type,
                      .shape = array->shape,
                      .data = {},
                      .execution = FromProto(response.execution()),
                      .resident_array = *array};
  }
  if (response.has_region_slice()) {
    absl::StatusOr<RegionSlice> slice = FromProto(response.region_slice());
    if (!slice.ok()) return slice.status();
    return ScanResult{.element_type = slice->element_type,
                      .shape = slice->shape,
                      .data = {},
                      .execution = FromProto(response.execution()),
                      .region_slice = *slice};
  }
  if (!response.has_inline_array()) {
    return absl::InternalError("the server's answer holds no array");
  }
  v1::InlineArray& array = *response.mutable_inline_array();
  ScanResult result;
  result.element_type = static_cast<ElementType>(array.element_type());
  result.execution = FromProto(response.execution());
  result.data = std::move(*array.mutable_data());
  result.data.reserve(kHeapCapacity);
  const size_t element_bytes = ElementSizeBytes(result.element_type);
  if (element_bytes == 0 || result.data.size() % element_bytes != 0) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", result.data.size(),
                                            " bytes of element type ", array.element_type()));
  }
  result.shape = ToVector<uint64_t>(array.shape());
  if (result.shape.empty() && !array.zero_dimensional()) result.shape = {result.element_count()};
  return result;
}

OperationCall<v1::ScanArrayResponse, ScanResult> CallOf(const ArrayInput& array,
                                                        const ScanOptions& options) {
  return {"/gridfold.v1.ComputeService/ScanArray", ToWire(array, options),
          [](v1::ScanArrayResponse& response) { return FromProto(std::move(response)); },
          IsInline(options) ? Transport::Repeatable::kYes : Transport::Repeatable::kNo};
}

}  // namespace gridfold::client
