#include "kernels/folds/key_edges.h"

#include <limits>

#include "kernels/numerics/arithmetic/wide_integer.h"
#include "kernels/numerics/order/order_key.h"

namespace gridfold::kernels {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <FloatingElement T>
constexpr OrderKey<T> kInfinityKey = static_cast<OrderKey<T>>(order_internal::InfinityBits<T>() |
                                                              order_internal::kSignBit<T>);
template <FloatingElement T>
constexpr OrderKey<T> kNegativeInfinityKey = static_cast<OrderKey<T>>(~kInfinityKey<T>);

// The least number of the type whose key is this one or larger; infinity where there is none. Keys
// go up to the power of two that follows the largest.
double EdgeAt(ElementType type, Uint128 key) {
  return VisitElementType(type, [key](auto tag) -> double {
    using T = typename decltype(tag)::type;
    if constexpr (IntegerElement<T>) {
      return static_cast<double>(static_cast<Int128>(key) - static_cast<Int128>(ToOrderKey(T{0})));
    } else {
      if (key <= kNegativeInfinityKey<T>) return -kInfinity;
      if (key >= kInfinityKey<T>) return kInfinity;
      return static_cast<double>(FromOrderKey<T>(static_cast<OrderKey<T>>(key)));
    }
  });
}

}  // namespace

int KeyBits(ElementType type) { return static_cast<int>(8 * ElementSize(type)); }

bool HasInexactEdges(ElementType type) {
  return !IsFloatingPoint(type) && KeyBits(type) > std::numeric_limits<double>::digits;
}

KeyEdges CutKeys(ElementType type, std::span<const uint64_t> first_keys, int width, int narrower) {
  KeyEdges cut;
  std::vector<Uint128> starts;
  // Of equal edges the largest key is that of the bin behind them: no element has the others.
  const auto add = [&](Uint128 key) {
    const double edge = EdgeAt(type, key);
    if (!cut.edges.empty() && edge == cut.edges.back()) {
      if (edge < kInfinity) starts.back() = key;
      return;
    }
    cut.edges.push_back(edge);
    starts.push_back(key);
  };
  const Uint128 step = Uint128{1} << narrower;
  Uint128 key = 0;
  for (const uint64_t first : first_keys) {
    const Uint128 end = Uint128{first} + (Uint128{1} << width);
    for (key = first; key <= end; key += step) add(key);
  }
  // An element at the last edge is in the bin before it, unless there is a bin behind it.
  const size_t bin_count = starts.size() - 1;
  const Uint128 keys_end = Uint128{1} << KeyBits(type);
  if (cut.edges.back() < kInfinity && starts.back() < keys_end) add(starts.back() + step);
  for (size_t bin = 0; bin < bin_count; ++bin) {
    cut.first_keys.push_back(static_cast<uint64_t>(starts[bin]));
  }
  // The infinite elements have the key at the last edge.
  cut.has_infinity_beside = IsFloatingPoint(type) && cut.edges.back() == kInfinity &&
                            cut.edges.size() == bin_count + 1 && starts.back() == InfinityKey(type);
  return cut;
}

IntegerBinsSpec IntegersFrom(ElementType type, uint64_t first_key, uint64_t count) {
  const uint64_t bits = SlotOfKey(type, first_key);
  if (IsUnsigned(type)) return {.bin_count = count, .first_unsigned_value = bits};
  return {.first_value = static_cast<int64_t>(bits), .bin_count = count};
}

uint64_t InfinityKey(ElementType type) {
  return VisitElementType(type, [](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    if constexpr (FloatingElement<T>) return kInfinityKey<T>;
    return 0;
  });
}

double LargestFinite(ElementType type) { return EdgeAt(type, InfinityKey(type) - 1); }

uint64_t SlotOfKey(ElementType type, uint64_t key) {
  return VisitElementType(type, [key](auto tag) {
    using T = typename decltype(tag)::type;
    return ElementSlot(FromOrderKey<T>(static_cast<OrderKey<T>>(key)));
  });
}

}  // namespace gridfold::kernels
