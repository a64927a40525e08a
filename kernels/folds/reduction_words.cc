#include "kernels/folds/reduction_words.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/reduction_finish.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/folds/word_sums.h"
#include "kernels/numerics/statistics/statistic_value.h"

namespace gridfold::kernels {

namespace {

constexpr uint32_t kPartsOfSums = kMomentParts | kTallyPart | kBitsPart;

bool IgnoresNan(const ReductionPlan& plan) { return plan.nan_policy == NanPolicy::kIgnore; }

// --- Parts of a state. Moments are exact sums.

template <class Moment>
uint64_t CountWords(const Moment& moment) {
  return WordsIn(moment.sum);
}
template <class S>
uint64_t CountWords(const TallyState<S>&) {
  return 3 * kWordsOfCount;
}
template <class S>
uint64_t CountWords(const BitsState<S>&) {
  return uint64_t{3} * 8 * sizeof(S);
}

template <class Moment>
void WritePart(WordWriter& writer, const Moment& moment) {
  WriteWords(writer, moment.sum);
}
template <class S>
void WritePart(WordWriter& writer, const TallyState<S>& part) {
  for (const uint64_t count : {part.nonzero, part.nan, part.infinite}) writer.Count(count);
}
// A flag for each bit, which says by its number of parts: not set in all elements; set in one; set
// in an odd number of elements.
template <class S>
void WritePart(WordWriter& writer, const BitsState<S>& part) {
  const auto not_all = static_cast<S>(~part.all);
  for (const S bits : {not_all, part.any, part.parity}) {
    for (size_t bit = 0; bit < 8 * sizeof(S); ++bit) {
      writer.Flag(((static_cast<uint64_t>(bits) >> bit) & 1) != 0);
    }
  }
}

template <class Moment>
void ReadPart(WordReader& reader, Moment& moment) {
  ReadWords(reader, moment.sum);
}
template <class S>
void ReadPart(WordReader& reader, TallyState<S>& part) {
  for (uint64_t* const count : {&part.nonzero, &part.nan, &part.infinite}) *count = reader.Count();
}
// The bits for which `is_set` is true of the number of parts.
template <class S, class F>
S ReadBits(WordReader& reader, F&& is_set) {
  uint64_t bits = 0;
  for (size_t bit = 0; bit < 8 * sizeof(S); ++bit) {
    bits |= uint64_t{is_set(reader.Flags())} << bit;
  }
  return static_cast<S>(bits);
}
template <class S>
void ReadPart(WordReader& reader, BitsState<S>& part) {
  part.all = ReadBits<S>(reader, [](int64_t parts) { return parts == 0; });
  part.any = ReadBits<S>(reader, [](int64_t parts) { return parts > 0; });
  part.parity = ReadBits<S>(reader, [](int64_t parts) { return parts % 2 == 1; });
}

// Calls f(PartSet<kPart>{}) for each part that the plan needs.
template <class S, class F>
void ForEachSum(const ReductionPlan& plan, F&& f) {
  ForEachPartOf<S>(PartsOf(plan), [&](auto part) {
    if constexpr ((part & kPartsOfSums) != 0) f(part);
  });
}

template <class T>
void WriteGroups(const ReductionPlan& plan, absl::string_view body, WordWriter& writer) {
  using S = ComputeType<T>;
  AccumulatorReader reader(body.substr(OpenAccumulator(OpeningOf(plan))->bytes.size()));
  FullState<S> state;
  for (uint64_t group = 0; group < plan.grouping.group_count; ++group) {
    const GroupFacts facts{.element_count = reader.Integer(), .ignore_nan = IgnoresNan(plan)};
    ResetParts(PartsOf(plan), state);
    if (facts.element_count > 0) {
      ReadParts<T>(reader, PartsOf(plan), facts, PartsFrom::kHere, state);
    }
    writer.Count(facts.element_count);
    ForEachSum<S>(plan, [&](auto part) { WritePart(writer, state.template Part<part>()); });
  }
}

// How many words one group has behind its number of elements.
template <class S>
uint64_t StateWordCount(const ReductionPlan& plan) {
  uint64_t count = 0;
  const FullState<S> state{};
  ForEachSum<S>(plan, [&](auto part) { count += CountWords(state.template Part<part>()); });
  return count;
}

template <class S>
std::string ReadGroups(const ReductionPlan& plan, WordReader& reader) {
  AccumulatorWriter writer(AccumulatorKind::kReduction);
  WriteReductionHeader(plan, writer);
  FullState<S> state;
  for (uint64_t group = 0; group < plan.grouping.group_count && reader.ok(); ++group) {
    const uint64_t element_count = reader.Count();
    if (element_count == 0) {
      reader.Zeros(StateWordCount<S>(plan));
    } else {
      ForEachSum<S>(plan, [&](auto part) { ReadPart(reader, state.template Part<part>()); });
    }
    WriteGroup(PartsOf(plan), element_count, state, writer);
  }
  return std::move(writer).Finish();
}

// Calls f(TypeTag<S>{}) with the compute type of the plan's elements.
template <class F>
decltype(auto) VisitComputeType(const ReductionPlan& plan, F&& f) {
  return VisitElementType(plan.array.element_type, [&](auto tag) {
    return f(TypeTag<ComputeType<typename decltype(tag)::type>>{});
  });
}

}  // namespace

absl::Status CheckIsSum(const ReductionPlan& plan) {
  const std::optional<size_t> other = FindStatisticBeyond(plan, kPartsOfSums);
  if (!other.has_value()) return absl::OkStatus();
  return InvalidField(absl::StrCat("statistics[", *other, "]"),
                      absl::StrCat(StatisticName(plan.statistics[*other]),
                                   " is no sum and has no words; merge accumulators"));
}

uint64_t GroupWordCount(const ReductionPlan& plan) {
  return VisitComputeType(plan, [&](auto tag) {
    const uint64_t of_a_group = kWordsOfCount + StateWordCount<typename decltype(tag)::type>(plan);
    return of_a_group * plan.grouping.group_count;
  });
}

std::string OpeningOf(const ReductionPlan& plan) {
  AccumulatorWriter writer(AccumulatorKind::kReduction);
  WriteReductionHeader(plan, writer);
  return std::move(writer).Finish();
}

void WriteGroupWords(const ReductionPlan& plan, absl::string_view body, WordWriter& writer) {
  VisitElementType(plan.array.element_type, [&](auto tag) {
    WriteGroups<typename decltype(tag)::type>(plan, body, writer);
  });
}

std::string ReadGroupWords(const ReductionPlan& plan, WordReader& reader) {
  return VisitComputeType(
      plan, [&](auto tag) { return ReadGroups<typename decltype(tag)::type>(plan, reader); });
}

}  // namespace gridfold::kernels
