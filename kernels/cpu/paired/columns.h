// The columns of a turn of observations, each contiguous.
#ifndef GRIDFOLD_KERNELS_CPU_PAIRED_COLUMNS_H_
#define GRIDFOLD_KERNELS_CPU_PAIRED_COLUMNS_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/contract/array.h"
#include "kernels/contract/paired.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels::cpu {

struct PairedArrays {
  HostSpan x;
  HostSpan y;
  HostSpan weights;
};

template <class T>
class PairedColumns {
 public:
  // Copies the observations [begin, end) but for those that the plan leaves out.
  PairedColumns(const PairedPlan& plan, const PairedArrays& arrays, uint64_t begin, uint64_t end)
      : capacity_(end - begin), column_count_(plan.column_count + (plan.has_weights ? 1 : 0)) {
    elements_.resize(capacity_ * column_count_);
    if (!plan.ignores_nan() && !plan.is_of_matrix()) {
      for (uint64_t c = 0; c < column_count_; ++c) {
        const HostSpan& from = c == plan.column_count ? arrays.weights
                               : c == 0               ? arrays.x
                                                      : arrays.y;
        std::memcpy(elements_.data() + c * capacity_, from.data + begin * sizeof(T),
                    capacity_ * sizeof(T));
      }
      count_ = capacity_;
      return;
    }
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t place = count_;
      bool has_nan = false;
      for (uint64_t c = 0; c < column_count_; ++c) {
        const T x = Element(plan, arrays, i, c);
        has_nan = has_nan || IsNan(x);
        elements_[c * capacity_ + place] = x;
      }
      if (!has_nan || !plan.ignores_nan()) ++count_;
    }
  }

  uint64_t count() const { return count_; }
  const T* column(uint64_t c) const { return elements_.data() + c * capacity_; }

 private:
  static T Element(const PairedPlan& plan, const PairedArrays& arrays, uint64_t i, uint64_t c) {
    if (c == plan.column_count) return LoadUnaligned<T>(arrays.weights.data, i);
    if (plan.has_y) return LoadUnaligned<T>(c == 0 ? arrays.x.data : arrays.y.data, i);
    return LoadUnaligned<T>(arrays.x.data, i * plan.column_count + c);
  }

  const uint64_t capacity_;
  const uint64_t column_count_;
  uint64_t count_ = 0;
  std::vector<T> elements_;
};

}  // namespace gridfold::kernels::cpu

#endif  // GRIDFOLD_KERNELS_CPU_PAIRED_COLUMNS_H_
