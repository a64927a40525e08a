#include "client/command_line/input/decompression.h"

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "client/command_line/input/string_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;

// The whole text, read in pieces of `step_bytes`.
absl::StatusOr<std::string> ReadSource(ByteSource& source, size_t step_bytes) {
  std::string text;
  std::string step(step_bytes, '\0');
  while (true) {
    const absl::StatusOr<size_t> size = source.Read({step.data(), step.size()});
    if (!size.ok()) return size.status();
    text.append(step, 0, *size);
    if (*size < step.size()) return text;
  }
}

std::string Text(size_t size) {
  std::string text;
  for (uint32_t i = 0; text.size() < size; ++i) text += std::to_string(i * 2654435761u) + "\n";
  return text.substr(0, size);
}

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string compressed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

std::string Zstd(const std::string& text) {
  std::string compressed(ZSTD_compressBound(text.size()), '\0');
  compressed.resize(
      ZSTD_compress(compressed.data(), compressed.size(), text.data(), text.size(), 3));
  return compressed;
}

struct Method {
  const char* name;
  std::string (*compress)(const std::string&);
  std::unique_ptr<ByteSource> (*decompress)(std::unique_ptr<ByteSource>);
};
const Method kMethods[] = {{"gzip", &Gzip, &DecompressGzip}, {"zstd", &Zstd, &DecompressZstd}};

absl::StatusOr<std::string> Decompress(const Method& method, const std::string& compressed,
                                       size_t step_bytes = 1000) {
  const auto source = method.decompress(std::make_unique<StringSource>(compressed));
  return ReadSource(*source, step_bytes);
}

TEST(DecompressionTest, GivesWhatWasCompressed) {
  for (const Method& method : kMethods) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{2'000'000}}) {
      const std::string text = Text(size);
      for (const size_t step : {size_t{7}, size_t{1000}, size_t{3'000'000}}) {
        if (size > 1000 && step == 7) continue;
        const auto result = Decompress(method, method.compress(text), step);
        ASSERT_TRUE(result.ok()) << method.name << result.status();
        EXPECT_EQ(*result, text);
      }
    }
  }
}

TEST(DecompressionTest, SeveralMembersFollowOneAnother) {
  for (const Method& method : kMethods) {
    const std::string compressed =
        method.compress("one ") + method.compress("") + method.compress(Text(600'000));
    EXPECT_EQ(*Decompress(method, compressed), "one " + Text(600'000));
  }
  EXPECT_EQ(*Decompress(kMethods[0], Gzip("a") + std::string(1'000'000, '\0')), "a");
}

TEST(DecompressionTest, FilesThatAreCutOffAreErrors) {
  for (const Method& method : kMethods) {
    const std::string compressed = method.compress(Text(5000));
    for (size_t size = 1; size < compressed.size(); size += size < 30 ? 1 : 97) {
      const absl::Status status = Decompress(method, compressed.substr(0, size)).status();
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << method.name << " " << size;
      EXPECT_THAT(std::string(status.message()), HasSubstr("cut off"))
          << method.name << " " << size;
    }
    const absl::Status second =
        Decompress(method, compressed + compressed.substr(0, compressed.size() - 1)).status();
    EXPECT_THAT(std::string(second.message()), HasSubstr("cut off"));
  }
}

TEST(DecompressionTest, DamageIsFound) {
  for (const Method& method : kMethods) {
    const std::string compressed = method.compress(Text(5000));
    std::string damaged = compressed;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    EXPECT_TRUE(absl::IsInvalidArgument(Decompress(method, damaged).status()) ||
                *Decompress(method, damaged) != Text(5000));
    EXPECT_TRUE(absl::IsInvalidArgument(Decompress(method, compressed + "more").status()));
  }
  std::string wrong_sum = Gzip(Text(5000));
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] ^ 1);
  EXPECT_THAT(std::string(Decompress(kMethods[0], wrong_sum).status().message()),
              HasSubstr("gzip: the compressed data are damaged (incorrect data check)"));
}

}  // namespace
}  // namespace gridfold::client
