// Rows as they are split, with the lines that they begin on, and every text that is no CSV.
#include "client/command_line/input/csv_rows.h"

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "client/command_line/input/string_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;

struct Row {
  uint64_t line;
  std::vector<std::string> fields;

  bool operator==(const Row&) const = default;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << "line " << row.line << ": " << testing::PrintToString(row.fields);
}

absl::StatusOr<std::vector<Row>> Split(const std::string& text, char delimiter = ',',
                                       std::optional<char> comment = std::nullopt) {
  CsvRows rows(std::make_unique<StringSource>(text), delimiter, comment);
  std::vector<Row> all;
  std::vector<absl::string_view> fields;
  while (true) {
    const absl::StatusOr<bool> is_row = rows.Next(fields);
    if (!is_row.ok()) return is_row.status();
    if (!*is_row) return all;
    all.push_back({rows.line(), {fields.begin(), fields.end()}});
  }
}

std::string ErrorOf(const std::string& text, char delimiter = ',') {
  const auto rows = Split(text, delimiter);
  return rows.ok() ? testing::PrintToString(*rows) : std::string(rows.status().message());
}

TEST(CsvRowsTest, FieldsEndAtDelimitersAndLines) {
  EXPECT_THAT(*Split("a,b\n1,2\n"), ElementsAre(Row{1, {"a", "b"}}, Row{2, {"1", "2"}}));
  EXPECT_THAT(*Split("a,b"), ElementsAre(Row{1, {"a", "b"}}));
  EXPECT_THAT(*Split(",\n"), ElementsAre(Row{1, {"", ""}}));
  EXPECT_THAT(*Split("a;b,c\n", ';'), ElementsAre(Row{1, {"a", "b,c"}}));
  EXPECT_THAT(*Split(""), ElementsAre());
}

TEST(CsvRowsTest, LinesEndInAnyWay) {
  EXPECT_THAT(*Split("a\nb\r\nc\rd"),
              ElementsAre(Row{1, {"a"}}, Row{2, {"b"}}, Row{3, {"c"}}, Row{4, {"d"}}));
  EXPECT_THAT(*Split("a\r"), ElementsAre(Row{1, {"a"}}));
  EXPECT_THAT(*Split("\n\r\n\ra\n\n"), ElementsAre(Row{4, {"a"}}));
}

TEST(CsvRowsTest, QuotedFieldsHoldAnything) {
  EXPECT_THAT(*Split("\"a,b\",\"c\"\"d\"\n\"\"\n"),
              ElementsAre(Row{1, {"a,b", "c\"d"}}, Row{2, {""}}));
  EXPECT_THAT(*Split("\"\"\"\"\"\",\"a\"\"\",\"\"\"b\""),
              ElementsAre(Row{1, {"\"\"", "a\"", "\"b"}}));
  // A line end inside counts for the rows behind, not for the row itself.
  EXPECT_THAT(*Split("\"a\nb\r\nc\",1\nd\n"),
              ElementsAre(Row{1, {"a\nb\r\nc", "1"}}, Row{4, {"d"}}));
  EXPECT_THAT(*Split("\"a\"\r\"b\"\r\n\"c\""),
              ElementsAre(Row{1, {"a"}}, Row{2, {"b"}}, Row{3, {"c"}}));
  // Only the first character makes a field a quoted one.
  EXPECT_THAT(*Split("a\"b,c\n"), ElementsAre(Row{1, {"a\"b", "c"}}));
}

TEST(CsvRowsTest, CommentsAndTheMarkArePassedOver) {
  EXPECT_THAT(*Split("# x\na\n#\r\n\n#y\nb,#\n#z", ',', '#'),
              ElementsAre(Row{2, {"a"}}, Row{6, {"b", "#"}}));
  EXPECT_THAT(*Split("#a\n"), ElementsAre(Row{1, {"#a"}})) << "unless they are asked for";
  EXPECT_THAT(*Split("\xEF\xBB\xBF"
                     "a\n\xEF\xBB\xBF"
                     "b\n"),
              ElementsAre(Row{1, {"a"}}, Row{2,
                                             {"\xEF\xBB\xBF"
                                              "b"}}));
}

TEST(CsvRowsTest, NulBytesAreRefusedWhereverTheyAre) {
  const std::string nul(1, '\0');
  constexpr char kMessage[] = "a NUL byte; this is no text, or not in UTF-8";
  EXPECT_EQ(ErrorOf("1\n" + nul + "2\n"), std::string("line 2: ") + kMessage);
  EXPECT_EQ(ErrorOf("1\n2,3" + nul), std::string("line 2: ") + kMessage);
  EXPECT_EQ(ErrorOf("\"a" + nul + "b\",1\n"), std::string("line 1: ") + kMessage);
  EXPECT_EQ(ErrorOf("\"\"\"" + nul + "\"\n"), std::string("line 1: ") + kMessage);
  // Where it delimits, it is none of a plain field.
  EXPECT_THAT(*Split("a" + nul + "b\n", '\0'), ElementsAre(Row{1, {"a", "b"}}));
}

TEST(CsvRowsTest, QuotesThatMakeNoSenseAreRefused) {
  EXPECT_EQ(ErrorOf("1\n\"2"), "line 2: a quoted field does not end");
  EXPECT_EQ(ErrorOf("\"2\"\""), "line 1: a quoted field does not end");
  EXPECT_EQ(ErrorOf("\"2\" ,3\n"), "line 1: more follows a quoted field");
  EXPECT_EQ(ErrorOf("\"2\",\"3\"4"), "line 1: more follows a quoted field");
  EXPECT_EQ(ErrorOf("\"a\n\"\n\"b\"c"), "line 3: more follows a quoted field");
}

// What comes before puts each byte of `row` once at the end of the first window.
TEST(CsvRowsTest, WindowsEndAnywhere) {
  const std::string row = "\"a\"\"b\r\nc\",d\r\ne,f\r\n";
  constexpr size_t kWindow = size_t{256} << 10;
  for (size_t before = 0; before <= row.size(); ++before) {
    const std::string filler(kWindow - before - 1, 'x');
    EXPECT_THAT(*Split(filler + "\n" + row),
                ElementsAre(Row{1, {filler}}, Row{2, {"a\"b\r\nc", "d"}}, Row{4, {"e", "f"}}))
        << before;
  }
}

TEST(CsvRowsTest, ARowHasABound) {
  const size_t longest = size_t{16} << 20;
  EXPECT_EQ((*Split("a\n" + std::string(longest, 'x') + "\nb\n")).size(), 3u);
  EXPECT_EQ(
      ErrorOf("a\n" + std::string(3 * longest, 'x')),
      "line 2: the row is longer than 16 MiB: a quoted field does not end, or this is no CSV");
}

}  // namespace
}  // namespace gridfold::client
