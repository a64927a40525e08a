#include "client/command_line/input/load_array.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/file.h"
#include "client/command_line/input/npy_format.h"
#include "client/command_line/output/output_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LoadArrayTest : public testing::Test {
 protected:
  ~LoadArrayTest() override {
    for (const std::string& path : paths_) std::remove(path.c_str());
  }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = absl::StrCat(testing::TempDir(), "/", getpid(), "_", name);
    EXPECT_TRUE(WriteFile(path, {content}).ok());
    paths_.push_back(path);
    return path;
  }

  static std::string Npy(const std::vector<uint64_t>& shape, const std::string& data) {
    return *NpyHeader(ElementType::kUint8, shape) + data;
  }

  static void ExpectError(const InputOptions& options, const std::string& message) {
    const auto array = LoadArray(options, nullptr);
    ASSERT_FALSE(array.ok());
    EXPECT_THAT(std::string(array.status().message()), HasSubstr(message));
    EXPECT_THAT(std::string(array.status().message()), HasSubstr(options.path));
  }

 private:
  std::vector<std::string> paths_;
};

// As standard input may have been, by a program before this one.
TEST_F(LoadArrayTest, AFileThatWasReadInPartHoldsTheRest) {
  absl::StatusOr<File> file = File::OpenToRead(Write("part.bin", "abcde"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size_bytes(), 5u);
  std::string begun(2, ' ');
  ASSERT_EQ(file->Read({begun.data(), begun.size()}).value(), 2u);
  EXPECT_EQ(file->size_bytes(), 3u);
}

// Of a size that several threads unmap, and does not divide.
TEST_F(LoadArrayTest, ALargeMappingGoesAsAWhole) {
  constexpr off_t kSizeBytes = (off_t{200} << 20) + 5;
  const absl::StatusOr<File> file = File::OpenTemporary();
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(ftruncate(file->descriptor(), kSizeBytes), 0);
  std::shared_ptr<const FileMapping> mapping = FileMapping::Map(file->descriptor(), 1);
  ASSERT_NE(mapping, nullptr);
  const std::span<const std::byte> bytes = mapping->bytes();
  ASSERT_EQ(bytes.size(), static_cast<size_t>(kSizeBytes) - 1);
  EXPECT_EQ(bytes.front(), std::byte{0});
  EXPECT_EQ(bytes.back(), std::byte{0});
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto page_of = [page](const std::byte& byte) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&byte) / page * page);
  };
  void* const first = page_of(bytes.front());
  void* const last = page_of(bytes.back());
  mapping.reset();
  unsigned char is_there = 0;
  EXPECT_EQ(mincore(first, page, &is_there), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(mincore(last, page, &is_there), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST_F(LoadArrayTest, FormatsAreDetected) {
  EXPECT_EQ(LoadArray({.path = Write("a.bin", Npy({3}, "abc"))}, nullptr)->element_type,
            ElementType::kUint8);
  EXPECT_EQ(LoadArray({.path = Write("a.csv", "x\n1\n")}, nullptr)->element_type,
            ElementType::kInt64);
  EXPECT_EQ(
      LoadArray({.path = Write("a.txt", "x\n1\n"), .csv = {.column = "x"}}, nullptr)->element_type,
      ElementType::kInt64);
  EXPECT_THAT(LoadArray({.path = Write("a.tsv", "1\t2\n"), .csv = {.column = "2"}}, nullptr)->shape,
              ElementsAre(1));
  EXPECT_THAT(
      LoadArray({.path = Write("a.raw", "abcd"), .element_type = ElementType::kUint16}, nullptr)
          ->shape,
      ElementsAre(2));
  ExpectError({.path = Write("a.dat", "abcd")}, "give --type");
  ExpectError({.path = Write("b.npy", "abcd")}, "does not begin as .npy");
  ExpectError({.path = Write("empty.csv", "")}, "the file is empty");
  ExpectError({.path = Write("empty.npy", "")}, "the file is empty");
  EXPECT_EQ(
      LoadArray({.path = Write("empty.raw", ""), .element_type = ElementType::kUint8}, nullptr)
          ->element_count(),
      0u);
}

TEST_F(LoadArrayTest, ForeignFormatsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {std::string("PAR1\x15\0\x15", 7), "a Parquet file"},
      {std::string("ARROW1\0\0", 8), "an Arrow file"},
      {"\x89HDF\r\n\x1a\n", "HDF5"},
      {std::string("\xFD"
                   "7zXZ\0",
                   6),
       "an xz file"},
      {"BZh91AY&SYxxx", "a bzip2 file"},
      {std::string("\x80\x04\x95\0", 4), "a Python pickle"},
      {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an Excel file"},
      {"\xFF\xFE"
       "1",
       "text in UTF-16"},
  };
  for (const auto& [content, name] : files) {
    for (const std::string path : {"f.csv", "f.npy", "f"}) {
      ExpectError({.path = Write(path, content)}, name);
    }
  }
  // A heading is text.
  EXPECT_TRUE(LoadArray({.path = Write("f.csv", "PAR1\n1\n")}, nullptr).ok());
  ExpectError({.path = Write("f.csv", std::string("\1\2\0\3", 4))}, "binary data");
  // Raw elements may begin like a pickle, but hardly like Arrow.
  EXPECT_TRUE(
      LoadArray({.path = Write("f.raw", "\x80\x04\x95"), .element_type = ElementType::kUint8},
                nullptr)
          .ok());
  const std::string arrow = Write("a.raw", std::string("ARROW1\0\0", 8));
  ExpectError({.path = arrow, .element_type = ElementType::kUint8}, "--format raw");
  EXPECT_TRUE(
      LoadArray({.path = arrow, .format = FileFormat::kRaw, .element_type = ElementType::kUint8},
                nullptr)
          .ok());
}

TEST_F(LoadArrayTest, FormatCanBeGiven) {
  const std::string npy = Npy({3}, "abc");
  EXPECT_EQ(LoadArray({.path = Write("a.npy", npy),
                       .format = FileFormat::kRaw,
                       .element_type = ElementType::kUint8},
                      nullptr)
                ->element_count(),
            npy.size());
  ExpectError({.path = Write("b.bin", "ab"), .format = FileFormat::kRaw}, "--type is needed");
  ExpectError({.path = Write("c.bin", "1\n"), .format = FileFormat::kNpy}, ".npy");
}

TEST_F(LoadArrayTest, TypesMustMatch) {
  const std::string path = Write("a.npy", Npy({3}, "abc"));
  EXPECT_TRUE(LoadArray({.path = path, .element_type = ElementType::kUint8}, nullptr).ok());
  ExpectError({.path = path, .element_type = ElementType::kFloat32}, "holds uint8, not float32");
  ExpectError({.path = Write("a.raw", "abc"), .element_type = ElementType::kUint16},
              "3 bytes are not a whole number of uint16");
}

TEST_F(LoadArrayTest, ShapesMustHoldTheElements) {
  const std::string path = Write("a.npy", Npy({6}, "abcdef"));
  EXPECT_THAT(LoadArray({.path = path, .shape = {2, 3}}, nullptr)->shape, ElementsAre(2, 3));
  ExpectError({.path = path, .shape = {2, 4}}, "--shape 2,4 does not hold the file's 6 elements");
  ExpectError({.path = path, .shape = {uint64_t{1} << 63, 2}}, "does not hold");
  const std::string cube = Write("c.npy", Npy({1, 2, 3}, "abcdef"));
  EXPECT_THAT(LoadArray({.path = cube}, nullptr)->shape, ElementsAre(1, 2, 3));
  const std::string nine = Write("nine.npy", Npy(std::vector<uint64_t>(9, 1), "a"));
  ExpectError({.path = nine}, "9 dimensions, 1 x 1 x");
  EXPECT_THAT(LoadArray({.path = cube, .shape = {2, 3}}, nullptr)->shape, ElementsAre(2, 3));
}

TEST_F(LoadArrayTest, MissingFilesAreNamed) {
  ExpectError({.path = "/nonexistent/file.npy"}, "No such file");
  ExpectError({.path = testing::TempDir()}, "directory");
}

TEST_F(LoadArrayTest, ProgressReachesTheSize) {
  const std::string path = Write("a.raw", std::string(10'000'000, 'x'));
  uint64_t last = 0;
  const auto array = LoadArray({.path = path, .element_type = ElementType::kUint8},
                               [&](uint64_t read_bytes, std::optional<uint64_t> total_bytes) {
                                 EXPECT_EQ(total_bytes, 10'000'000u);
                                 EXPECT_GE(read_bytes, last);
                                 last = read_bytes;
                               });
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->bytes, std::string(10'000'000, 'x'));
  EXPECT_EQ(last, 10'000'000u);
}

// A header costs nobody memory for elements that are not there.
TEST_F(LoadArrayTest, PromisesOfElementsAreCheckedFirst) {
  ExpectError({.path = Write("a.npy", Npy({uint64_t{1} << 40}, "abc"))}, "3 bytes follow");
}

TEST_F(LoadArrayTest, FilesThatNoRequestCarriesAreRefused) {
  const std::string path = Write("a.raw", "abcdef");
  EXPECT_TRUE(absl::IsResourceExhausted(ReadFile(path, 5, nullptr).status()));
  EXPECT_EQ(*ReadFile(path, 6, nullptr), "abcdef");
}

TEST_F(LoadArrayTest, OffsetsAreIntegersThatAreNotNegative) {
  EXPECT_THAT(*ToOffsets(*LoadArray({.path = Write("a.csv", "0\n2\n5\n")}, nullptr)),
              ElementsAre(0, 2, 5));
  EXPECT_THAT(*ToOffsets(*LoadArray({.path = Write("b.npy", Npy({2}, "\x01\xFF"))}, nullptr)),
              ElementsAre(1, 255));
  EXPECT_FALSE(ToOffsets(*LoadArray({.path = Write("c.csv", "0\n-2\n")}, nullptr)).ok());
  EXPECT_FALSE(ToOffsets(*LoadArray({.path = Write("d.csv", "0\n2.5\n")}, nullptr)).ok());
}

}  // namespace
}  // namespace gridfold::client
