#include "client/library/array_parts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <variant>

#include "client/library/reduction_conversion.h"

namespace gridfold::client {
namespace {

// Accumulators of more groups take longer than the elements of most parts.
constexpr uint64_t kMergedGroupsMax = 4096;
// As bins are counted: of all channels together, 8 bytes each.
constexpr uint64_t kMergedBinsMax = 65'536;
// A count of bins beyond which it does not matter how many there are; products of two of them fit.
constexpr uint64_t kBinsCounted = std::numeric_limits<uint32_t>::max();

// Numbers from 0 to `count` that cut so many units, of `unit_bytes` each, into parts.
std::vector<uint64_t> EvenCuts(uint64_t count, uint64_t unit_bytes, uint64_t part_bytes) {
  const uint64_t units = std::max<uint64_t>(part_bytes / unit_bytes, 1);
  const uint64_t part_count = (count + units - 1) / units;
  std::vector<uint64_t> cuts = {0};
  for (uint64_t i = 1; i <= part_count; ++i) {
    cuts.push_back(count / part_count * i + std::min(i, count % part_count));
  }
  return cuts;
}

ArrayView Slice(const ArrayView& array, uint64_t first, uint64_t count) {
  return {array.element_type(),
          array.bytes().data() + first * ElementSizeBytes(array.element_type()), count};
}

bool AreOffsets(const Segments& segments, uint64_t element_count) {
  const std::vector<uint64_t>& offsets = segments.offsets;
  return offsets.size() > 1 && offsets.front() == 0 && offsets.back() == element_count &&
         std::is_sorted(offsets.begin(), offsets.end());
}

void SplitWhole(const ArrayView& array, const ReductionOptions& options, uint64_t part_bytes,
                ReductionParts& result) {
  const std::vector<uint64_t> cuts =
      EvenCuts(array.element_count(), ElementSizeBytes(array.element_type()), part_bytes);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    ReductionOptions own = options;
    own.return_accumulator = true;
    own.first_index += cuts[i];
    result.parts.push_back({Slice(array, cuts[i], cuts[i + 1] - cuts[i]), std::move(own)});
  }
}

// By rows: of columns that are merged, or of rows that are groups.
void SplitRows(const ArrayView& array, const ReductionOptions& options, uint64_t part_bytes,
               ReductionParts& result) {
  const uint64_t rows = array.shape()[0];
  const uint64_t columns = array.shape()[1];
  const std::vector<uint64_t> cuts =
      EvenCuts(rows, columns * ElementSizeBytes(array.element_type()), part_bytes);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const uint64_t count = cuts[i + 1] - cuts[i];
    ReductionOptions own = options;
    if (result.are_merged) {
      own.return_accumulator = true;
      own.first_index += cuts[i];
    }
    result.parts.push_back(
        {Slice(array, cuts[i] * columns, count * columns).WithShape(count, columns),
         std::move(own)});
  }
}

void SplitSegments(const ArrayView& array, const ReductionOptions& options, uint64_t part_bytes,
                   ReductionParts& result) {
  const std::vector<uint64_t>& offsets = std::get<Segments>(options.grouping).offsets;
  const uint64_t part_elements =
      std::max<uint64_t>(part_bytes / ElementSizeBytes(array.element_type()), 1);
  ReductionOptions plain = options;
  plain.grouping = WholeArray{};
  for (size_t begin = 0; begin + 1 < offsets.size();) {
    // The last offset that is within a part's reach, and one segment at least.
    const auto after = std::upper_bound(offsets.begin() + begin + 2, offsets.end(),
                                        offsets[begin] + part_elements);
    const size_t end = static_cast<size_t>(after - offsets.begin()) - 1;
    ReductionOptions own = plain;
    Segments segments;
    for (size_t i = begin; i <= end; ++i) segments.offsets.push_back(offsets[i] - offsets[begin]);
    own.grouping = std::move(segments);
    result.parts.push_back(
        {Slice(array, offsets[begin], offsets[end] - offsets[begin]), std::move(own)});
    begin = end;
  }
}

uint64_t BinCount(const BinSpecification& bins) {
  if (const auto* const edges = std::get_if<EdgeBins>(&bins)) return edges->edges.size();
  if (const auto* const even = std::get_if<EvenBins>(&bins)) return even->bin_count;
  if (const auto* const log = std::get_if<LogarithmicBins>(&bins)) return log->bin_count;
  return std::get<IntegerBins>(bins).bin_count;
}

// Of all channels, or of two dimensions.
uint64_t BinCount(const HistogramOptions& options) {
  if (options.bins.empty()) return 0;
  const uint64_t first = std::min(BinCount(options.bins.front()), kBinsCounted);
  const uint64_t last = std::min(BinCount(options.bins.back()), kBinsCounted);
  if (options.y_array) return first * last;
  if (options.bins.size() == 1) return first * options.channel_count;
  return std::accumulate(options.bins.begin(), options.bins.end(), uint64_t{0},
                         [](uint64_t sum, const BinSpecification& bins) {
                           return sum + std::min(BinCount(bins), kBinsCounted);
                         });
}

bool CanSplit(const ArrayView& array, const HistogramOptions& options) {
  return !HasTruths(array, options) && !options.where && !HasRangeToFind(options) &&
         BinCount(options) <= kMergedBinsMax && array.element_count() > 0 &&
         options.channel_count > 0 && array.element_count() % options.channel_count == 0 &&
         HaveEqualCounts(array, options);
}

}  // namespace

const ArrayView* ViewOf(const std::optional<ArrayInput>& input) {
  return input ? std::get_if<ArrayView>(&input->source()) : nullptr;
}

bool HasShapeOfElements(const ArrayView& array) {
  const std::span<const uint64_t> shape = array.shape();
  if (ElementSizeBytes(array.element_type()) == 0 || shape.size() > kDimensionsMax) return false;
  uint64_t rest = array.element_count();
  for (const uint64_t extent : shape) {
    if (extent == 0) return array.element_count() == 0;
    if (rest % extent != 0) return false;
    rest /= extent;
  }
  return shape.empty() || rest == 1;
}

bool IsFlatOrMatrix(const ArrayView& array, const ReductionOptions& options) {
  if (array.is_zero_dimensional() || options.keep_dimensions) return false;
  if (std::holds_alternative<WholeArray>(options.grouping)) return true;
  if (std::holds_alternative<Segments>(options.grouping)) return array.shape().size() < 2;
  return std::holds_alternative<Axis>(options.grouping) && array.shape().size() == 2;
}

bool HasRule(const HistogramOptions& options) {
  return std::any_of(options.bins.begin(), options.bins.end(), [](const BinSpecification& bins) {
    const auto* const even = std::get_if<EvenBins>(&bins);
    return even != nullptr && even->rule.has_value();
  });
}

bool HasRangeToFind(const HistogramOptions& options) {
  return std::any_of(options.bins.begin(), options.bins.end(), [](const BinSpecification& bins) {
    const auto* const even = std::get_if<EvenBins>(&bins);
    return even != nullptr && (even->rule || !(even->lower_bound && even->upper_bound));
  });
}

bool HasProductOfFloats(ElementType type, const ReductionOptions& options) {
  const bool is_float = type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
                        type == ElementType::kFloat32 || type == ElementType::kFloat64;
  return is_float && std::find(options.statistics.begin(), options.statistics.end(),
                               Statistic::kProduct) != options.statistics.end();
}

bool HasTruths(const ArrayView& array, const HistogramOptions& options) {
  if (array.element_type() == ElementType::kBool) return true;
  const ArrayView* const weights = ViewOf(options.weights);
  return weights != nullptr && weights->element_type() == ElementType::kBool;
}

bool HaveEqualCounts(const ArrayView& array, const HistogramOptions& options) {
  if (!HasShapeOfElements(array)) return false;
  for (const auto* const other : {&options.y_array, &options.weights}) {
    if (!*other) continue;
    const ArrayView* const view = ViewOf(*other);
    if (view == nullptr || !HasShapeOfElements(*view) ||
        view->element_count() != array.element_count()) {
      return false;
    }
  }
  return true;
}

ReductionParts SplitReduction(const ArrayView& array, const ReductionOptions& options,
                              uint64_t part_bytes) {
  ReductionParts result;
  if (!HasShapeOfElements(array) || array.element_count() == 0 || !IsFlatOrMatrix(array, options) ||
      HasProductOfFloats(array.element_type(), options) || NeedsWholeArray(options) ||
      array.element_type() == ElementType::kBool) {
    return result;
  }
  if (const auto* const axis = std::get_if<Axis>(&options.grouping)) {
    result.are_merged = axis->axis == 0;
    if (axis->axis > 1) return result;
    if (result.are_merged && array.shape()[1] > kMergedGroupsMax) return result;
    if (!result.are_merged && options.return_accumulator) return result;
    SplitRows(array, options, part_bytes, result);
  } else if (const auto* const segments = std::get_if<Segments>(&options.grouping)) {
    result.are_merged = false;
    if (!array.shape().empty() || options.return_accumulator ||
        !AreOffsets(*segments, array.element_count())) {
      return result;
    }
    SplitSegments(array, options, part_bytes, result);
  } else {
    SplitWhole(array, options, part_bytes, result);
  }
  if (result.parts.size() < 2) result.parts.clear();
  for (const ReductionPart& part : result.parts) {
    result.part_bytes_max = std::max<uint64_t>(result.part_bytes_max, part.array.bytes().size());
  }
  return result;
}

HistogramParts SplitHistogram(const ArrayView& array, const HistogramOptions& options,
                              uint64_t part_bytes) {
  HistogramParts result;
  if (!CanSplit(array, options)) return result;
  uint64_t element_bytes = ElementSizeBytes(array.element_type());
  for (const auto* const other : {&options.y_array, &options.weights}) {
    if (*other) element_bytes += ElementSizeBytes(ViewOf(*other)->element_type());
  }
  const uint64_t frame_bytes = element_bytes * options.channel_count;
  const std::vector<uint64_t> cuts =
      EvenCuts(array.element_count() / options.channel_count, frame_bytes, part_bytes);
  if (cuts.size() <= 2) return result;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const uint64_t first = cuts[i] * options.channel_count;
    const uint64_t count = (cuts[i + 1] - cuts[i]) * options.channel_count;
    HistogramOptions own = options;
    own.return_accumulator = true;
    if (options.y_array) own.y_array = Slice(*ViewOf(options.y_array), first, count);
    if (options.weights) own.weights = Slice(*ViewOf(options.weights), first, count);
    result.parts.push_back({Slice(array, first, count), std::move(own)});
    result.part_bytes_max = std::max(result.part_bytes_max, count * element_bytes);
  }
  return result;
}

}  // namespace gridfold::client
