#include <utility>
#include <variant>

#include "client/library/large_call.h"
#include "client/library/reduction_conversion.h"
#include "client/library/sent_arrays.h"
#include "client/library/shared_conversion.h"
#include "client/library/streamed_groups.h"

namespace gridfold::client {
namespace {

// A bound of what a stream keeps of one group, whatever its statistics and elements are.
constexpr uint64_t kStateBytesMax = 2048;

// Whether a stream can keep what is known of all groups that go on from row to row.
bool HasFewGroups(const ArrayView& array, const ReductionOptions& options,
                  const ServerLimits& limits) {
  const uint64_t groups = GroupsAcrossRows(array, options.grouping);
  return groups <= 1 || groups <= limits.message_bytes_max / kStateBytesMax;
}

struct ReductionOperation {
  using Result = ReductionResult;
  using Options = ReductionOptions;
  using Parts = ReductionParts;

  static uint64_t SizeBytes(const ArrayView& array, const Options& options) {
    const ArrayView* const mask = ViewOf(options.where);
    return array.bytes().size() + (mask != nullptr ? mask->bytes().size() : 0);
  }

  static uint64_t OtherBytes(const Options& options) { return BytesOf(options.grouping); }

  static bool CanStream(const ArrayView& array, const Options& options, const ServerLimits& limits,
                        const ClientOptions& client_options) {
    return HasShapeOfElements(array) && CanStreamGroups(array, options) &&
           !NeedsWholeArray(options) && !HasProductOfFloats(array.element_type(), options) &&
           HasFewGroups(array, options, limits) &&
           (!std::holds_alternative<Segments>(options.grouping) ||
            TakesAnyStream(limits, client_options));
  }

  static Parts Split(const ArrayView& array, const Options& options, uint64_t part_bytes) {
    return SplitReduction(array, options, part_bytes);
  }

  static absl::StatusOr<Result> Once(Transport& transport, const ArrayInput& array,
                                     const Options& options, const CallOptions& call_options) {
    return ReduceOnce(transport, array, options, call_options);
  }

  static absl::StatusOr<Result> StreamOnce(const std::shared_ptr<grpc::Channel>& channel,
                                           const CallHead& head, const ArrayView& array,
                                           const Options& options, uint64_t message_bytes,
                                           absl::FunctionRef<void(uint64_t)> on_sent) {
    v1::ReduceArrayRequest header = ToProto(options);
    *header.mutable_array() = ToProto(ToStreamed(array));
    v1::ReduceStreamResponse response;
    const absl::Status status = SendArraysOnce(
        channel, "/gridfold.v1.ComputeService/ReduceStream", head,
        {.header = header, .fields = {array.bytes()}, .element_count = array.element_count()},
        message_bytes, on_sent, response);
    if (!status.ok()) return status;
    return FromProto(response.result());
  }

  template <typename Move>
  static absl::StatusOr<std::pair<ArrayInput, Options>> Moved(const ArrayView& array,
                                                              const Options& options, Move move) {
    absl::StatusOr<ArrayInput> moved = move(array);
    if (!moved.ok()) return moved.status();
    std::pair<ArrayInput, Options> request(*std::move(moved), options);
    if (const ArrayView* const mask = ViewOf(options.where)) {
      absl::StatusOr<ArrayInput> moved_mask = move(*mask);
      if (!moved_mask.ok()) return moved_mask.status();
      request.second.where = *std::move(moved_mask);
    }
    return request;
  }

  static MergeOptions Merging(const Options& options) {
    return {.partial = options.return_accumulator, .output_type = options.output_type};
  }

  // Accumulators do not know the shape of their groups, which have one axis here.
  static Result Merged(MergeResult merged, const Options& options) {
    auto result = std::get<ReductionResult>(std::move(merged.answer));
    const bool is_whole = std::holds_alternative<WholeArray>(options.grouping);
    if (!is_whole) result.result_shape = {result.group_count};
    return result;
  }

  static void Append(const Result& part, Result& whole) {
    whole.group_count += part.group_count;
    whole.result_shape = {whole.group_count};
    for (size_t i = 0; i < whole.entries.size() && i < part.entries.size(); ++i) {
      std::visit(
          [&](auto& values) {
            const auto& more =
                std::get<std::remove_reference_t<decltype(values)>>(part.entries[i].values);
            values.insert(values.end(), more.begin(), more.end());
          },
          whole.entries[i].values);
      whole.entries[i].data += part.entries[i].data;
    }
  }
};

}  // namespace

absl::StatusOr<ReductionResult> ReduceOnce(Transport& transport, const ArrayInput& array,
                                           const ReductionOptions& options,
                                           const CallOptions& call_options) {
  return Run(transport, CallOf(array, options), call_options);
}

absl::StatusOr<ReductionResult> ArrayCalls::ReduceArray(const ArrayView& array,
                                                        const ReductionOptions& options,
                                                        const CallOptions& call_options) {
  return LargeCall<ReductionOperation>(*this, array, options, call_options).Run();
}

}  // namespace gridfold::client
