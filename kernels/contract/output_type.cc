#include "kernels/contract/output_type.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "kernels/contract/invalid_field.h"
#include "kernels/numerics/arithmetic/element.h"

namespace gridfold::kernels {

absl::Status CheckOutputType(ElementType output_type, const std::vector<Statistic>& statistics,
                             ElementType element_type) {
  constexpr char kField[] = "output_type";
  if (!IsFloatingPoint(output_type)) {
    return InvalidField(kField, "is no floating-point type");
  }
  const auto is_real = [element_type](Statistic statistic) {
    return ValueKindOf(statistic, element_type) == ValueKind::kDouble;
  };
  if (std::any_of(statistics.begin(), statistics.end(), is_real)) return absl::OkStatus();
  return InvalidField(kField, absl::StrCat("none of the statistics has floating-point values, of ",
                                           ElementTypeName(element_type), " elements"));
}

std::string RoundSlots(std::span<const uint64_t> slots, ElementType output_type) {
  std::string bytes(slots.size() * ElementSize(output_type), '\0');
  VisitFloatingType(output_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < slots.size(); ++i) {
      const T value = RoundTo<T>(std::bit_cast<double>(slots[i]));
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

}  // namespace gridfold::kernels
