// Compiled without contracting products and sums, which are rounded by themselves.
#include "client/library/compact_histogram.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include "client/library/shared_conversion.h"

namespace gridfold::client {

namespace {

template <class Narrow>
std::vector<uint64_t> Unpack(const std::string& bytes) {
  std::vector<uint64_t> counts(bytes.size() / sizeof(Narrow));
  for (size_t i = 0; i < counts.size(); ++i) {
    Narrow count;
    std::memcpy(&count, bytes.data() + i * sizeof(Narrow), sizeof(Narrow));
    counts[i] = count;
  }
  return counts;
}

}  // namespace

std::vector<uint64_t> CountsOf(const v1::HistogramCounts& counts) {
  const std::string& bytes = counts.packed_counts();
  if (bytes.empty()) return ToVector<uint64_t>(counts.counts());
  switch (counts.packed_count_bytes()) {
    case 1: return Unpack<uint8_t>(bytes);
    case 2: return Unpack<uint16_t>(bytes);
    case 4: return Unpack<uint32_t>(bytes);
    case 8: return Unpack<uint64_t>(bytes);
    default: return {};
  }
}

std::vector<double> EdgesOf(const v1::EvenEdges& even, uint64_t bin_count) {
  const double unit = std::isfinite(even.upper_bound() - even.lower_bound()) ? 1 : 2;
  const double lower = even.lower_bound() / unit;
  const double step = (even.upper_bound() / unit - lower) / static_cast<double>(bin_count);
  std::vector<double> edges(bin_count + 1);
  for (uint64_t i = 0; i < bin_count; ++i) {
    const double offset = static_cast<double>(i) * step;
    edges[i] = (offset + lower) * unit;
  }
  edges[bin_count] = even.upper_bound();
  return edges;
}

}  // namespace gridfold::client
