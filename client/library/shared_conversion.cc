#include "client/library/shared_conversion.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "client/library/proto_time.h"

namespace gridfold::client {

static_assert(static_cast<int>(NanPolicy::kIgnore) == v1::NAN_POLICY_IGNORE);
static_assert(static_cast<int>(OverflowPolicy::kWrap) == v1::OVERFLOW_POLICY_WRAP);

ExecutionStatistics FromProto(const v1::ExecutionStatistics& execution) {
  return {
      .engine = execution.engine(),
      .strategy = execution.strategy(),
      .cluster_size = execution.cluster_size(),
      .bytes_read = execution.bytes_read(),
      .queue_time = FromProto(execution.queue_time()),
      .stage_in_time = FromProto(execution.stage_in_time()),
      .kernel_time = FromProto(execution.kernel_time()),
      .stage_out_time = FromProto(execution.stage_out_time()),
      .total_time = FromProto(execution.total_time()),
      .device_count = execution.device_count(),
  };
}

v1::Grouping ToProto(const Grouping& grouping) {
  v1::Grouping proto;
  if (const Axis* axis = std::get_if<Axis>(&grouping)) {
    proto.set_axis(axis->axis);
  } else if (const Segments* segments = std::get_if<Segments>(&grouping)) {
    proto.mutable_segments()->mutable_offsets()->Add(segments->offsets.begin(),
                                                     segments->offsets.end());
  } else if (const Axes* axes = std::get_if<Axes>(&grouping)) {
    proto.mutable_axes()->mutable_axes()->Add(axes->axes.begin(), axes->axes.end());
  }
  return proto;
}

v1::ResidentArray ToProto(const ResidentArray& array) {
  v1::ResidentArray proto;
  proto.set_name(array.name);
  if (array.slice) {
    proto.mutable_slice()->set_first(array.slice->first);
    proto.mutable_slice()->set_count(array.slice->count);
  }
  if (array.view) {
    v1::StridedView& view = *proto.mutable_view();
    view.mutable_first()->Add(array.view->first.begin(), array.view->first.end());
    for (const ViewDimension& dimension : array.view->dimensions) {
      v1::ViewDimension& added = *view.add_dimensions();
      added.set_axis(dimension.axis);
      added.set_count(dimension.count);
      added.set_step(dimension.step);
    }
  }
  return proto;
}

v1::ArraySource ToProto(const StreamedArray& array) {
  v1::ArraySource source;
  v1::StreamedArray& proto = *source.mutable_streamed_array();
  proto.set_element_type(static_cast<v1::ElementType>(array.element_type));
  proto.set_column_count(array.column_count);
  proto.mutable_row_shape()->Add(array.row_shape.begin(), array.row_shape.end());
  return source;
}

absl::StatusOr<ArrayDescription> FromProto(const v1::ArrayDescription& description) {
  ArrayDescription array;
  array.name = description.name();
  array.element_type = static_cast<ElementType>(description.element_type());
  array.shape = ToVector<uint64_t>(description.shape());
  array.size_bytes = description.size_bytes();
  array.idle_expiry = FromProto(description.idle_expiry());
  array.idle_time = FromProto(description.idle_time());
  array.device = description.device();
  for (const v1::ArrayShard& shard : description.shards()) {
    array.shards.push_back({shard.device(), shard.first_element(), shard.element_count()});
  }
  if (ElementSizeBytes(array.element_type) == 0) {
    return absl::InternalError(absl::StrCat("the server's answer has an array of element type ",
                                            description.element_type()));
  }
  return array;
}

}  // namespace gridfold::client
