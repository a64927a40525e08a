// What an answer in compact form leaves out (ComputeHistogramRequest.compact_answer).
#ifndef GRIDFOLD_CLIENT_LIBRARY_COMPACT_HISTOGRAM_H_
#define GRIDFOLD_CLIENT_LIBRARY_COMPACT_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "gridfold/v1/compute_service.pb.h"

namespace gridfold::client {

// The counts, in whichever form the answer has them; none where their bytes are no such form.
std::vector<uint64_t> CountsOf(const v1::HistogramCounts& counts);

// The edges of so many even bins, at least one, bit for bit as servers compute them.
std::vector<double> EdgesOf(const v1::EvenEdges& even, uint64_t bin_count);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_LIBRARY_COMPACT_HISTOGRAM_H_
