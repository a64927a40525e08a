#include "server/planning/batch_validation.h"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "server/planning/answer_size.h"
#include "server/planning/bin_rule_validation.h"
#include "server/planning/placement.h"

namespace gridfold::server {

namespace {

constexpr char kField[] = "operations";

template <class Request>
PlannedOperation Plan(const Request& request, const PlanningContext& context) {
  auto planned = PlanRequest(request, context);
  if (!planned.ok()) return planned.status();
  return *std::move(planned);
}

PlannedOperation PlanHistogram(const v1::ComputeHistogramRequest& request,
                               const PlanningContext& context) {
  absl::Status status = RefuseRules(request.bins(), "bins", "a batch");
  if (!status.ok()) return status;
  return Plan(request, context);
}

PlannedOperation Plan(const v1::BatchOperation& operation, const PlanningContext& context) {
  switch (operation.operation_case()) {
    case v1::BatchOperation::kReduction: return Plan(operation.reduction(), context);
    case v1::BatchOperation::kScan: return Plan(operation.scan(), context);
    case v1::BatchOperation::kHistogram: return PlanHistogram(operation.histogram(), context);
    case v1::BatchOperation::kKeyedReduction: return Plan(operation.keyed_reduction(), context);
    case v1::BatchOperation::OPERATION_NOT_SET: break;
  }
  return kernels::InvalidField("operation", "no operation is given");
}

uint64_t ValueBytes(const absl::Status&) { return 0; }
uint64_t ValueBytes(const PlannedScan& planned) {
  return std::holds_alternative<InlineResult>(planned.result) ? AnswerBytes(planned.plan)
                                                              : kArrayDescriptionBytesMax;
}
// Reductions of a batch are held together before they are rounded to their output types.
uint64_t ValueBytes(const PlannedReduction& planned) { return HeldAnswerBytes(planned.plan); }
template <class Planned>
uint64_t ValueBytes(const Planned& planned) {
  return AnswerBytes(planned.plan);
}

uint64_t ChannelsOf(const PlannedOperation& operation) {
  const auto* const histogram = std::get_if<PlannedHistogram>(&operation);
  return histogram == nullptr ? 0 : histogram->plan.channel_count;
}

// Adds up what the operations will take, so that planning stops as soon as it is too much: a few
// bytes may ask for an answer, or a plan, of megabytes.
class BatchTotals {
 public:
  explicit BatchTotals(const Limits& limits)
      : answer_bytes_left_(limits.message_bytes_max - kAnswerOverheadBytes) {}

  absl::Status Add(const PlannedOperation& operation) {
    const uint64_t value_bytes =
        std::visit([](const auto& planned) { return ValueBytes(planned); }, operation);
    if (answer_bytes_left_ < kBatchResultBytes ||
        value_bytes > answer_bytes_left_ - kBatchResultBytes) {
      return kernels::AboveLimit(
          kField,
          "the answers together, or their values before they are rounded to an output type, would "
          "take more bytes than the largest message");
    }
    answer_bytes_left_ -= kBatchResultBytes + value_bytes;
    const uint64_t channels = ChannelsOf(operation);
    if (channels > channels_left_) {
      return kernels::AboveLimit(
          kField, absl::StrCat("the histograms together have more than the ", kChannelCountMax,
                               " channels that are allowed"));
    }
    channels_left_ -= channels;
    return absl::OkStatus();
  }

 private:
  uint64_t answer_bytes_left_;
  uint64_t channels_left_ = kChannelCountMax;
};

// What an operation makes goes to the batch's engine, or says which that is.
void Agree(uint32_t& made, std::optional<uint32_t>& engine) {
  if (!engine) engine = made;
  made = *engine;
}

template <class Planned>
void MakeAgree(Planned& planned, std::optional<uint32_t>& engine) {
  if constexpr (std::is_same_v<Planned, PlannedScan>) {
    auto* const made = std::get_if<NewArrayResult>(&planned.result);
    if (made != nullptr) Agree(made->engine, engine);
  }
  if constexpr (requires { planned.rearrangement; }) {
    if (planned.rearrangement) Agree(planned.rearrangement->engine, engine);
  }
  if constexpr (requires { planned.selection; }) {
    if (planned.selection) Agree(planned.selection->engine, engine);
  }
  if constexpr (requires { planned.room_engine; }) Agree(planned.room_engine, engine);
}

// Operations run where their arrays are; the others run where the first one of these does.
void AgreeOnEngine(PlannedBatch& batch) {
  for (const PlannedOperation& operation : batch.operations) {
    if (!batch.engine) batch.engine = EngineOf(operation);
  }
  for (PlannedOperation& operation : batch.operations) {
    if (EngineOf(operation)) continue;
    std::visit([&](auto& planned) { MakeAgree(planned, batch.engine); }, operation);
  }
}

}  // namespace

absl::StatusOr<PlannedBatch> PlanRequest(const v1::BatchComputeRequest& request,
                                         const PlanningContext& context) {
  const auto count = static_cast<uint64_t>(request.operations_size());
  if (count > context.limits.batch_operations_max) {
    return kernels::AboveLimit(
        kField, absl::StrCat(count, " operations are more than the ",
                             context.limits.batch_operations_max, " that this server allows"));
  }
  PlannedBatch batch;
  batch.operations.reserve(count);
  BatchTotals totals(context.limits);
  for (const v1::BatchOperation& operation : request.operations()) {
    batch.operations.push_back(Plan(operation, context));
    if (absl::Status status = totals.Add(batch.operations.back()); !status.ok()) return status;
  }
  AgreeOnEngine(batch);
  return batch;
}

}  // namespace gridfold::server
