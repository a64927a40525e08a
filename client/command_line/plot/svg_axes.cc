#include "client/command_line/plot/svg_axes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace gridfold::client {
namespace {

// The largest of 1, 2 and 5 times a power of ten that is not above a value, and the smallest that
// is not below.
double TickBelow(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  return value >= 5 * power ? 5 * power : value >= 2 * power ? 2 * power : power;
}
double TickAbove(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  return value <= power       ? power
         : value <= 2 * power ? 2 * power
         : value <= 5 * power ? 5 * power
                              : 10 * power;
}

std::string Line(const char* css_class, double x1, double y1, double x2, double y2) {
  return absl::StrFormat("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                         css_class, x1, y1, x2, y2);
}

}  // namespace

void ChartRange::Add(double value, const ChartAxis& axis) {
  if (!std::isfinite(value) || (axis.is_logarithmic && !(value > 0))) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

ChartScale ChartScale::Horizontal(const ChartAxis& axis, const ChartRange& range) {
  return ChartScale(axis, range, kChartLeft, kChartWidth - kChartRight);
}

ChartScale ChartScale::Vertical(const ChartAxis& axis, const ChartRange& range) {
  return ChartScale(axis, range, kChartHeight - kChartBottom, kChartTop);
}

// Logarithmic axes begin and end with a tick, so that there are some to read them by.
ChartScale::ChartScale(const ChartAxis& axis, const ChartRange& range, double begin, double end)
    : is_logarithmic_(axis.is_logarithmic),
      low_(range.low),
      high_(range.high),
      begin_(begin),
      end_(end) {
  if (is_logarithmic_) {
    low_ = TickBelow(low_);
    high_ = TickAbove(high_);
  } else if (axis.begins_with_zero) {
    low_ = std::min(0.0, low_);
  }
  // A step that a value of this size can tell.
  if (high_ <= low_) high_ = is_logarithmic_ ? low_ * 10 : low_ + std::max(1.0, std::abs(low_));
}

double ChartScale::PlaceOf(double value) const {
  const double part = is_logarithmic_
                          ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_)
                          // In halves, since the range may be longer than any number.
                          : (value / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
  return begin_ + std::clamp(part, 0.0, 1.0) * (end_ - begin_);
}

std::vector<double> ChartScale::TicksOf(const ChartAxis& axis) const {
  if (axis.ticks.empty()) return is_logarithmic_ ? PowersOfTen() : MultiplesOfStep();
  std::vector<double> ticks;
  for (const double tick : axis.ticks) {
    if (tick >= low_ && tick <= high_) ticks.push_back(tick);
  }
  return ticks;
}

std::vector<double> ChartScale::PowersOfTen() const {
  std::vector<double> ticks;
  const double decades = std::log10(high_ / low_);
  for (double power = std::pow(10, std::floor(std::log10(low_))); power <= high_ * (1 + 1e-9);
       power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades > 2.5) break;
      const double tick = power * factor;
      if (tick >= low_ * (1 - 1e-9) && tick <= high_ * (1 + 1e-9)) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::vector<double> ChartScale::MultiplesOfStep() const {
  const double rough = high_ / 6 - low_ / 6;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  // By number, since of values far from 0 a step may be less than two neighbours are apart.
  constexpr int kTicksMax = 12;
  std::vector<double> ticks;
  const double first = std::ceil(low_ / step) * step;
  for (int i = 0; i < kTicksMax; ++i) {
    const double tick = first + i * step;
    if (!(tick <= high_ + step / 1e6)) break;
    ticks.push_back(std::abs(tick) < step / 1e6 ? 0 : tick);
  }
  return ticks;
}

std::string OpenSvg(double height) {
  return absl::StrFormat("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", kChartWidth, height);
}

std::string DrawText(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat(
      "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
      EscapeHtml(text));
}

std::string DrawAxes(const ChartAxis& x, const ChartScale& x_scale, const ChartAxis& y,
                     const ChartScale& y_scale) {
  std::string svg;
  const double bottom = kChartHeight - kChartBottom;
  for (const double tick : y_scale.TicksOf(y)) {
    const double place = y_scale.PlaceOf(tick);
    svg += Line("grid", kChartLeft, place, kChartWidth - kChartRight, place);
    svg += DrawText(kChartLeft - 6, place + 4, "end", y.format(tick));
  }
  for (const double tick : x_scale.TicksOf(x)) {
    const double place = x_scale.PlaceOf(tick);
    svg += Line("grid", place, kChartTop, place, bottom);
    svg += DrawText(place, bottom + 16, "middle", x.format(tick));
  }
  svg += Line("axis", kChartLeft, bottom, kChartWidth - kChartRight, bottom);
  svg += Line("axis", kChartLeft, kChartTop, kChartLeft, bottom);
  svg +=
      DrawText((kChartLeft + kChartWidth - kChartRight) / 2, kChartHeight - 8, "middle", x.title);
  svg += absl::StrFormat(
      "<text class=\"label\" x=\"14\" y=\"%.1f\" text-anchor=\"middle\" "
      "transform=\"rotate(-90 14 %.1f)\">%s</text>\n",
      (kChartTop + bottom) / 2, (kChartTop + bottom) / 2, EscapeHtml(y.title));
  return svg;
}

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace gridfold::client
