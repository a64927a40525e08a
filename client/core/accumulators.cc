// Accumulators of the C interface. A handle holds an accumulator's bytes, which merging reads.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/core/conversion.h"
#include "client/core/handles.h"
#include "client/core/last_error.h"
#include "client/core/run.h"
#include "kernels/accumulators/accumulator.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/words.h"

namespace gridfold::core {

namespace {

using Bytes = absl::StatusOr<std::string>;

absl::Status CheckHandle(const void* accumulator, const void* out, absl::string_view name) {
  if (absl::Status status = RequireArgument(accumulator, "accumulator"); !status.ok()) {
    return status;
  }
  return RequireArgument(out, name);
}

// A merge, and the accumulator that it is of.
struct Merged {
  std::unique_ptr<gridfold_accumulator> accumulator;
  kernels::MergedAnswer answer;
  bool weighted = false;
  bool sparse = false;
};

absl::StatusOr<Merged> Fold(const absl::StatusOr<kernels::MergePlan>& plan, bool partial) {
  if (!plan.ok()) return plan.status();
  if (std::holds_alternative<kernels::KeyedMergePlan>(plan->operation)) {
    return kernels::InvalidField("accumulator", "is of found keys, which servers merge");
  }
  auto answer = kernels::RunMerge(*plan, partial, {});
  if (!answer.ok()) return answer.status();
  Merged merged{std::make_unique<gridfold_accumulator>(), *std::move(answer)};
  gridfold_accumulator_description& description = merged.accumulator->description;
  if (auto* const reduction = std::get_if<kernels::ReductionMerge>(&merged.answer)) {
    const auto& operation = std::get<kernels::ReductionPlan>(plan->operation);
    description = {0, ToC(operation.array.element_type), reduction->element_count};
    merged.accumulator->bytes = std::move(reduction->accumulator);
  } else {
    const auto& operation = std::get<kernels::HistogramPlan>(plan->operation);
    description = {1, ToC(operation.array.element_type), operation.array.element_count};
    merged.accumulator->bytes =
        std::move(std::get<kernels::HistogramMerge>(merged.answer).accumulator);
    merged.weighted = operation.weight_type.has_value();
    merged.sparse = operation.sparse;
  }
  return merged;
}

absl::StatusOr<Merged> Merge(std::span<const absl::string_view> parts, bool partial) {
  return Fold(kernels::PlanMerge(parts, kLimits, {}), partial);
}

// A handle for the caller. Its parts are not all of the whole: no answer is asked for.
absl::Status HandOut(absl::StatusOr<Merged> merged, gridfold_accumulator** accumulator) {
  if (!merged.ok()) return merged.status();
  *accumulator = merged->accumulator.release();
  return absl::OkStatus();
}
absl::Status HandOut(std::span<const absl::string_view> parts, gridfold_accumulator** accumulator) {
  return HandOut(Merge(parts, /*partial=*/true), accumulator);
}
absl::Status HandOut(const Bytes& bytes, gridfold_accumulator** accumulator) {
  if (!bytes.ok()) return bytes.status();
  const absl::string_view view = *bytes;
  return HandOut({&view, 1}, accumulator);
}

Bytes AccumulateReduction(gridfold_engine* engine, const gridfold_array* array,
                          const gridfold_reduction_spec* spec) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(array, spec, /*return_states=*/true);
  if (!plan.ok()) return plan.status();
  kernels::ReductionPlan states = kernels::PlanStates(*plan);
  states.overflow_policy = kernels::OverflowPolicy::kWrap;  // Only the whole may be refused for it.
  const auto result = Run(*engine, states, *array, spec->first_index);
  if (!result.ok()) return result.status();
  return kernels::MakeReductionAccumulator(*plan, result->states);
}

Bytes AccumulateHistogram(gridfold_engine* engine, const gridfold_samples* samples,
                          const gridfold_histogram_spec* spec) {
  if (absl::Status status = RequireArgument(engine, "engine"); !status.ok()) return status;
  const auto plan = PlanOf(samples, spec, /*return_states=*/true);
  if (!plan.ok()) return plan.status();
  const auto result = Run(*engine, kernels::PlanStates(*plan), *samples);
  if (!result.ok()) return result.status();
  return kernels::MakeHistogramAccumulator(*plan, *result);
}

// The bytes of the handles that the caller's argument `name` has.
absl::StatusOr<std::vector<absl::string_view>> BytesOf(const gridfold_accumulator* const* handles,
                                                       uint64_t count, absl::string_view name) {
  if (count > 0) {
    if (absl::Status status = RequireArgument(handles, name); !status.ok()) return status;
  }
  std::vector<absl::string_view> views;
  for (uint64_t i = 0; i < count; ++i) {
    absl::Status status = RequireArgument(handles[i], absl::StrCat(name, "[", i, "]"));
    if (!status.ok()) return status;
    views.push_back(handles[i]->bytes);
  }
  return views;
}

absl::Status MergeHandles(const gridfold_accumulator* const* parts, uint64_t part_count,
                          gridfold_accumulator** accumulator) {
  if (absl::Status status = RequireArgument(accumulator, "accumulator"); !status.ok()) {
    return status;
  }
  const auto views = BytesOf(parts, part_count, "parts");
  return views.ok() ? HandOut(*views, accumulator) : views.status();
}

absl::Status SubtractHandles(const gridfold_accumulator* minuend,
                             const gridfold_accumulator* const* subtrahends,
                             uint64_t subtrahend_count, gridfold_accumulator** accumulator) {
  absl::Status status = RequireArgument(accumulator, "accumulator");
  if (status.ok()) status = RequireArgument(minuend, "minuend");
  if (!status.ok()) return status;
  const auto views = BytesOf(subtrahends, subtrahend_count, "subtrahends");
  if (!views.ok()) return views.status();
  const auto plan = kernels::PlanSubtraction(minuend->bytes, *views, kLimits, {});
  return HandOut(Fold(plan, /*partial=*/true), accumulator);
}

// The answer of an accumulator, which is of the right kind of operation.
absl::StatusOr<Merged> AnswerOf(const gridfold_accumulator* accumulator, const void* result,
                                bool is_histogram, bool partial) {
  if (absl::Status status = CheckHandle(accumulator, result, "result"); !status.ok()) {
    return status;
  }
  if ((accumulator->description.is_histogram != 0) != is_histogram) {
    return kernels::InvalidField("accumulator",
                                 is_histogram ? "is of a reduction" : "is of a histogram");
  }
  const absl::string_view view = accumulator->bytes;
  return Merge({&view, 1}, partial);
}

Bytes FromWords(const int64_t* words, uint64_t word_count) {
  if (word_count > 0) {
    if (absl::Status status = RequireArgument(words, "words"); !status.ok()) return status;
  }
  return kernels::AccumulatorOfWords({words, word_count}, kLimits);
}

absl::Status ToWords(const gridfold_accumulator* accumulator, int64_t* words, uint64_t word_count) {
  if (absl::Status status = CheckHandle(accumulator, words, "words"); !status.ok()) return status;
  const absl::StatusOr<uint64_t> expected = kernels::WordCountOf(accumulator->bytes, kLimits);
  if (!expected.ok()) return expected.status();
  if (word_count != *expected) {
    return kernels::InvalidField("word_count",
                                 absl::StrCat(word_count, ", where there are ", *expected));
  }
  const auto made = kernels::WordsOf(accumulator->bytes, kLimits);
  if (made.ok()) std::copy(made->begin(), made->end(), words);
  return made.status();
}

}  // namespace

}  // namespace gridfold::core

using namespace gridfold::core;  // NOLINT: the functions below belong to it, but for their names.

gridfold_status gridfold_accumulate_reduction(gridfold_engine* engine, const gridfold_array* array,
                                              const gridfold_reduction_spec* spec,
                                              gridfold_accumulator** accumulator) {
  return Guarded([&] {
    absl::Status status = RequireArgument(accumulator, "accumulator");
    return status.ok() ? HandOut(AccumulateReduction(engine, array, spec), accumulator) : status;
  });
}

gridfold_status gridfold_accumulate_histogram(gridfold_engine* engine,
                                              const gridfold_samples* samples,
                                              const gridfold_histogram_spec* spec,
                                              gridfold_accumulator** accumulator) {
  return Guarded([&] {
    absl::Status status = RequireArgument(accumulator, "accumulator");
    return status.ok() ? HandOut(AccumulateHistogram(engine, samples, spec), accumulator) : status;
  });
}

gridfold_status gridfold_accumulator_merge(const gridfold_accumulator* const* parts,
                                           uint64_t part_count,
                                           gridfold_accumulator** accumulator) {
  return Guarded([&] { return MergeHandles(parts, part_count, accumulator); });
}

gridfold_status gridfold_accumulator_subtract(const gridfold_accumulator* minuend,
                                              const gridfold_accumulator* const* subtrahends,
                                              uint64_t subtrahend_count,
                                              gridfold_accumulator** accumulator) {
  return Guarded(
      [&] { return SubtractHandles(minuend, subtrahends, subtrahend_count, accumulator); });
}

gridfold_status gridfold_accumulator_parse(const void* bytes, uint64_t byte_count,
                                           gridfold_accumulator** accumulator) {
  return Guarded([&] {
    absl::Status status = RequireArgument(accumulator, "accumulator");
    if (status.ok() && byte_count > 0) status = RequireArgument(bytes, "bytes");
    if (!status.ok()) return status;
    const absl::string_view view(static_cast<const char*>(bytes), byte_count);
    return HandOut({&view, 1}, accumulator);
  });
}

gridfold_status gridfold_accumulator_bytes(const gridfold_accumulator* accumulator,
                                           const void** bytes, uint64_t* byte_count) {
  return Guarded([&] {
    absl::Status status = CheckHandle(accumulator, bytes, "bytes");
    if (status.ok()) status = RequireArgument(byte_count, "byte_count");
    if (!status.ok()) return status;
    *bytes = accumulator->bytes.data();
    *byte_count = accumulator->bytes.size();
    return status;
  });
}

gridfold_status gridfold_accumulator_describe(const gridfold_accumulator* accumulator,
                                              gridfold_accumulator_description* description) {
  return Guarded([&] {
    absl::Status status = CheckHandle(accumulator, description, "description");
    if (status.ok()) *description = accumulator->description;
    return status;
  });
}

gridfold_status gridfold_accumulator_reduction(const gridfold_accumulator* accumulator,
                                               int32_t partial, gridfold_reduction** result) {
  return Guarded([&]() -> absl::Status {
    auto merged = AnswerOf(accumulator, result, /*is_histogram=*/false, partial != 0);
    if (!merged.ok()) return merged.status();
    auto& reduction = std::get<gridfold::kernels::ReductionMerge>(merged->answer);
    *result = new gridfold_reduction{std::move(reduction.result)};
    return absl::OkStatus();
  });
}

gridfold_status gridfold_accumulator_histogram(const gridfold_accumulator* accumulator,
                                               gridfold_histogram** result) {
  return Guarded([&]() -> absl::Status {
    auto merged = AnswerOf(accumulator, result, /*is_histogram=*/true, /*partial=*/false);
    if (!merged.ok()) return merged.status();
    auto& histogram = std::get<gridfold::kernels::HistogramMerge>(merged->answer);
    *result = NewHistogram(std::move(histogram.result), merged->weighted, merged->sparse);
    return absl::OkStatus();
  });
}

gridfold_status gridfold_accumulator_word_count(const gridfold_accumulator* accumulator,
                                                uint64_t* word_count) {
  return Guarded([&] {
    absl::Status status = CheckHandle(accumulator, word_count, "word_count");
    if (!status.ok()) return status;
    const auto count = gridfold::kernels::WordCountOf(accumulator->bytes, kLimits);
    if (count.ok()) *word_count = *count;
    return count.status();
  });
}

gridfold_status gridfold_accumulator_to_words(const gridfold_accumulator* accumulator,
                                              int64_t* words, uint64_t word_count) {
  return Guarded([&] { return ToWords(accumulator, words, word_count); });
}

gridfold_status gridfold_accumulator_from_words(const int64_t* words, uint64_t word_count,
                                                gridfold_accumulator** accumulator) {
  return Guarded([&] {
    absl::Status status = RequireArgument(accumulator, "accumulator");
    return status.ok() ? HandOut(FromWords(words, word_count), accumulator) : status;
  });
}

void gridfold_accumulator_free(gridfold_accumulator* accumulator) { delete accumulator; }
