#include "server/base/trace_context.h"

#include <algorithm>
#include <cstddef>

namespace gridfold::server {

namespace {

// "00-" trace "-" parent "-01": version, trace, parent and flags, each of so many digits.
constexpr size_t kVersionDigits = 2;
constexpr size_t kTraceDigits = 32;
constexpr size_t kParentDigits = 16;
constexpr size_t kFlagDigits = 2;
constexpr size_t kTraceAt = kVersionDigits + 1;
constexpr size_t kParentAt = kTraceAt + kTraceDigits + 1;
constexpr size_t kFlagsAt = kParentAt + kParentDigits + 1;
constexpr size_t kSize = kFlagsAt + kFlagDigits;

bool IsHexadecimal(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char digit) {
    return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
  });
}

// All zeros stand for none.
bool IsIdentifier(absl::string_view text) {
  return IsHexadecimal(text) && text.find_first_not_of('0') != absl::string_view::npos;
}

bool HasRightLength(absl::string_view value) {
  return value.size() == kSize ||
         (value.size() > kSize && value[kSize] == '-' && value.substr(0, kVersionDigits) != "00");
}

}  // namespace

TraceContext ParseTraceparent(absl::string_view value) {
  if (!HasRightLength(value)) return {};
  const absl::string_view version = value.substr(0, kVersionDigits);
  const absl::string_view trace = value.substr(kTraceAt, kTraceDigits);
  const absl::string_view parent = value.substr(kParentAt, kParentDigits);
  const bool is_good = IsHexadecimal(version) && version != "ff" && value[kTraceAt - 1] == '-' &&
                       value[kParentAt - 1] == '-' && value[kFlagsAt - 1] == '-' &&
                       IsIdentifier(trace) && IsIdentifier(parent) &&
                       IsHexadecimal(value.substr(kFlagsAt, kFlagDigits));
  if (!is_good) return {};
  return {std::string(trace), std::string(parent)};
}

}  // namespace gridfold::server
