#include "client/load/work/workload.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "client/load/work/array_values.h"
#include "client/load/work/element_encoding.h"

namespace gridfold::load {
namespace {

constexpr size_t kArraysOfKindMax = 16;
// A range of sizes is not represented by fewer.
constexpr size_t kArraysOfRangeMin = 8;
constexpr uint64_t kArrayBytesOfKindMax = uint64_t{256} << 20;

size_t ArrayCountOf(const RequestKind& kind) {
  const std::vector<uint64_t> counts =
      SpreadElementCounts(kind, std::max(kArraysOfKindMax, kind.elements.choices.size()));
  uint64_t largest = 1;
  for (const uint64_t count : counts) largest = std::max(largest, count);
  const uint64_t fitting =
      kArrayBytesOfKindMax / (largest * client::ElementSizeBytes(kind.element_type));
  const size_t least = kind.elements.log_uniform ? kArraysOfRangeMin : kind.elements.choices.size();
  return std::clamp<size_t>(fitting, least, counts.size());
}

client::ArrayView ViewOf(const RequestKind& kind, const std::string& bytes) {
  const client::ArrayView view(kind.element_type, bytes.data(),
                               bytes.size() / client::ElementSizeBytes(kind.element_type));
  const std::vector<uint64_t> shape = ShapeOf(kind, bytes.size());
  return shape.size() == 2 ? view.WithShape(shape[0], shape[1]) : view;
}

}  // namespace

Workload::Workload(const Scenario& scenario, const client::ClientOptions& options)
    : scenario_(scenario), server_arrays_(options), requests_(scenario.requests.size()) {}

absl::StatusOr<std::unique_ptr<Workload>> Workload::Prepare(const Scenario& scenario,
                                                            const client::ClientOptions& options,
                                                            uint64_t chunk_bytes, uint64_t seed) {
  auto workload = absl::WrapUnique(new Workload(scenario, options));
  std::mt19937_64 random(seed);
  double weight = 0;
  for (size_t i = 0; i < scenario.requests.size(); ++i) {
    absl::Status status = workload->PrepareKind(i, chunk_bytes, random);
    if (!status.ok()) return status;
    weight += scenario.requests[i].weight;
    workload->cumulative_weights_.push_back(weight);
  }
  return workload;
}

absl::Status Workload::PrepareKind(size_t kind_index, uint64_t chunk_bytes,
                                   std::mt19937_64& random) {
  const RequestKind& kind = scenario_.requests[kind_index];
  std::vector<PreparedRequest>& requests = requests_[kind_index];
  std::vector<std::string> arrays;
  for (const uint64_t element_count : SpreadElementCounts(kind, ArrayCountOf(kind))) {
    const std::vector<int32_t> values = DrawValues(kind, element_count, random);
    arrays.push_back(EncodeElements(kind.element_type, std::span<const int32_t>(values)));
    requests.push_back({.kind_index = kind_index,
                        .kind = kind,
                        .method = "",
                        .messages = {},
                        .array_bytes = arrays.back().size(),
                        .known = ComputeKnownAnswer(kind, values)});
  }
  if (kind.transport == ArrayTransport::kStream) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      AddStreamMessages(arrays[i], chunk_bytes, requests[i]);
    }
    return absl::OkStatus();
  }
  if (kind.transport == ArrayTransport::kInline) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      AddUnaryMessage(ViewOf(kind, arrays[i]), requests[i]);
    }
    return absl::OkStatus();
  }
  const auto inputs = server_arrays_.Place(kind, arrays);
  if (!inputs.ok()) return inputs.status();
  for (size_t i = 0; i < arrays.size(); ++i) AddUnaryMessage((*inputs)[i], requests[i]);
  return absl::OkStatus();
}

const PreparedRequest& Workload::Draw(std::mt19937_64& random) const {
  std::uniform_real_distribution<double> uniform(0, cumulative_weights_.back());
  const auto chosen =
      std::upper_bound(cumulative_weights_.begin(), cumulative_weights_.end() - 1, uniform(random));
  const auto& requests = requests_[static_cast<size_t>(chosen - cumulative_weights_.begin())];
  return requests[random() % requests.size()];
}

}  // namespace gridfold::load
