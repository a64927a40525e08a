#include "client/library/array_conversion.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/library/huge_pages.h"
#include "client/library/proto_time.h"
#include "client/library/shared_conversion.h"
#include "client/library/stream_call.h"

namespace gridfold::client {

static_assert(static_cast<int>(ArrayPlacement::kSharded) == v1::ARRAY_PLACEMENT_SHARDED);
static_assert(static_cast<int>(ArrayPlacement::kOneDevice) == v1::ARRAY_PLACEMENT_ONE_DEVICE);

namespace {

// Strings this long lie on the heap, where every element type is aligned, and stay there when they
// are moved.
constexpr size_t kHeapCapacity = 64;

uint64_t SizeBytes(ElementType type, const std::vector<uint64_t>& shape) {
  uint64_t size_bytes = ElementSizeBytes(type);
  for (const uint64_t extent : shape) size_bytes *= extent;
  return size_bytes;
}

}  // namespace

std::vector<uint64_t> ShapeOf(const ResidentArray& part, const std::vector<uint64_t>& whole) {
  std::vector<uint64_t> shape = whole;
  if (part.slice && !shape.empty()) shape[0] = part.slice->count;
  if (part.view) {
    shape.clear();
    for (const ViewDimension& dimension : part.view->dimensions) shape.push_back(dimension.count);
  }
  return shape;
}

WireMessage ToWire(const NewArray& array) {
  v1::CreateArrayRequest request;
  request.set_name(array.name);
  request.set_element_type(static_cast<v1::ElementType>(array.element_type));
  request.mutable_shape()->Add(array.shape.begin(), array.shape.end());
  request.set_zero_dimensional(array.shape.empty());
  if (array.idle_expiry) *request.mutable_idle_expiry() = ToProto(*array.idle_expiry);
  if (array.device) request.set_device(*array.device);
  request.set_placement(static_cast<v1::ArrayPlacement>(array.placement));
  return WireMessage::Of(request);
}

std::optional<WireMessage> WriteMessage(const std::string& name, uint64_t first_element,
                                        const ArrayView& elements, uint64_t chunk_elements,
                                        uint64_t index) {
  const uint64_t begin = index * chunk_elements;
  if (index > 0 && begin >= elements.element_count()) return std::nullopt;
  const uint64_t count = std::min(chunk_elements, elements.element_count() - begin);
  const size_t element_bytes = ElementSizeBytes(elements.element_type());
  v1::WriteArrayRequest fields;
  if (index == 0) {
    fields.mutable_header()->set_name(name);
    fields.set_element_count(elements.element_count());
  }
  fields.set_first_element(first_element + begin);
  WireMessage message;
  message.AppendFields(fields);
  message.AppendBytes(v1::WriteArrayRequest::kDataFieldNumber,
                      elements.bytes().subspan(begin * element_bytes, count * element_bytes));
  return message;
}

absl::Status WriteArrayOnce(const std::shared_ptr<grpc::Channel>& channel, const CallHead& head,
                            const std::string& name, uint64_t first_element,
                            const ArrayView& elements, uint64_t chunk_elements) {
  uint64_t index = 0;
  v1::WriteArrayResponse response;
  absl::Status status = StreamOnce(
      channel, "/gridfold.v1.ArrayService/WriteArray", head,
      [&] { return WriteMessage(name, first_element, elements, chunk_elements, index++); },
      [&](grpc::ByteBuffer& bytes) { return Parse(bytes, response); });
  if (status.ok() && response.written_bytes() != elements.bytes().size()) {
    return absl::InternalError("the server has not written all elements");
  }
  return status;
}

absl::Status ReadArrayOnce(
    const std::shared_ptr<grpc::Channel>& channel, const CallHead& head, const ResidentArray& array,
    absl::FunctionRef<absl::Status(const v1::ReadArrayResponse&, const BulkBytes&)> add) {
  v1::ReadArrayRequest request;
  *request.mutable_array() = ToProto(array);
  std::optional<WireMessage> message = WireMessage::Of(request);
  return StreamOnce(
      channel, "/gridfold.v1.ArrayService/ReadArray", head,
      [&] { return std::exchange(message, std::nullopt); },
      [&](grpc::ByteBuffer& bytes) {
        v1::ReadArrayResponse response;
        BulkBytes data;
        absl::Status parsed =
            ParseBesideBulk(bytes, v1::ReadArrayResponse::kDataFieldNumber, response, data);
        return parsed.ok() ? add(response, data) : parsed;
      });
}

absl::Status ArrayReader::Add(const v1::ReadArrayResponse& message, const BulkBytes& data) {
  if (has_begun_ == message.has_array()) {
    return absl::InternalError("the server's answer does not describe the array once, at first");
  }
  if (!has_begun_) {
    const absl::StatusOr<ArrayDescription> whole = FromProto(message.array());
    if (!whole.ok()) return whole.status();
    has_begun_ = true;
    result_.element_type = whole->element_type;
    result_.shape = ShapeOf(array_, whole->shape);
    expected_bytes_ = SizeBytes(result_.element_type, result_.shape);
    ReserveLarge(std::max<uint64_t>(std::min(expected_bytes_, whole->size_bytes), kHeapCapacity),
                 result_.data);
  }
  if (data.size_bytes() > expected_bytes_ - result_.data.size()) {
    return absl::InternalError("the server's answer holds more elements than were asked for");
  }
  data.AppendTo(result_.data);
  return absl::OkStatus();
}

absl::StatusOr<ArrayData> ArrayReader::Finish() && {
  if (!has_begun_ || result_.data.size() != expected_bytes_) {
    return absl::InternalError(absl::StrCat("the server's answer holds ", result_.data.size(),
                                            " bytes of an array of ", expected_bytes_));
  }
  return std::move(result_);
}

}  // namespace gridfold::client
