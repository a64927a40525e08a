#include "kernels/conformance/dyadic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace gridfold::kernels::conformance {

namespace {

using Magnitude = std::vector<uint32_t>;

// Little end first. -1, 0 or 1.
int CompareMagnitudes(const Magnitude& a, const Magnitude& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

Magnitude AddMagnitudes(const Magnitude& a, const Magnitude& b) {
  Magnitude sum;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    carry += (i < a.size() ? a[i] : 0) + uint64_t{i < b.size() ? b[i] : 0};
    sum.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  return sum;
}

// a - b, where a is not the smaller one.
Magnitude SubtractMagnitudes(Magnitude a, const Magnitude& b) {
  int64_t borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t digit = int64_t{a[i]} - borrow - int64_t{i < b.size() ? b[i] : 0};
    borrow = digit < 0 ? 1 : 0;
    a[i] = static_cast<uint32_t>(digit + (borrow << 32));
  }
  return a;
}

Magnitude ShiftLeft(const Magnitude& a, int bits) {
  Magnitude shifted(bits / 32, 0);
  uint64_t carry = 0;
  for (const uint32_t digit : a) {
    carry |= uint64_t{digit} << (bits % 32);
    shifted.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  shifted.push_back(static_cast<uint32_t>(carry));
  return shifted;
}

}  // namespace

Dyadic::Dyadic(bool negative, std::vector<uint32_t> magnitude, int exponent)
    : negative_(negative), magnitude_(std::move(magnitude)), exponent_(exponent) {
  Normalize();
}

Dyadic Dyadic::FromDouble(double x) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  const uint64_t integer = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return Dyadic(std::signbit(x),
                {static_cast<uint32_t>(integer), static_cast<uint32_t>(integer >> 32)},
                exponent - 53);
}

Dyadic Dyadic::FromInteger(__int128 x) {
  const unsigned __int128 bits = static_cast<unsigned __int128>(x);
  unsigned __int128 rest = x < 0 ? -bits : bits;
  Magnitude magnitude;
  for (; rest != 0; rest >>= 32) magnitude.push_back(static_cast<uint32_t>(rest));
  return Dyadic(x < 0, std::move(magnitude), 0);
}

Dyadic Dyadic::Plus(const Dyadic& other) const {
  const int exponent = std::min(exponent_, other.exponent_);
  const Dyadic a = ShiftedTo(exponent);
  const Dyadic b = other.ShiftedTo(exponent);
  if (a.negative_ == b.negative_) {
    return Dyadic(a.negative_, AddMagnitudes(a.magnitude_, b.magnitude_), exponent);
  }
  if (CompareMagnitudes(a.magnitude_, b.magnitude_) >= 0) {
    return Dyadic(a.negative_, SubtractMagnitudes(a.magnitude_, b.magnitude_), exponent);
  }
  return Dyadic(b.negative_, SubtractMagnitudes(b.magnitude_, a.magnitude_), exponent);
}

Dyadic Dyadic::Minus(const Dyadic& other) const {
  return Plus(Dyadic(!other.negative_, other.magnitude_, other.exponent_));
}

Dyadic Dyadic::Times(const Dyadic& other) const {
  Magnitude product(magnitude_.size() + other.magnitude_.size(), 0);
  for (size_t i = 0; i < magnitude_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < other.magnitude_.size(); ++j) {
      carry += product[i + j] + uint64_t{magnitude_[i]} * other.magnitude_[j];
      product[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product[i + other.magnitude_.size()] = static_cast<uint32_t>(carry);
  }
  return Dyadic(negative_ != other.negative_, std::move(product), exponent_ + other.exponent_);
}

Dyadic Dyadic::DividedBy(uint64_t divisor) const {
  constexpr int kExtraBits = 64 + 192;
  Magnitude quotient = ShiftLeft(magnitude_, kExtraBits + 1);
  uint64_t rest = 0;
  for (size_t i = quotient.size(); i-- > 0;) {
    const unsigned __int128 part = (static_cast<unsigned __int128>(rest) << 32) | quotient[i];
    quotient[i] = static_cast<uint32_t>(part / divisor);
    rest = static_cast<uint64_t>(part % divisor);
  }
  if (rest != 0) quotient[0] |= 1;
  return Dyadic(negative_, std::move(quotient), exponent_ - kExtraBits - 1);
}

int Dyadic::Sign() const {
  if (magnitude_.empty()) return 0;
  return negative_ ? -1 : 1;
}

double Dyadic::RoundedTo(FloatFormat format) const {
  if (magnitude_.empty()) return 0;
  const double infinity = negative_ ? -HUGE_VAL : HUGE_VAL;
  const int leading = BitLength() - 1 + exponent_;
  if (leading > format.max_exponent()) return infinity;
  // Exponent of the last bit that the format has room for.
  const int last =
      std::max(leading - format.significand_bits, format.min_exponent() - format.significand_bits);
  const int cut = last - exponent_;
  uint64_t kept = 0;
  if (cut <= 0) {
    kept = TopBits(0) << -cut;
  } else {
    kept = TopBits(cut);
    bool rest = false;
    for (int i = 0; i < cut - 1 && !rest; ++i) rest = Bit(i);
    if (Bit(cut - 1) && (rest || (kept & 1) != 0)) ++kept;
  }
  const double value = std::ldexp(static_cast<double>(kept), last);
  if (std::ilogb(value) > format.max_exponent()) return infinity;
  return negative_ ? -value : value;
}

long double Dyadic::ToLongDouble() const {
  static_assert(std::numeric_limits<long double>::digits >= 64);
  if (magnitude_.empty()) return 0;
  const int cut = std::max(BitLength() - 64, 0);
  const long double value = std::ldexp(static_cast<long double>(TopBits(cut)), cut + exponent_);
  return negative_ ? -value : value;
}

int Dyadic::BitLength() const {
  if (magnitude_.empty()) return 0;
  return static_cast<int>(magnitude_.size()) * 32 - std::countl_zero(magnitude_.back());
}

bool Dyadic::Bit(int i) const {
  const size_t digit = static_cast<size_t>(i) / 32;
  return digit < magnitude_.size() && (magnitude_[digit] >> (i % 32) & 1) != 0;
}

uint64_t Dyadic::TopBits(int count) const {
  uint64_t bits = 0;
  for (int i = BitLength() - 1; i >= count; --i) bits = bits << 1 | (Bit(i) ? 1 : 0);
  return bits;
}

Dyadic Dyadic::ShiftedTo(int exponent) const {
  Dyadic shifted = *this;
  if (!magnitude_.empty()) shifted.magnitude_ = ShiftLeft(magnitude_, exponent_ - exponent);
  shifted.exponent_ = exponent;
  while (!shifted.magnitude_.empty() && shifted.magnitude_.back() == 0) {
    shifted.magnitude_.pop_back();
  }
  return shifted;
}

void Dyadic::Normalize() {
  while (!magnitude_.empty() && magnitude_.back() == 0) magnitude_.pop_back();
  if (magnitude_.empty()) {
    negative_ = false;
    exponent_ = 0;
    return;
  }
  // Zero digits at the little end would only make every later step longer.
  const auto first =
      std::find_if(magnitude_.begin(), magnitude_.end(), [](uint32_t d) { return d != 0; });
  exponent_ += 32 * static_cast<int>(first - magnitude_.begin());
  magnitude_.erase(magnitude_.begin(), first);
}

}  // namespace gridfold::kernels::conformance
