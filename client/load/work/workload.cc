#include "client/load/work/workload.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/exit_code.h"
#include "client/load/work/array_values.h"
#include "client/load/work/generated_operation.h"

namespace gridfold::load {
namespace {

constexpr size_t kArraysOfKindMax = 16;
// A range of sizes is not represented by fewer.
constexpr size_t kArraysOfRangeMin = 8;
constexpr uint64_t kArrayBytesOfKindMax = uint64_t{64} << 20;
constexpr uint64_t kResultBytesOfKindMax = uint64_t{256} << 20;

// The bytes of an element and of what the arrays beside it have at its place.
uint64_t BytesOfElement(const RequestKind& kind) {
  const uint64_t array_count = uint64_t{1} + HasYElements(kind) + HasWeights(kind);
  const uint64_t key_bytes = HasKeys(kind) ? client::ElementSizeBytes(kind.key_type) : 0;
  const uint64_t mask_bytes = kind.where ? 1 : 0;
  return array_count * client::ElementSizeBytes(kind.element_type) + key_bytes + mask_bytes;
}

size_t ArrayCountOf(const RequestKind& kind) {
  const std::vector<uint64_t> counts =
      SpreadElementCounts(kind, std::max(kArraysOfKindMax, kind.elements.choices.size()));
  uint64_t largest = 1;
  for (const uint64_t count : counts) largest = std::max(largest, count);
  const uint64_t fitting = kArrayBytesOfKindMax / (largest * BytesOfElement(kind));
  const size_t least = kind.elements.log_uniform ? kArraysOfRangeMin : kind.elements.choices.size();
  return std::clamp<size_t>(fitting, least, counts.size());
}

client::ArrayView ViewOf(const ArrayBytes& array) {
  const client::ArrayView view(array.element_type, array.bytes.data(),
                               array.bytes.size() / client::ElementSizeBytes(array.element_type));
  return array.shape.size() == 1 ? view : view.WithShape(array.shape);
}

// The arrays of all operations, one after the other.
std::vector<ArrayBytes> ArraysOf(const RequestKind& kind,
                                 const std::vector<GeneratedOperation>& operations) {
  std::vector<ArrayBytes> arrays;
  for (const GeneratedOperation& operation : operations) {
    for (const ArrayBytes& array : ArraysOf(kind, operation)) arrays.push_back(array);
  }
  return arrays;
}

// The operations on `arrays`, which are those of ArraysOf.
std::vector<OperationInput> InputsOf(const std::vector<GeneratedOperation>& operations,
                                     const std::vector<client::ArrayInput>& arrays) {
  std::vector<OperationInput> inputs;
  auto next = arrays.begin();
  for (const GeneratedOperation& operation : operations) {
    inputs.push_back(InputOf(operation, next));
  }
  return inputs;
}

uint64_t ResultBytesMax(const std::vector<GeneratedOperation>& scans) {
  size_t largest = 1;
  for (const GeneratedOperation& scan : scans) {
    largest = std::max(largest, std::get<KnownScan>(*scan.known).data.size());
  }
  return largest;
}

}  // namespace

Workload::Workload(const Scenario& scenario, const client::ClientOptions& client)
    : scenario_(scenario), server_arrays_(client), requests_(scenario.requests.size()) {}

absl::StatusOr<std::unique_ptr<Workload>> Workload::Prepare(const Scenario& scenario,
                                                            const client::ClientOptions& client,
                                                            const Options& options) {
  auto workload = absl::WrapUnique(new Workload(scenario, client));
  std::mt19937_64 random(options.seed);
  double weight = 0;
  for (size_t i = 0; i < scenario.requests.size(); ++i) {
    absl::Status status = workload->PrepareKind(i, options, random);
    if (!status.ok()) return status;
    weight += scenario.requests[i].weight;
    workload->cumulative_weights_.push_back(weight);
  }
  return workload;
}

absl::Status Workload::PrepareKind(size_t kind_index, const Options& options,
                                   std::mt19937_64& random) {
  const RequestKind& kind = scenario_.requests[kind_index];
  std::vector<GeneratedOperation> operations;
  for (const uint64_t element_count : SpreadElementCounts(kind, ArrayCountOf(kind))) {
    operations.push_back(Generate(kind, element_count, random));
  }
  uint64_t array_bytes = 0;
  for (const GeneratedOperation& operation : operations) array_bytes += operation.size_bytes();
  NoteSize(kind_index, operations.size(), array_bytes);
  std::vector<OperationInput> inputs;
  if (kind.transport != ArrayTransport::kStream) {
    const auto arrays = PlaceArrays(kind, ArraysOf(kind, operations));
    if (!arrays.ok()) return arrays.status();
    inputs = InputsOf(operations, *arrays);
  }
  ResultPlaces* result_places = nullptr;
  if (kind.destination == ResultDestination::kShared) {
    const auto made =
        MakeResultPlaces(kind_index, ResultBytesMax(operations), options.call_count_max);
    if (!made.ok()) return made.status();
    result_places = *made;
  }
  for (size_t i = 0; i < operations.size(); ++i) {
    PreparedRequest& request =
        requests_[kind_index].emplace_back(PreparedRequest{.kind_index = kind_index,
                                                           .kind = kind,
                                                           .method = "",
                                                           .messages = {},
                                                           .result_places = result_places});
    // A batch begins with another operation than the one before it.
    std::vector<OperationInput> asked;
    for (uint64_t k = 0; k < std::max<uint64_t>(1, kind.batch_size); ++k) {
      const size_t place = (i + k) % operations.size();
      request.array_bytes += operations[place].read_bytes(kind);
      request.known.push_back(operations[place].known);
      if (!inputs.empty()) asked.push_back(inputs[place]);
    }
    if (request.is_stream()) {
      AddStreamMessages(operations[i].input, options.chunk_bytes, request);
    } else {
      AddUnaryMessage(asked, request);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<client::ArrayInput>> Workload::PlaceArrays(
    const RequestKind& kind, const std::vector<ArrayBytes>& arrays) {
  if (kind.transport != ArrayTransport::kInline) return server_arrays_.Place(kind, arrays);
  std::vector<client::ArrayInput> views;
  for (const ArrayBytes& array : arrays) views.emplace_back(ViewOf(array));
  return views;
}

void Workload::NoteSize(size_t kind_index, size_t array_count, uint64_t array_bytes) {
  if (array_bytes <= kArrayBytesOfKindMax) return;
  notes_.push_back(absl::StrCat("requests[", kind_index, "]: ", array_count, " arrays take ",
                                array_bytes >> 20,
                                " MiB, since each size that is listed, or eight of a range, is "
                                "there; of smaller arrays 64 MiB would be"));
}

absl::StatusOr<ResultPlaces*> Workload::MakeResultPlaces(size_t kind_index, uint64_t result_bytes,
                                                         uint64_t call_count_max) {
  if (result_bytes > kResultBytesOfKindMax / call_count_max) {
    const std::string message = absl::StrCat(
        "requests[", kind_index, "].destination: ", call_count_max,
        " calls under way with results of ", result_bytes,
        " bytes need more than 256 MiB of shared memory: lower concurrency or in-flight-max");
    return client::WithExitCode(absl::InvalidArgumentError(message), client::ExitCode::kUsage);
  }
  return server_arrays_.MakeResultPlaces(scenario_.requests[kind_index], result_bytes,
                                         call_count_max);
}

const PreparedRequest& Workload::Draw(std::mt19937_64& random) const {
  std::uniform_real_distribution<double> uniform(0, cumulative_weights_.back());
  const auto chosen =
      std::upper_bound(cumulative_weights_.begin(), cumulative_weights_.end() - 1, uniform(random));
  const auto& requests = requests_[static_cast<size_t>(chosen - cumulative_weights_.begin())];
  return requests[random() % requests.size()];
}

}  // namespace gridfold::load
