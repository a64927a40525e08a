// The numbers of a generated array.
#ifndef GRIDFOLD_CLIENT_LOAD_WORK_ARRAY_VALUES_H_
#define GRIDFOLD_CLIENT_LOAD_WORK_ARRAY_VALUES_H_

#include <cstdint>
#include <random>
#include <vector>

#include "client/load/work/scenario.h"

namespace gridfold::load {

// How many elements each of `array_count` arrays has: choices in turn; of a logarithmic range the
// middles of as many equal parts, so that few arrays represent it. Whole rows where there are rows.
std::vector<uint64_t> SpreadElementCounts(const RequestKind& kind, size_t array_count);

// `element_count` integers of the kind's distribution, from value_min to value_max.
std::vector<int32_t> DrawValues(const RequestKind& kind, uint64_t element_count,
                                std::mt19937_64& random);

// What an operation is given.
struct OperationValues {
  std::vector<int32_t> elements;
  std::vector<uint64_t> shape = {};  // Of the elements; needed where groups run along axes.
  std::vector<int32_t> viewed_elements = {};   // Of the array of which the elements are a view.
  std::vector<int32_t> y_elements = {};        // Of what HasYElements.
  std::vector<int32_t> weights = {};           // Of weighted histograms.
  std::vector<int32_t> keys = {};              // Of reductions by key, one for each element.
  std::vector<uint64_t> segment_offsets = {};  // Of ragged segments, none of them empty.
  // 1 for elements that count, else 0. It begins again where the elements go on. Empty: all count.
  std::vector<int32_t> mask = {};

  bool counts(uint64_t element) const { return mask.empty() || mask[element % mask.size()] != 0; }
};
OperationValues DrawOperation(const RequestKind& kind, uint64_t element_count,
                              std::mt19937_64& random);

}  // namespace gridfold::load

#endif  // GRIDFOLD_CLIENT_LOAD_WORK_ARRAY_VALUES_H_
