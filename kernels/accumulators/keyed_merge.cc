#include "kernels/accumulators/keyed_merge.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/accumulators/keyed_groups.h"
#include "kernels/accumulators/reduction_header.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/arithmetic/ordered_key.h"

namespace gridfold::kernels {

namespace {

constexpr uint64_t kUint64Max = std::numeric_limits<uint64_t>::max();

// What stands before the keys.
struct Header {
  ReductionHeader reduction;
  ElementType key_type{};
  uint64_t key_count_max = 0;
};

Header ReadHeader(AccumulatorReader& reader) {
  Header header{.reduction = ReadReductionHeader(reader)};
  const uint8_t type = reader.Byte();
  reader.Require(type < kElementTypeCount && !IsFloatingPoint(static_cast<ElementType>(type)));
  header.key_type = static_cast<ElementType>(type);
  header.key_count_max = reader.Integer();
  reader.Require(header.key_count_max == 0 || header.reduction.group_count <= header.key_count_max);
  return header;
}

// The largest number, as an ordered key, that a key of the type has; ~x for the smallest one of
// signed types.
struct KeyBounds {
  uint64_t least;
  uint64_t largest;
};
KeyBounds BoundsOf(ElementType key_type) {
  const uint64_t bits = 8 * ElementSize(key_type);
  if (IsUnsigned(key_type)) return {0, kUint64Max >> (64 - bits)};
  const uint64_t largest = (uint64_t{1} << (bits - 1)) - 1;
  const uint64_t sign = KeySignOf(key_type);
  return {~largest ^ sign, largest ^ sign};
}

// The keys of a body, from the least on, as numbers that are ordered as they are.
class KeyReader {
 public:
  KeyReader(AccumulatorReader& reader, ElementType type, uint64_t count)
      : reader_(reader), bounds_(BoundsOf(type)), sign_(KeySignOf(type)), left_(count) {}

  bool has_next() const { return left_ > 0; }

  uint64_t Next() {
    if (is_first_) {
      number_ = reader_.Fixed(sizeof(uint64_t)) ^ sign_;
      reader_.Require(number_ >= bounds_.least && number_ <= bounds_.largest);
      is_first_ = false;
    } else {
      const uint64_t more = reader_.Integer();
      reader_.Require(more > 0 && more <= bounds_.largest - number_);
      number_ += reader_.ok() ? more : 0;
    }
    --left_;
    return number_;
  }

 private:
  AccumulatorReader& reader_;
  const KeyBounds bounds_;
  const uint64_t sign_;
  uint64_t left_;
  uint64_t number_ = 0;
  bool is_first_ = true;
};

// A body whose keys are read beside its groups.
struct Part {
  explicit Part(absl::string_view body) : key_bytes(body), groups(body) {}

  AccumulatorReader key_bytes;
  AccumulatorReader groups;
  std::vector<KeyReader> keys;  // One, once the header has been read.
};

template <class T>
class Merger {
 public:
  Merger(const KeyedMergePlan& plan, std::span<const absl::string_view> bodies, bool partial)
      : plan_(plan),
        groups_plan_(PlanOfGroups(plan.keyed, {0})),
        parts_(PartsOf(groups_plan_)),
        values_(groups_plan_, partial ? AnswerOf::kPartialMerge : AnswerOf::kMerge,
                partial ? SmallGroups::kHaveNoValue : SmallGroups::kAreNan) {
    readers_.reserve(bodies.size());
    for (const absl::string_view body : bodies) readers_.emplace_back(body);
  }

  absl::StatusOr<KeyedMerge> Run(const std::stop_token& stop) {
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      if (absl::Status status = Open(i); !status.ok()) return status;
    }
    while (!next_.empty()) {
      if (stop.stop_requested()) return absl::CancelledError("stopped");
      if (absl::Status status = MergeGroup(); !status.ok()) return status;
    }
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (readers_[i].groups.rest_size() != 0)
        return AccumulatorError(Combination::kMerge, i, DamagedAccumulator());
    }
    return Finish();
  }

 private:
  using S = ComputeType<T>;
  using NextKey = std::pair<uint64_t, size_t>;  // And whose it is.

  // Reads the header and checks the keys, behind which the groups begin.
  absl::Status Open(size_t i) {
    Part& part = readers_[i];
    const Header header = ReadHeader(part.groups);
    KeyReader all(part.groups, header.key_type, header.reduction.group_count);
    while (all.has_next() && part.groups.ok()) all.Next();
    if (!part.groups.ok()) return AccumulatorError(Combination::kMerge, i, DamagedAccumulator());
    ReadHeader(part.key_bytes);
    part.keys.emplace_back(part.key_bytes, header.key_type, header.reduction.group_count);
    Advance(i);
    return absl::OkStatus();
  }

  void Advance(size_t i) {
    KeyReader& keys = readers_[i].keys.front();
    if (keys.has_next()) next_.push({keys.Next(), i});
  }

  absl::Status MergeGroup() {
    const uint64_t number = next_.top().first;
    if (answer_.keys.size() == plan_.keyed.group_count_max) {
      return AboveLimit("accumulators", absl::StrCat("more than ", plan_.keyed.group_count_max,
                                                     " different keys occur"));
    }
    ResetParts(parts_, merged_);
    uint64_t element_count = 0;
    while (!next_.empty() && next_.top().first == number) {
      const size_t i = next_.top().second;
      next_.pop();
      absl::Status status = AddPart(readers_[i].groups, element_count);
      if (!status.ok()) return AccumulatorError(Combination::kMerge, i, status);
      Advance(i);
    }
    element_count_ += std::min(element_count, kUint64Max - element_count_);
    const uint64_t group = answer_.keys.size();
    answer_.keys.push_back(number ^ KeySignOf(plan_.keyed.keys.element_type));
    answer_.counts.push_back(element_count);
    WriteGroup(parts_, element_count, merged_, groups_);
    values_.Resize(group + 1);
    return values_.Add(group, element_count, merged_);
  }

  absl::Status AddPart(AccumulatorReader& reader, uint64_t& element_count) {
    const GroupFacts part{.element_count = reader.Integer(),
                          .ignore_nan = groups_plan_.nan_policy == NanPolicy::kIgnore};
    reader.Require(part.element_count > 0);
    if (reader.ok()) ReadParts<T>(reader, parts_, part, PartsFrom::kAnybody, part_);
    if (!reader.ok()) return DamagedAccumulator();
    if (part.element_count > kAccumulatedElementsMax - element_count) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a group has more than ", kAccumulatedElementsMax, " elements with those of this part"));
    }
    element_count += part.element_count;
    MergeParts(parts_, part_, merged_);
    return absl::OkStatus();
  }

  KeyedMerge Finish() {
    AccumulatorWriter writer = OpenKeyedAccumulator(plan_.keyed, plan_.key_count_max, answer_.keys);
    writer.Append(groups_);
    answer_.columns = std::move(values_).Finish().columns;
    return {std::move(answer_), std::move(writer).Finish(), element_count_};
  }

  const KeyedMergePlan& plan_;
  const ReductionPlan groups_plan_;
  const uint32_t parts_;
  std::vector<Part> readers_;
  std::priority_queue<NextKey, std::vector<NextKey>, std::greater<>> next_;
  AccumulatorWriter groups_;
  ValueCollector values_;
  KeyedAnswer answer_;
  FullState<S> merged_;
  FullState<S> part_;
  uint64_t element_count_ = 0;
};

}  // namespace

absl::StatusOr<KeyedMergePlan> PlanOfKeyedBody(absl::string_view body, uint64_t group_count_max) {
  AccumulatorReader reader(body);
  const Header header = ReadHeader(reader);
  if (!reader.ok()) return DamagedAccumulator();
  absl::Status status = CheckGroupCount(header.reduction, group_count_max);
  if (!status.ok()) return status;
  KeyedReductionSpec spec{.groups = FoundKeysSpec{.key_count_max = header.key_count_max},
                          .reduction = SpecOf(header.reduction)};
  absl::StatusOr<KeyedReductionPlan> keyed = OutlineKeyedReduction(
      ArrayDescription::Vector(header.key_type, 0),
      ArrayDescription::Vector(header.reduction.element_type, 0), std::move(spec), group_count_max);
  if (!keyed.ok()) return keyed.status();
  return KeyedMergePlan{*std::move(keyed), header.key_count_max};
}

absl::Status CheckKeyedBodiesAgree(absl::string_view first, absl::string_view body) {
  AccumulatorReader reader(first);
  AccumulatorReader other_reader(body);
  const Header header = ReadHeader(reader);
  const Header other = ReadHeader(other_reader);
  if (!other_reader.ok()) return DamagedAccumulator();
  const char* difference = DifferenceOf(header.reduction, other.reduction);
  if (header.key_type != other.key_type) difference = "type of keys";
  if (header.key_count_max != other.key_count_max) difference = "limit of keys";
  if (difference == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its ", difference, " is not the first one's"));
}

absl::StatusOr<KeyedMerge> MergeKeyed(const KeyedMergePlan& plan,
                                      std::span<const absl::string_view> bodies, bool partial,
                                      const std::stop_token& stop) {
  return VisitElementType(plan.keyed.reduction.array.element_type, [&](auto tag) {
    return Merger<typename decltype(tag)::type>(plan, bodies, partial).Run(stop);
  });
}

}  // namespace gridfold::kernels
