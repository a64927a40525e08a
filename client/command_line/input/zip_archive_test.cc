#include "client/command_line/input/zip_archive.h"

#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/command_line/input/array_stream.h"
#include "client/command_line/input/npy_format.h"
#include "client/command_line/output/output_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

std::string Number(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

struct Content {
  std::string name;
  std::string bytes;
  uint16_t method = 0;
  uint16_t flags = 0;
  bool is_64 = false;
};

// An archive of stored members, as the specification describes it.
std::string Archive(const std::vector<Content>& contents, const std::string& comment = "") {
  std::string archive;
  std::string directory;
  for (const Content& content : contents) {
    const uint64_t offset = archive.size();
    const uLong crc =
        crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(content.bytes.data()),
              static_cast<uInt>(content.bytes.size()));
    const std::string common =
        Number(content.flags, 2) + Number(content.method, 2) + Number(0, 4) + Number(crc, 4) +
        Number(content.is_64 ? ~0u : content.bytes.size(), 4) +
        Number(content.is_64 ? ~0u : content.bytes.size(), 4) + Number(content.name.size(), 2);
    archive += "PK\x03\x04" + Number(20, 2) + common + Number(0, 2) + content.name + content.bytes;
    std::string extra;
    if (content.is_64) {
      // A field of another kind comes first.
      extra += Number(0x9999, 2) + Number(1, 2) + Number('x', 1) + Number(1, 2) + Number(24, 2);
      extra += Number(content.bytes.size(), 8) + Number(content.bytes.size(), 8);
      extra += Number(offset, 8);
    }
    directory += "PK\x01\x02" + Number(20, 2) + Number(20, 2) + common + Number(extra.size(), 2) +
                 Number(0, 2) + Number(0, 2) + Number(0, 2) + Number(0, 4) +
                 Number(content.is_64 ? ~0u : offset, 4) + content.name + extra;
  }
  const uint64_t place = archive.size();
  archive += directory;
  const bool is_64 = !contents.empty() && contents[0].is_64;
  if (is_64) {
    const uint64_t end = archive.size();
    archive += "PK\x06\x06" + Number(44, 8) + Number(45, 2) + Number(45, 2) + Number(0, 8) +
               Number(contents.size(), 8) + Number(contents.size(), 8) +
               Number(directory.size(), 8) + Number(place, 8);
    archive += "PK\x06\x07" + Number(0, 4) + Number(end, 8) + Number(1, 4);
  }
  return archive + "PK\x05\x06" + Number(0, 4) + Number(is_64 ? 0xFFFF : contents.size(), 2) +
         Number(is_64 ? 0xFFFF : contents.size(), 2) + Number(is_64 ? ~0u : directory.size(), 4) +
         Number(is_64 ? ~0u : place, 4) + Number(comment.size(), 2) + comment;
}

std::string Npy(const std::string& bytes) {
  return *NpyHeader(ElementType::kUint8, std::vector<uint64_t>{bytes.size()}) + bytes;
}

class ZipArchiveTest : public testing::Test {
 protected:
  ~ZipArchiveTest() override { std::remove(path_.c_str()); }

  // What the elements are of the file with this content, as bytes.
  absl::StatusOr<std::string> Read(const std::string& content, InputOptions options = {}) {
    EXPECT_TRUE(WriteFile(path_, {content}).ok());
    options.path = path_;
    const auto stream = ArrayStream::Open(options);
    if (!stream.ok()) return stream.status();
    std::string elements;
    std::string buffer(1000, '\0');
    while (true) {
      const auto piece = (*stream)->Next({buffer.data(), buffer.size()});
      if (!piece.ok()) return piece.status();
      if (piece->empty()) return elements;
      elements.append(reinterpret_cast<const char*>(piece->data()), piece->size());
    }
  }

  void ExpectError(const std::string& content, const std::string& message,
                   const InputOptions& options = {}) {
    const absl::Status status = Read(content, options).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

 private:
  const std::string path_ = absl::StrCat(testing::TempDir(), "/", getpid(), "_archive.npz");
};

TEST_F(ZipArchiveTest, MembersAreChosenByName) {
  const std::string archive =
      Archive({{"a.npy", Npy("first")}, {"folder/", ""}, {"b.npy", Npy("second")}}, "a comment");
  EXPECT_EQ(*Read(archive, {.member = "a"}), "first");
  EXPECT_EQ(*Read(archive, {.member = "b.npy"}), "second");
  ExpectError(archive, "2 members; choose one with --member: a, b");
  ExpectError(archive, "has no 'c', only: a, b", {.member = "c"});
  EXPECT_EQ(*Read(Archive({{"a.npy", Npy("only")}})), "only");
  ExpectError(Archive({}), "the archive is empty");
  ExpectError(Npy("x"), "--member is for archives", {.member = "a"});
}

TEST_F(ZipArchiveTest, LargeArchivesHaveNumbersOf64Bits) {
  const std::string archive =
      Archive({{"a.npy", Npy("first"), 0, 0, true}, {"b.npy", Npy("second"), 0, 0, true}});
  EXPECT_EQ(*Read(archive, {.member = "b"}), "second");
}

TEST_F(ZipArchiveTest, WhatIsNotReadIsNamed) {
  ExpectError(Archive({{"a.npy", Npy("x"), 12}}), "compressed by method 12");
  ExpectError(Archive({{"a.npy", Npy("x"), 0, 1}}), "'a.npy' is encrypted");
  ExpectError(Archive({{"xl/workbook.xml", "x"}, {"[Content_Types].xml", ""}}), "an Excel file");
  ExpectError(Archive({{"m/data.pkl", "x"}, {"m/version", "3"}}), "a PyTorch file");
}

TEST_F(ZipArchiveTest, DamageIsFound) {
  const std::string archive = Archive({{"a.npy", Npy("content")}});
  for (size_t size = 4; size < archive.size(); ++size) {
    EXPECT_FALSE(Read(archive.substr(0, size)).ok()) << size;
  }
  std::string damaged = archive;
  const size_t at = damaged.find("content");
  damaged[at] = 'C';
  ExpectError(damaged, "its size or checksum is wrong");
}

// Whatever bytes a file has, reading it ends, with elements or an error.
TEST_F(ZipArchiveTest, DamagedFilesOfEveryKindAreReadOrRefused) {
  const std::vector<std::string> files = {
      Archive({{"a.npy", Npy("content"), 0, 0, true}, {"b.npy", Npy("more")}}),
      Archive({{"a.npy", Npy("content")}}, "comment"),
      Npy("0123456789"),
      "\x93NUMPY\x02" + std::string(1, '\0') + Number(60, 4) +
          "{'descr': '>f8', 'fortran_order': True, 'shape': (1, 2), }   " + std::string(16, 'x'),
      "a,b\n1,2\n\"3\",4\n5,\"\"\n",
  };
  std::mt19937 random(7);
  int read_count = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string file = files[static_cast<size_t>(i) % files.size()];
    for (unsigned change = 0; change <= random() % 3; ++change) {
      const size_t at = random() % file.size();
      switch (random() % 4) {
        case 0: file[at] = static_cast<char>(random()); break;
        case 1: file[at] = static_cast<char>(random() % 2 == 0 ? 0xFF : 0); break;
        case 2: file.erase(at, 1 + random() % 4); break;
        default: file.insert(at, Number(random(), static_cast<int>(random() % 9)));
      }
      if (file.empty()) file.push_back('x');
    }
    const auto elements =
        Read(file, {.member = file[0] == 'P' ? std::optional("a") : std::nullopt,
                    .csv = {.delimiter = file[0] == 'a' ? std::optional(',') : std::nullopt}});
    read_count += elements.ok() ? 1 : 0;
  }
  EXPECT_GT(read_count, 0);
}

}  // namespace
}  // namespace gridfold::client
