// What a figure is that has been measured several times.
#ifndef GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_MEDIAN_H_
#define GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_MEDIAN_H_

#include <algorithm>
#include <vector>

namespace gridfold::transport_benchmark {

// Of at least one value; of an even number of them the upper one.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace gridfold::transport_benchmark

#endif  // GRIDFOLD_CLIENT_TRANSPORT_BENCHMARK_MEDIAN_H_
