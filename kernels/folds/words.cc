#include "kernels/folds/words.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/histogram_words.h"
#include "kernels/folds/reduction_words.h"
#include "kernels/folds/word_stream.h"

namespace gridfold::kernels {

namespace {

// What stands first: the number of parts, and the same in every part.
constexpr uint32_t kMagic = 0x44574647;  // "GFWD".
constexpr uint32_t kVersion = 1;
constexpr uint64_t kFixedWords = 4;
constexpr size_t kBytesOfPiece = 4;

using Operation = std::variant<ReductionPlan, HistogramPlan>;

absl::Status Invalid(absl::string_view description) { return InvalidField("words", description); }

// One whose states are added place by place, which those of found keys are not.
absl::StatusOr<Operation> OperationWithWords(absl::StatusOr<AccumulatedOperation> operation) {
  if (!operation.ok()) return operation.status();
  if (auto* const reduction = std::get_if<ReductionPlan>(&*operation)) return std::move(*reduction);
  if (auto* const histogram = std::get_if<HistogramPlan>(&*operation)) return std::move(*histogram);
  return InvalidField("accumulator", "accumulators of found keys have no words");
}

uint64_t WordsOfBytes(size_t size) { return (size + kBytesOfPiece - 1) / kBytesOfPiece; }

std::string OpeningOf(const Operation& operation) {
  return std::visit([](const auto& plan) { return kernels::OpeningOf(plan); }, operation);
}

absl::Status CheckIsSum(const Operation& operation) {
  const auto* const reduction = std::get_if<ReductionPlan>(&operation);
  return reduction == nullptr ? absl::OkStatus() : kernels::CheckIsSum(*reduction);
}

// How many words the groups or bins have.
uint64_t StateWordCount(const Operation& operation) {
  if (const auto* const reduction = std::get_if<ReductionPlan>(&operation)) {
    return GroupWordCount(*reduction);
  }
  return BinWordCount(std::get<HistogramPlan>(operation));
}

void WriteOpening(const std::string& opening, WordWriter& writer) {
  writer.Piece(1);
  writer.Piece(kMagic);
  writer.Piece(kVersion);
  writer.Piece(static_cast<uint32_t>(opening.size()));
  for (size_t i = 0; i < opening.size(); i += kBytesOfPiece) {
    uint32_t piece = 0;
    for (size_t j = i; j < opening.size() && j < i + kBytesOfPiece; ++j) {
      piece |= uint32_t{static_cast<uint8_t>(opening[j])} << (8 * (j - i));
    }
    writer.Piece(piece);
  }
}

absl::Status DamagedWords() { return Invalid("no data have led to what they say"); }

// The bytes of the opening, which `reader` is at.
absl::StatusOr<std::string> ReadOpening(WordReader& reader) {
  if (reader.CommonPiece() != kMagic) {
    return Invalid("not words of accumulators, or not of equally many parts in every place");
  }
  const uint32_t version = reader.CommonPiece();
  if (version != kVersion) {
    return Invalid(absl::StrCat("version ", version, ", where version ", kVersion, " is known"));
  }
  const uint32_t size = reader.CommonPiece();
  std::string opening;
  reader.Require(WordsOfBytes(size) <= reader.rest_size());
  while (reader.ok() && opening.size() < size) {
    const uint32_t piece = reader.CommonPiece();
    for (size_t byte = 0; byte < kBytesOfPiece; ++byte) {
      if (opening.size() < size) opening += static_cast<char>(piece >> (8 * byte));
    }
  }
  if (!reader.ok()) return Invalid("the parts are not of one operation");
  return opening;
}

// The operation with this opening, which `rest_size` words follow. Each group and each bin has more
// than one: those that claim more take no memory.
absl::StatusOr<Operation> OperationOf(const std::string& opening, uint64_t rest_size,
                                      AccumulatorLimits limits) {
  limits.group_count_max = std::min(limits.group_count_max, rest_size);
  limits.bin_count_max = std::min(limits.bin_count_max, rest_size);
  absl::StatusOr<AccumulatorBody> body = OpenAccumulator(opening);
  if (!body.ok()) return Invalid(absl::StrCat("their opening: ", body.status().message()));
  // An accumulator of no elements: a byte for each group, or for the number of samples.
  AccumulatorWriter empty(body->kind);
  for (const char byte : body->bytes) empty.Byte(static_cast<uint8_t>(byte));
  for (uint64_t i = 0; i <= rest_size; ++i) empty.Byte(0);
  absl::StatusOr<Operation> operation =
      OperationWithWords(MergedOperation(std::move(empty).Finish(), limits));
  if (!operation.ok())
    return Invalid(absl::StrCat("their opening: ", operation.status().message()));
  return operation;
}

absl::StatusOr<std::string> ReadState(const Operation& operation, WordReader& reader) {
  if (const auto* const reduction = std::get_if<ReductionPlan>(&operation)) {
    return ReadGroupWords(*reduction, reader);
  }
  return ReadBinWords(std::get<HistogramPlan>(operation), reader);
}

// A merge of the accumulator alone, which refuses what no data have led to: nobody has checked the
// words that it was made of.
absl::StatusOr<std::string> Checked(const std::string& accumulator,
                                    const AccumulatorLimits& limits) {
  const absl::string_view view = accumulator;
  const absl::StatusOr<MergePlan> plan = PlanMerge({&view, 1}, limits, {});
  if (!plan.ok()) return DamagedWords();
  absl::StatusOr<MergedAnswer> merged = RunMerge(*plan, /*partial=*/true, {});
  if (!merged.ok()) return DamagedWords();
  return std::visit([](auto& merge) { return std::move(merge.accumulator); }, *merged);
}

}  // namespace

absl::StatusOr<uint64_t> WordCountOf(absl::string_view accumulator,
                                     const AccumulatorLimits& limits) {
  const absl::StatusOr<Operation> operation =
      OperationWithWords(MergedOperation(accumulator, limits));
  if (!operation.ok()) return operation.status();
  if (absl::Status status = CheckIsSum(*operation); !status.ok()) return status;
  return kFixedWords + WordsOfBytes(OpeningOf(*operation).size()) + StateWordCount(*operation);
}

absl::StatusOr<std::vector<int64_t>> WordsOf(absl::string_view accumulator,
                                             const AccumulatorLimits& limits) {
  const absl::StatusOr<uint64_t> word_count = WordCountOf(accumulator, limits);
  if (!word_count.ok()) return word_count.status();
  const absl::StatusOr<MergePlan> plan = PlanMerge({&accumulator, 1}, limits, {});
  if (!plan.ok()) return plan.status();
  // Whether it is sound.
  absl::StatusOr<MergedAnswer> merged = RunMerge(*plan, /*partial=*/true, {});
  if (!merged.ok()) return merged.status();
  WordWriter writer(*word_count);
  WriteOpening(OpeningOf(*OperationWithWords(plan->operation)), writer);
  if (const auto* const reduction = std::get_if<ReductionPlan>(&plan->operation)) {
    WriteGroupWords(*reduction, plan->bodies[0], writer);
  } else {
    WriteBinWords(std::get<HistogramPlan>(plan->operation), plan->bodies[0], writer);
  }
  return std::move(writer).Finish();
}

absl::StatusOr<std::string> AccumulatorOfWords(std::span<const int64_t> words,
                                               const AccumulatorLimits& limits) {
  if (words.empty()) return Invalid("there are none");
  const int64_t parts = words.front();
  if (parts < 1 || parts > kWordPartsMax) {
    return Invalid(absl::StrCat(parts, " parts, where 1 to ", kWordPartsMax, " can be added"));
  }
  WordReader reader(words.subspan(1), parts);
  const absl::StatusOr<std::string> opening = ReadOpening(reader);
  if (!opening.ok()) return opening.status();
  const absl::StatusOr<Operation> operation = OperationOf(*opening, reader.rest_size(), limits);
  if (!operation.ok()) return operation.status();
  if (absl::Status status = CheckIsSum(*operation); !status.ok()) return status;
  const uint64_t expected = StateWordCount(*operation);
  if (OpeningOf(*operation) != *opening) return DamagedWords();
  if (reader.rest_size() != expected) {
    return Invalid(absl::StrCat(words.size(), " words, where this operation has ",
                                words.size() - reader.rest_size() + expected));
  }
  const absl::StatusOr<std::string> accumulator = ReadState(*operation, reader);
  if (!accumulator.ok()) return accumulator.status();
  if (!reader.ok()) return DamagedWords();
  return Checked(*accumulator, limits);
}

}  // namespace gridfold::kernels
