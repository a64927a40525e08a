#include "client/command_line/output/number_format.h"

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/command_line/input/element_dispatch.h"

namespace gridfold::client {
namespace {

std::string GroupThousands(const std::string& number) {
  const size_t sign = number[0] == '-' ? 1 : 0;
  std::string grouped = number.substr(0, sign);
  for (size_t i = sign; i < number.size(); ++i) {
    if (i > sign && (number.size() - i) % 3 == 0) grouped += ',';
    grouped += number[i];
  }
  return grouped;
}

template <typename T>
std::string ShortestText(T value) {
  if (std::isnan(value)) return "NaN";
  std::array<char, 64> text;
  // Plain digits where these are not many; std::to_chars would turn 1500000 into 1.5e+06.
  const T magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= T(1e-4) && magnitude < T(1e16));
  const auto end = plain ? std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed)
                         : std::to_chars(text.begin(), text.end(), value);
  return std::string(text.begin(), end.ptr);
}

// `value` with three significant digits: "1.23", "12.3", "123".
std::string ThreeDigits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f", decimals, value);
}

// Scales `value` to the largest of `units`, each `step` times the one before, that it reaches.
std::string Scale(double value, double step, std::span<const absl::string_view> units) {
  size_t unit = 0;
  while (unit + 1 < units.size() && value >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  return absl::StrCat(ThreeDigits(value), " ", units[unit]);
}

// Whether edges written with `precision` significant digits are each within a fiftieth of a bin of
// where they are.
bool IsClear(std::span<const double> edges, int precision) {
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    const double width = edges[i + 1] - edges[i];
    if (!std::isfinite(width) || width == 0) continue;
    for (double edge : {edges[i], edges[i + 1]}) {
      double written = 0;
      if (!absl::SimpleAtod(absl::StrFormat("%.*g", precision, edge), &written)) return false;
      if (std::fabs(written - edge) > width / 50) return false;
    }
  }
  return true;
}

}  // namespace

std::string FormatInteger(int64_t value) { return GroupThousands(absl::StrCat(value)); }
std::string FormatInteger(uint64_t value) { return GroupThousands(absl::StrCat(value)); }
std::string FormatReal(double value) { return ShortestText(value); }
std::string FormatReal(float value) { return ShortestText(value); }

std::string FormatDuration(absl::Duration duration, bool unicode) {
  static constexpr std::array<absl::string_view, 4> kUnicode = {"ns", "µs", "ms", "s"};
  static constexpr std::array<absl::string_view, 4> kAscii = {"ns", "us", "ms", "s"};
  return Scale(absl::ToDoubleNanoseconds(duration), 1000, unicode ? kUnicode : kAscii);
}

std::string FormatBytes(uint64_t bytes) {
  static constexpr std::array<absl::string_view, 4> kUnits = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return absl::StrCat(bytes, bytes == 1 ? " byte" : " bytes");
  return Scale(static_cast<double>(bytes) / 1000, 1000, kUnits);
}

std::string FormatRate(uint64_t bytes, absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  return absl::StrCat(ThreeDigits(static_cast<double>(bytes) / seconds / 1e9), " GB/s");
}

std::vector<std::string> FormatEdges(std::span<const double> edges) {
  int precision = 3;
  while (precision < 17 && !IsClear(edges, precision)) ++precision;
  std::vector<std::string> texts;
  for (double edge : edges) {
    double rounded = edge;
    if (std::isfinite(edge) &&
        !absl::SimpleAtod(absl::StrFormat("%.*g", precision, edge), &rounded)) {
      rounded = edge;
    }
    texts.push_back(FormatReal(rounded));
  }
  return texts;
}

std::string FormatElement(const ArrayView& array, uint64_t index) {
  return DispatchElementType(array.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T value = ElementAt<T>(array, index);
    if constexpr (std::signed_integral<T>) {
      return FormatInteger(int64_t{value});
    } else if constexpr (std::unsigned_integral<T>) {
      return FormatInteger(uint64_t{value});
    } else if constexpr (std::floating_point<T>) {
      return FormatReal(value);
    } else {
      return FormatReal(ToFloat(value));
    }
  });
}

std::string FormatPosition(std::span<const uint64_t> shape, uint64_t index) {
  if (shape.size() < 2) return FormatInteger(index);
  std::string position;
  for (size_t d = shape.size(); d-- > 0; index /= shape[d]) {
    position =
        absl::StrCat(FormatInteger(index % shape[d]), position.empty() ? "" : ", ", position);
  }
  return position;
}

std::string FormatShape(std::span<const uint64_t> shape, bool unicode) {
  if (shape.empty()) return FormatInteger(uint64_t{1});
  return absl::StrJoin(shape, unicode ? " × " : " x ", [](std::string* out, uint64_t extent) {
    absl::StrAppend(out, FormatInteger(extent));
  });
}

}  // namespace gridfold::client
