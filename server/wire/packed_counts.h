// Counts of a histogram in few bytes.
#ifndef GRIDFOLD_SERVER_WIRE_PACKED_COUNTS_H_
#define GRIDFOLD_SERVER_WIRE_PACKED_COUNTS_H_

#include <cstdint>
#include <vector>

#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::server {

// Sets packed_counts and packed_count_bytes, which is the least that holds the largest count.
void PackCounts(const std::vector<uint64_t>& counts, v1::HistogramCounts& packed);

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_WIRE_PACKED_COUNTS_H_
