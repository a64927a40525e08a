#include "kernels/accumulators/histogram_accumulator_header.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace gridfold::kernels {

namespace {

// The kind of integer bins of which the first integer is 2^63 or more.
constexpr uint8_t kUnsignedIntegers = 3;

// Equal by their bits: a bound of -0.0 is another one than 0.0 in the answer's edges.
bool SameBits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool SameLayout(const PlannedBins& a, const PlannedBins& b) {
  return a.kind == b.kind && a.bin_count == b.bin_count && SameBits(a.lower_bound, b.lower_bound) &&
         SameBits(a.upper_bound, b.upper_bound) && a.first_value == b.first_value &&
         a.first_unsigned_value == b.first_unsigned_value &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(), SameBits);
}

void WriteLayout(const PlannedBins& bins, AccumulatorWriter& writer) {
  const bool is_unsigned = bins.first_unsigned_value != 0;
  writer.Byte(is_unsigned ? kUnsignedIntegers : static_cast<uint8_t>(bins.kind));
  writer.Integer(bins.bin_count);
  switch (bins.kind) {
    case BinKind::kEven:
      writer.Double(bins.lower_bound);
      writer.Double(bins.upper_bound);
      return;
    case BinKind::kTable:
      for (const double edge : bins.edges) writer.Double(edge);
      return;
    case BinKind::kInteger:
      writer.Fixed(
          is_unsigned ? bins.first_unsigned_value : static_cast<uint64_t>(bins.first_value), 8);
      return;
  }
}

BinSpec ReadLayout(AccumulatorReader& reader) {
  const uint8_t kind = reader.Byte();
  reader.Require(kind <= kUnsignedIntegers);
  const uint64_t bin_count = reader.Integer();
  if (kind == kUnsignedIntegers) {
    const uint64_t first = reader.Fixed(8);
    reader.Require((first >> 63) != 0);
    return IntegerBinsSpec{.bin_count = bin_count, .first_unsigned_value = first};
  }
  switch (static_cast<BinKind>(kind)) {
    case BinKind::kEven: {
      const double lower_bound = reader.Double();
      const double upper_bound = reader.Double();
      return EvenBinsSpec{bin_count, lower_bound, upper_bound};
    }
    case BinKind::kTable: {
      EdgeBinsSpec table;
      reader.Require(bin_count < reader.rest_size() / sizeof(double));
      if (!reader.ok()) return table;
      table.edges.resize(bin_count + 1);
      for (double& edge : table.edges) edge = reader.Double();
      return table;
    }
    case BinKind::kInteger: break;
  }
  return IntegerBinsSpec{static_cast<int64_t>(reader.Fixed(8)), bin_count};
}

ElementType ReadElementType(AccumulatorReader& reader) {
  const uint8_t type = reader.Byte();
  reader.Require(type < kElementTypeCount);
  return reader.ok() ? static_cast<ElementType>(type) : ElementType{};
}

}  // namespace

void WriteHistogramHeader(const HistogramPlan& plan, const std::vector<PlannedBins>& bins,
                          AccumulatorWriter& writer) {
  writer.Byte(static_cast<uint8_t>(plan.array.element_type));
  writer.Byte(static_cast<uint8_t>(plan.out_of_range_policy));
  writer.Byte(plan.two_dimensional ? 1 : 0);
  writer.Byte(plan.sparse ? 1 : 0);
  writer.Byte(plan.weight_type.has_value() ? 1 : 0);
  writer.Byte(plan.weight_type.has_value() ? static_cast<uint8_t>(*plan.weight_type) : 0);
  writer.Integer(plan.channel_count);
  writer.Integer(plan.quantiles.size());
  for (const double quantile : plan.quantiles) writer.Double(quantile);
  const bool all_same = std::all_of(bins.begin(), bins.end(), [&](const PlannedBins& other) {
    return SameLayout(bins.front(), other);
  });
  const size_t written = all_same ? 1 : bins.size();
  writer.Integer(written);
  for (size_t i = 0; i < written; ++i) WriteLayout(bins[i], writer);
}

HistogramHeader ReadHistogramHeader(AccumulatorReader& reader) {
  HistogramHeader header;
  HistogramSpec& spec = header.spec;
  header.element_type = ReadElementType(reader);
  spec.out_of_range_policy = static_cast<OutOfRangePolicy>(reader.Bool());
  spec.two_dimensional = reader.Bool();
  spec.sparse = reader.Bool();
  const bool weighted = reader.Bool();
  const ElementType weight_type = ReadElementType(reader);
  if (weighted) spec.weight_type = weight_type;
  reader.Require(weighted || weight_type == ElementType{});
  const uint64_t channel_count = reader.Integer();
  reader.Require(channel_count <= std::numeric_limits<uint32_t>::max());
  spec.channel_count = static_cast<uint32_t>(channel_count);
  const uint64_t quantile_count = reader.Integer();
  reader.Require(quantile_count <= reader.rest_size() / sizeof(double));
  if (!reader.ok()) return header;
  spec.quantiles.resize(quantile_count);
  for (double& quantile : spec.quantiles) quantile = reader.Double();
  const uint64_t layout_count = reader.Integer();
  for (uint64_t i = 0; i < layout_count && reader.ok(); ++i)
    spec.bins.push_back(ReadLayout(reader));
  spec.return_states = true;
  return header;
}

const char* DifferenceOf(const HistogramHeader& a, const HistogramHeader& b) {
  if (a.element_type != b.element_type) return "element type";
  if (a.spec.weight_type != b.spec.weight_type) return "weight type";
  if (a.spec.two_dimensional != b.spec.two_dimensional) return "number of dimensions";
  if (a.spec.channel_count != b.spec.channel_count) return "number of channels";
  if (a.spec.out_of_range_policy != b.spec.out_of_range_policy) return "out-of-range policy";
  if (a.spec.sparse != b.spec.sparse) return "format";
  if (a.spec.quantiles != b.spec.quantiles) return "list of quantiles";
  return "list of bins";
}

}  // namespace gridfold::kernels
