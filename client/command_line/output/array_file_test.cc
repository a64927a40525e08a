#include "client/command_line/output/array_file.h"

#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/npy_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

class ArrayFileTest : public testing::Test {
 protected:
  ~ArrayFileTest() override { std::remove(path_.c_str()); }

  // Writes `pieces` of uint8 elements, as `shape` of them.
  absl::Status Write(const std::vector<uint64_t>& shape, const std::vector<std::string>& pieces) {
    ArrayFileWriter writer(path_);
    for (const std::string& piece : pieces) {
      EXPECT_TRUE(writer.Write(ElementType::kUint8, shape, piece).ok());
    }
    return writer.Commit();
  }

  std::string Content() const { return ReadFile(path_, 1000, nullptr).value_or("unreadable"); }

  const std::string path_ = absl::StrCat(testing::TempDir(), "/array_file_test_", getpid(), ".npy");
};

TEST_F(ArrayFileTest, PiecesFollowOneHeader) {
  ASSERT_TRUE(Write({2, 3}, {"abcd", "ef"}).ok());
  EXPECT_EQ(Content(), *NpyHeader(ElementType::kUint8, std::vector<uint64_t>{2, 3}) + "abcdef");
  ASSERT_TRUE(Write({0}, {""}).ok());
  EXPECT_EQ(Content(), *NpyHeader(ElementType::kUint8, std::vector<uint64_t>{0}));
}

TEST_F(ArrayFileTest, OtherElementsThanPromisedAreAnError) {
  for (const char* piece : {"ab", "abcd"}) {
    const absl::Status status = Write({3}, {piece});
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("promises 3 bytes"));
  }
}

}  // namespace
}  // namespace gridfold::client
