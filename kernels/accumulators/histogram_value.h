// What the bins of a histogram's accumulator hold (bytes.h has the form): counts, or one of three
// kinds of exact sums of weights. For accumulators and what is made of them.
#ifndef GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_VALUE_H_
#define GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_VALUE_H_

#include <cstdint>
#include <type_traits>

#include "kernels/accumulators/bytes.h"
#include "kernels/accumulators/state.h"
#include "kernels/contract/histogram.h"
#include "kernels/numerics/sums/weight_sum.h"

namespace gridfold::kernels {

// The byte that opens a run of bins that are 0.
inline constexpr uint8_t kCountRun = 0x00;
inline constexpr uint8_t kNumberRun = 0x80;
template <class Value>
inline constexpr uint8_t kRun = std::is_same_v<Value, uint64_t> ? kCountRun : kNumberRun;

inline void WriteValue(AccumulatorWriter& writer, uint64_t count) { writer.Integer(count); }
template <class Sum>
void WriteValue(AccumulatorWriter& writer, const Sum& sum) {
  WriteSum(writer, sum);
}

// `sample_count` bounds the value.
inline void ReadValue(AccumulatorReader& reader, ElementType, uint64_t sample_count,
                      uint64_t& count) {
  count = reader.Integer();
  reader.Require(count <= sample_count);
}
template <class Sum>
void ReadValue(AccumulatorReader& reader, ElementType weight_type, uint64_t sample_count,
               Sum& sum) {
  ReadSum(reader, static_cast<int>(8 * ElementSize(weight_type)), !IsUnsigned(weight_type),
          sample_count, sum);
}

// Calls f(Value{}) with what the plan's bins hold.
template <class F>
decltype(auto) VisitValue(const HistogramPlan& plan, F&& f) {
  if (!plan.weight_type.has_value()) return f(uint64_t{});
  if (!IsFloatingPoint(*plan.weight_type)) return f(Int128{});
  if (*plan.weight_type == ElementType::kFloat64) return f(ExactSum<double, 1>{});
  return f(ExactSum<float, 1>{});
}

}  // namespace gridfold::kernels

#endif  // GRIDFOLD_KERNELS_ACCUMULATORS_HISTOGRAM_VALUE_H_
