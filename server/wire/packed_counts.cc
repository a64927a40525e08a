#include "server/wire/packed_counts.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

namespace gridfold::server {

namespace {

static_assert(std::endian::native == std::endian::little);

template <class Narrow>
void Pack(const std::vector<uint64_t>& counts, v1::HistogramCounts& packed) {
  std::string& bytes = *packed.mutable_packed_counts();
  bytes.resize(counts.size() * sizeof(Narrow));
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<Narrow>(counts[i]);
    std::memcpy(bytes.data() + i * sizeof(Narrow), &count, sizeof(Narrow));
  }
  packed.set_packed_count_bytes(sizeof(Narrow));
}

}  // namespace

void PackCounts(const std::vector<uint64_t>& counts, v1::HistogramCounts& packed) {
  if (counts.empty()) return;
  uint64_t bits = 0;  // That any count has.
  for (const uint64_t count : counts) bits |= count;
  if (bits <= std::numeric_limits<uint8_t>::max()) {
    Pack<uint8_t>(counts, packed);
  } else if (bits <= std::numeric_limits<uint16_t>::max()) {
    Pack<uint16_t>(counts, packed);
  } else if (bits <= std::numeric_limits<uint32_t>::max()) {
    Pack<uint32_t>(counts, packed);
  } else {
    Pack<uint64_t>(counts, packed);
  }
}

}  // namespace gridfold::server
