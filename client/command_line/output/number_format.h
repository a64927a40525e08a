// Numbers as people read them.
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_NUMBER_FORMAT_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_NUMBER_FORMAT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gridfold/array_view.h"

namespace gridfold::client {

// With commas between thousands: "-1,500,159".
std::string FormatInteger(int64_t value);
std::string FormatInteger(uint64_t value);

// The shortest text that reads back as the same value: "0.1", "2755170.1662385147", "1e+30", "NaN",
// "inf".
std::string FormatReal(double value);
std::string FormatReal(float value);

// Three significant digits and a unit: "1.23 ms", "45.6 MB" (of 10^6 bytes), "7.89 GB/s".
std::string FormatDuration(absl::Duration duration, bool unicode);
std::string FormatBytes(uint64_t bytes);
std::string FormatRate(uint64_t bytes, absl::Duration duration);

// Bin edges, all with as few digits as tell neighbours clearly apart; equal neighbours are allowed.
std::vector<std::string> FormatEdges(std::span<const double> edges);

// One element of an array.
std::string FormatElement(const ArrayView& array, uint64_t index);

// Where element `index` of an array of this shape stands: "17", or "2, 3" in a matrix. Requires
// that no extent is 0.
std::string FormatPosition(std::span<const uint64_t> shape, uint64_t index);

// "1,000" or "3 x 4".
std::string FormatShape(std::span<const uint64_t> shape, bool unicode);

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_OUTPUT_NUMBER_FORMAT_H_
