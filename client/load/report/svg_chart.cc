#include "client/load/report/svg_chart.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace gridfold::load {
namespace {

// In the units of the view box.
constexpr double kWidth = 560;
constexpr double kHeight = 280;
constexpr double kLeft = 82;
constexpr double kRight = 28;  // Half of the last tick's text.
constexpr double kTop = 15;
constexpr double kBottom = 45;
constexpr double kLegendLine = 18;
constexpr double kLetter = 6.6;  // About as wide as one of the labels' letters.
constexpr int kColourCount = 8;

// From values to places along one side.
class Scale {
 public:
  Scale(const ChartAxis& axis, double low, double high, double begin, double end)
      : is_logarithmic_(axis.is_logarithmic), low_(low), high_(high), begin_(begin), end_(end) {
    if (high_ <= low_) high_ = is_logarithmic_ ? low_ * 10 : low_ + 1;
  }

  double PlaceOf(double value) const {
    const double part = is_logarithmic_
                            ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_)
                            : (value - low_) / (high_ - low_);
    return begin_ + std::clamp(part, 0.0, 1.0) * (end_ - begin_);
  }

  // The axis's own ticks, as far as they are in the range, or round ones.
  std::vector<double> TicksOf(const ChartAxis& axis) const {
    if (axis.ticks.empty()) return is_logarithmic_ ? PowersOfTen() : MultiplesOfStep();
    std::vector<double> ticks;
    for (const double tick : axis.ticks) {
      if (tick >= low_ && tick <= high_) ticks.push_back(tick);
    }
    return ticks;
  }

 private:
  std::vector<double> PowersOfTen() const {
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

  std::vector<double> MultiplesOfStep() const {
    const double rough = (high_ - low_) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / power;
    const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    std::vector<double> ticks;
    for (double tick = std::ceil(low_ / step) * step; tick <= high_ + step / 1e6; tick += step) {
      ticks.push_back(std::abs(tick) < step / 1e6 ? 0 : tick);
    }
    return ticks;
  }

  const bool is_logarithmic_;
  double low_;
  double high_;
  const double begin_;
  const double end_;
};

struct Range {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void Add(double value, const ChartAxis& axis) {
    if (axis.is_logarithmic && !(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
};

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

// Linear axes begin with 0, logarithmic ones with a tick, so that there are some to read them by.
Scale MakeScale(const ChartAxis& axis, const Range& range, double begin, double end) {
  return axis.is_logarithmic ? Scale(axis, TickBelow(range.low), TickAbove(range.high), begin, end)
                             : Scale(axis, std::min(0.0, range.low), range.high, begin, end);
}

Scale HorizontalScale(const ChartAxis& axis, const Range& range) {
  return MakeScale(axis, range, kLeft, kWidth - kRight);
}

Scale VerticalScale(const ChartAxis& axis, const Range& range) {
  return MakeScale(axis, range, kHeight - kBottom, kTop);
}

std::string Open(double height = kHeight) {
  return absl::StrFormat("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", kWidth, height);
}

std::string Line(const char* css_class, double x1, double y1, double x2, double y2) {
  return absl::StrFormat("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                         css_class, x1, y1, x2, y2);
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat(
      "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
      EscapeHtml(text));
}

std::string DrawAxes(const ChartAxis& x, const Scale& x_scale, const ChartAxis& y,
                     const Scale& y_scale) {
  std::string svg;
  const double bottom = kHeight - kBottom;
  for (const double tick : y_scale.TicksOf(y)) {
    const double place = y_scale.PlaceOf(tick);
    svg += Line("grid", kLeft, place, kWidth - kRight, place);
    svg += Text(kLeft - 6, place + 4, "end", y.format(tick));
  }
  for (const double tick : x_scale.TicksOf(x)) {
    const double place = x_scale.PlaceOf(tick);
    svg += Line("grid", place, kTop, place, bottom);
    svg += Text(place, bottom + 16, "middle", x.format(tick));
  }
  svg += Line("axis", kLeft, bottom, kWidth - kRight, bottom);
  svg += Line("axis", kLeft, kTop, kLeft, bottom);
  svg += Text((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle", x.title);
  svg += absl::StrFormat(
      "<text class=\"label\" x=\"14\" y=\"%.1f\" text-anchor=\"middle\" "
      "transform=\"rotate(-90 14 %.1f)\">%s</text>\n",
      (kTop + bottom) / 2, (kTop + bottom) / 2, EscapeHtml(y.title));
  return svg;
}

// What the browser shows of a point that somebody points at.
std::string Title(const ChartAxis& x, const ChartAxis& y, double x_value, double y_value) {
  return absl::StrCat("<title>", EscapeHtml(x.format(x_value)), ": ", EscapeHtml(y.format(y_value)),
                      "</title>");
}

std::string DrawSeries(const ChartAxis& x, const Scale& x_scale, const ChartAxis& y,
                       const Scale& y_scale, const ChartSeries& series, int colour) {
  std::string path;
  std::string dots;
  for (const auto& [x_value, y_value] : series.points) {
    const double x_place = x_scale.PlaceOf(x_value);
    const double y_place = y_scale.PlaceOf(y_value);
    absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L", x_place, y_place);
    absl::StrAppendFormat(&dots, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\">", colour,
                          x_place, y_place);
    absl::StrAppend(&dots, Title(x, y, x_value, y_value), "</circle>\n");
  }
  return absl::StrFormat("<path class=\"s%d\" d=\"%s\"/>\n%s", colour, path, dots);
}

// What stands below a drawing to say which colour is what, in as many lines as it takes.
class Legend {
 public:
  explicit Legend(double top) : place_y_(top) {}

  void Add(size_t index, const std::string& text) {
    const double width = kLetter * static_cast<double>(text.size()) + 34;
    if (place_x_ > 0 && place_x_ + width > kWidth) {
      place_x_ = 0;
      place_y_ += kLegendLine;
    }
    absl::StrAppendFormat(
        &svg_, "<rect class=\"s%d\" x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" rx=\"2\"/>\n",
        static_cast<int>(index) % kColourCount, place_x_, place_y_);
    svg_ += Text(place_x_ + 15, place_y_ + 9, "start", text);
    place_x_ += width;
  }

  double bottom() const { return place_y_ + (svg_.empty() ? 0 : kLegendLine); }
  const std::string& svg() const { return svg_; }

 private:
  double place_x_ = 0;
  double place_y_;
  std::string svg_;
};

}  // namespace

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string DrawLines(const ChartAxis& x, const ChartAxis& y,
                      const std::vector<ChartSeries>& series) {
  Range x_range;
  Range y_range;
  for (const ChartSeries& line : series) {
    for (const auto& [x_value, y_value] : line.points) {
      x_range.Add(x_value, x);
      y_range.Add(y_value, y);
    }
  }
  if (x_range.is_empty() || y_range.is_empty()) return "";
  const Scale x_scale = HorizontalScale(x, x_range);
  const Scale y_scale = VerticalScale(y, y_range);
  Legend legend(kHeight);
  for (size_t i = 0; series.size() > 1 && i < series.size(); ++i) legend.Add(i, series[i].name);
  std::string svg = Open(legend.bottom()) + DrawAxes(x, x_scale, y, y_scale) + legend.svg();
  for (size_t i = 0; i < series.size(); ++i) {
    svg += DrawSeries(x, x_scale, y, y_scale, series[i], static_cast<int>(i) % kColourCount);
  }
  return svg + "</svg>\n";
}

std::string DrawBars(const ChartAxis& x, const ChartAxis& y, const std::vector<ChartBar>& bars) {
  Range x_range;
  Range y_range;
  for (const ChartBar& bar : bars) {
    x_range.Add(bar.lower, x);
    x_range.Add(bar.upper, x);
    y_range.Add(bar.height, y);
  }
  if (x_range.is_empty() || y_range.is_empty()) return "";
  const Scale x_scale = HorizontalScale(x, x_range);
  const Scale y_scale = VerticalScale(y, y_range);
  std::string svg = Open() + DrawAxes(x, x_scale, y, y_scale);
  for (const ChartBar& bar : bars) {
    const double left = x_scale.PlaceOf(bar.lower);
    const double top = y_scale.PlaceOf(bar.height);
    absl::StrAppendFormat(
        &svg, "<rect class=\"s0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", left, top,
        std::max(1.0, x_scale.PlaceOf(bar.upper) - left - 0.5), kHeight - kBottom - top);
    absl::StrAppend(&svg, Title(x, y, bar.lower, bar.height), "</rect>\n");
  }
  return svg + "</svg>\n";
}

std::string DrawParts(const std::vector<ChartPart>& parts) {
  double whole = 0;
  for (const ChartPart& part : parts) whole += part.size;
  if (!(whole > 0)) return "";
  std::string bar;
  Legend legend(40);
  double left = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double width = parts[i].size / whole * kWidth;
    absl::StrAppendFormat(&bar,
                          "<rect class=\"s%d\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"30\">"
                          "<title>%s: %s</title></rect>\n",
                          static_cast<int>(i) % kColourCount, left, width,
                          EscapeHtml(parts[i].name), EscapeHtml(parts[i].text));
    legend.Add(i, absl::StrCat(parts[i].name, " ", parts[i].text));
    left += width;
  }
  return absl::StrCat(Open(legend.bottom()), bar, legend.svg(), "</svg>\n");
}

}  // namespace gridfold::load
