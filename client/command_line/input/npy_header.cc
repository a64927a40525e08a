#include "client/command_line/input/npy_header.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gridfold::client {
namespace {

// Reads the few forms of a Python literal that the format allows. Each method skips white space,
// and says false, having read nothing that matters, where its form is not what comes next.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : rest_(text) {}

  bool Consume(absl::string_view token) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    return absl::ConsumePrefix(&rest_, token);
  }

  bool ConsumeString(std::string& value) {
    const bool single = Consume("'");
    if (!single && !Consume("\"")) return false;
    const size_t end = rest_.find(single ? '\'' : '"');
    if (end == absl::string_view::npos) return false;
    value = std::string(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool ConsumeBool(bool& value) {
    value = Consume("True");
    return value || Consume("False");
  }

  bool ConsumeTuple(std::vector<uint64_t>& values) {
    values.clear();
    if (!Consume("(")) return false;
    while (!Consume(")")) {
      uint64_t value = 0;
      if (!ConsumeInteger(value)) return false;
      values.push_back(value);
      if (!Consume(",")) return Consume(")") && values.size() > 1;  // (3) is no tuple.
    }
    return true;
  }

  bool AtEnd() { return absl::StripLeadingAsciiWhitespace(rest_).empty(); }

 private:
  bool ConsumeInteger(uint64_t& value) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    size_t digits = 0;
    while (digits < rest_.size() && absl::ascii_isdigit(rest_[digits])) ++digits;
    if (!absl::SimpleAtoi(rest_.substr(0, digits), &value)) return false;
    rest_.remove_prefix(digits);
    absl::ConsumePrefix(&rest_, "L");  // Written by NumPy on Python 2.
    return true;
  }

  absl::string_view rest_;
};

// Reads the value of `key` into the field it belongs to.
bool ConsumeValue(Scanner& scanner, absl::string_view key, NpyDictionary& dictionary) {
  if (key == "descr") return scanner.ConsumeString(dictionary.descr);
  if (key == "fortran_order") return scanner.ConsumeBool(dictionary.fortran_order);
  if (key == "shape") return scanner.ConsumeTuple(dictionary.shape);
  return false;
}

}  // namespace

absl::StatusOr<NpyDictionary> ParseNpyDictionary(absl::string_view text) {
  NpyDictionary dictionary;
  std::set<std::string> keys;
  Scanner scanner(text);
  bool more = scanner.Consume("{");
  if (!more) return absl::InvalidArgumentError(".npy header: no dictionary");
  while (more && !scanner.Consume("}")) {
    std::string key;
    if (!scanner.ConsumeString(key) || !scanner.Consume(":")) {
      return absl::InvalidArgumentError(".npy header: malformed dictionary");
    }
    if (key == "descr" && scanner.Consume("[")) {
      return absl::InvalidArgumentError(
          ".npy: structured arrays are not supported; save one field of it");
    }
    if (!keys.insert(key).second || !ConsumeValue(scanner, key, dictionary)) {
      return absl::InvalidArgumentError(absl::StrCat(".npy header: malformed entry '", key, "'"));
    }
    more = scanner.Consume(",");
    if (!more && !scanner.Consume("}")) {
      return absl::InvalidArgumentError(".npy header: malformed dictionary");
    }
  }
  if (keys.size() != 3) {
    return absl::InvalidArgumentError(".npy header: descr, fortran_order or shape is missing");
  }
  if (!scanner.AtEnd()) {
    return absl::InvalidArgumentError(".npy header: more follows the dictionary");
  }
  return dictionary;
}

}  // namespace gridfold::client
