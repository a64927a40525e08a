#include "client/command_line/arguments/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace gridfold::client {
namespace {

// Fewer letters say nothing of what was meant.
constexpr size_t kPrefixLettersMin = 2;

// The distance of optimal string alignment: changes, insertions, deletions and swaps of neighbours.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<size_t>> distances(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& distance = distances[i][j];
      if (i == 0 || j == 0) {
        distance = i + j;
        continue;
      }
      const size_t change = distances[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance = std::min({distances[i - 1][j] + 1, distances[i][j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance = std::min(distance, distances[i - 2][j - 2] + 1);
      }
    }
  }
  return distances[a.size()][b.size()];
}

size_t LettersOf(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), absl::ascii_isalnum));
}

}  // namespace

std::string DidYouMean(absl::string_view text, std::span<const std::string> names) {
  const std::string wanted = absl::AsciiStrToLower(text);
  const std::string* nearest = nullptr;
  // One letter of three may be wrong.
  size_t nearest_distance = LettersOf(text) / 3 + 1;
  for (const std::string& name : names) {
    const std::string lower = absl::AsciiStrToLower(name);
    const bool is_begun = LettersOf(text) >= kPrefixLettersMin && absl::StartsWith(lower, wanted);
    const size_t distance = is_begun ? 0 : Distance(wanted, lower);
    if (distance >= nearest_distance) continue;
    nearest_distance = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : absl::StrCat("; did you mean ", *nearest, "?");
}

std::string NoneOf(absl::string_view text, std::span<const std::string> names) {
  return absl::StrCat("'", text, "' is none of ", absl::StrJoin(names, ", "),
                      DidYouMean(text, names));
}

}  // namespace gridfold::client
