#include "kernels/contract/engine.h"

#include <span>

#include "absl/strings/str_cat.h"

namespace gridfold::kernels {

namespace {

HostSpan SpanOfWords(std::span<const uint64_t> words) {
  const std::span<const std::byte> bytes = std::as_bytes(words);
  return {bytes.data(), bytes.size()};
}

}  // namespace

uint64_t Lane::ResidentStateBytes(const ReductionPlan&) const { return 0; }

absl::Status Lane::ReduceInto(const ReductionPlan&, InputSpan, MutableResidentSpan, std::stop_token,
                              RunStatistics&) {
  return absl::UnimplementedError("the engine keeps no states");
}

absl::StatusOr<ReductionResult> Lane::MergeStates(const ReductionPlan&, uint64_t,
                                                  std::span<const ResidentStates>,
                                                  std::stop_token) {
  return absl::UnimplementedError("the engine keeps no states");
}

bool Lane::ReducesInPlace(const ReductionPlan&, ResidentSpan) const { return false; }

absl::StatusOr<ReductionResult> Lane::MergeStateGrid(const ReductionPlan&, const StateGrid&,
                                                     MutableResidentSpan, std::stop_token,
                                                     RunStatistics&) {
  return absl::UnimplementedError("the engine keeps no states");
}

absl::StatusOr<ScanTotals> Lane::FindScanTotals(const ScanPlan&, InputSpan, std::stop_token,
                                                RunStatistics&) {
  return absl::UnimplementedError("no quicker than the scan");
}

absl::Status Lane::CountInto(const HistogramPlan& plan, const HistogramInput& input,
                             MutableResidentSpan words, std::stop_token stop,
                             RunStatistics& statistics) {
  const absl::StatusOr<HistogramResult> result = RunHistogram(plan, input, stop, statistics);
  if (!result.ok()) return result.status();
  const HistogramCounts& counts = result->channels.front();
  const uint64_t head[kOutcomeWords] = {counts.underflow_count, counts.overflow_count,
                                        counts.nan_count};
  const HostSpan first = SpanOfWords(head);
  const HostSpan rest = SpanOfWords(counts.counts);
  absl::Status status = Copy(first, MutableResidentSpan{words.data, first.size_bytes}, stop);
  if (!status.ok()) return status;
  return Copy(rest, MutableResidentSpan{words.data + first.size_bytes, rest.size_bytes}, stop);
}

absl::Status Lane::AddWords(ResidentSpan, MutableResidentSpan, std::stop_token) {
  return absl::UnimplementedError("the engine adds no counters");
}

uint64_t Lane::KeyedRoomBytes(const KeyedReductionPlan&) const { return 0; }

absl::StatusOr<KeyedReductionResult> Lane::RunKeyedReduction(const KeyedReductionPlan&,
                                                             const KeyedInput&, std::stop_token,
                                                             RunStatistics&) {
  return absl::UnimplementedError("the engine has no groups by key");
}

absl::StatusOr<std::vector<uint64_t>> Lane::Select(const SelectionPlan&, InputSpan, ResidentSpan,
                                                   MutableResidentSpan, MutableResidentSpan,
                                                   std::stop_token, RunStatistics&) {
  return absl::UnimplementedError("the engine has no selections");
}

absl::Status Lane::FindSelected(ResidentSpan, ResidentSpan, std::span<uint64_t>, std::stop_token,
                                RunStatistics&) {
  return absl::UnimplementedError("the engine has no selections");
}

absl::Status Lane::Replace(uint64_t, const ElementBytes&, InputSpan, ResidentSpan,
                           MutableResidentSpan, std::stop_token, RunStatistics&) {
  return absl::UnimplementedError("the engine has no selections");
}

void Lane::CarryOver(const ScanPlan&, const ScanTotals&, ScanCarry&) {}

absl::StatusOr<QuantileResult> Lane::RunQuantiles(const QuantilePlan&, InputSpan, std::stop_token,
                                                  RunStatistics&) {
  return absl::UnimplementedError("this engine computes no quantiles");
}

absl::StatusOr<TopResult> Lane::RunTop(const TopPlan&, InputSpan, std::stop_token, RunStatistics&) {
  return absl::UnimplementedError("this engine selects no elements");
}

absl::StatusOr<PairedSums> Lane::RunPaired(const PairedPlan&, const PairedInput&, std::stop_token,
                                           RunStatistics&) {
  return absl::UnimplementedError("this engine relates no arrays");
}

absl::StatusOr<std::unique_ptr<ExternalMemory>> Engine::RegisterHostMemory(MutableHostSpan) {
  return absl::FailedPreconditionError(
      absl::StrCat("the engine \"", name(), "\" works on no memory of others"));
}

absl::StatusOr<std::unique_ptr<ExternalMemory>> Engine::OpenIpcMemory(const IpcHandle&, uint64_t) {
  return absl::FailedPreconditionError(
      absl::StrCat("the engine \"", name(), "\" opens no device memory of others"));
}

}  // namespace gridfold::kernels
