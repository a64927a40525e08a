#include "kernels/conformance/exact_sum.h"

#include <bit>
#include <utility>
#include <vector>

namespace gridfold::kernels::conformance {

namespace {

// x = integer * 2^exponent.
struct Parts {
  int64_t integer;
  int exponent;
};

Parts PartsOf(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const int field = static_cast<int>(bits >> 52 & 0x7FF);
  const int64_t fraction = static_cast<int64_t>(bits & 0xF'FFFF'FFFF'FFFFu);
  const int64_t integer = field == 0 ? fraction : fraction | int64_t{1} << 52;
  return {bits >> 63 != 0 ? -integer : integer, field == 0 ? -1074 : field - 1075};
}

}  // namespace

void ExactSum::Add(double x) {
  const Parts parts = PartsOf(x);
  AddScaled(parts.integer, parts.exponent);
}

void ExactSum::AddSquare(double x) {
  const Parts parts = PartsOf(x < 0 ? -x : x);
  const int64_t high = parts.integer >> 27;
  const int64_t low = parts.integer & ((int64_t{1} << 27) - 1);
  AddScaled(high * high, 2 * parts.exponent + 54);
  AddScaled(2 * high * low, 2 * parts.exponent + 27);
  AddScaled(low * low, 2 * parts.exponent);
}

void ExactSum::AddScaled(int64_t integer, int exponent) {
  const int position = exponent - kMinExponent;
  const int digit = position / 32;
  const __int128 shifted = static_cast<__int128>(integer) * (int64_t{1} << (position % 32));
  digits_[digit] += static_cast<int64_t>(shifted & 0xFFFF'FFFF);
  digits_[digit + 1] += static_cast<int64_t>(shifted >> 32 & 0xFFFF'FFFF);
  digits_[digit + 2] += static_cast<int64_t>(shifted >> 64);
  if (++additions_ == 1 << 30) Carry();
}

void ExactSum::Carry() {
  for (int i = 0; i + 1 < kDigits; ++i) {
    digits_[i + 1] += digits_[i] >> 32;
    digits_[i] &= 0xFFFF'FFFF;
  }
  additions_ = 0;
}

Dyadic ExactSum::Value() const {
  ExactSum carried = *this;
  carried.Carry();
  const bool negative = carried.digits_.back() < 0;
  if (negative) {
    for (int64_t& digit : carried.digits_) digit = -digit;
    carried.Carry();
  }
  std::vector<uint32_t> magnitude;
  for (const int64_t digit : carried.digits_) magnitude.push_back(static_cast<uint32_t>(digit));
  return Dyadic(negative, std::move(magnitude), kMinExponent);
}

}  // namespace gridfold::kernels::conformance
