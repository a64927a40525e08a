#include "client/command_line/input/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/command_line/input/decompression.h"

namespace gridfold::client {
namespace {

constexpr absl::string_view kMemberSignature = "PK\x03\x04";
constexpr absl::string_view kEntrySignature = "PK\x01\x02";
constexpr absl::string_view kEndSignature = "PK\x05\x06";
constexpr absl::string_view kEnd64Signature = "PK\x06\x06";
constexpr absl::string_view kLocatorSignature = "PK\x06\x07";

constexpr size_t kMemberHeaderBytes = 30;
constexpr size_t kEntryBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kLocatorBytes = 20;
constexpr size_t kCommentBytesMax = 0xFFFF;
constexpr uint64_t kDirectoryBytesMax = uint64_t{64} << 20;

// In place of a number that zip64's fields have.
constexpr uint32_t kIn64 = 0xFFFFFFFF;
constexpr uint16_t kZip64Field = 1;

constexpr uint16_t kEncryptedFlag = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

absl::Status ZipDamaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("zip: ", what));
}

// The little-endian number at `offset` of `bytes`, which reach so far.
template <typename T>
T NumberAt(absl::string_view bytes, size_t offset) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(T{static_cast<unsigned char>(bytes[offset + i])} << (8 * i));
  }
  return value;
}

absl::StatusOr<std::string> ReadExactly(const File& file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  const absl::StatusOr<size_t> read_bytes = file.ReadAt(offset, {bytes.data(), size});
  if (!read_bytes.ok()) return read_bytes.status();
  if (*read_bytes < size) return ZipDamaged("the archive is cut off");
  return bytes;
}

struct DirectoryPlace {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

// Zip64's own end, which a locator right before the other one points to.
absl::StatusOr<DirectoryPlace> FindDirectory64(const File& file, uint64_t first_byte,
                                               absl::string_view before_end) {
  if (before_end.size() < kLocatorBytes) return ZipDamaged("the archive's end is damaged");
  const absl::string_view locator = before_end.substr(before_end.size() - kLocatorBytes);
  if (!absl::StartsWith(locator, kLocatorSignature)) {
    return ZipDamaged("the archive's end is damaged");
  }
  const absl::StatusOr<std::string> end =
      ReadExactly(file, first_byte + NumberAt<uint64_t>(locator, 8), kEnd64Bytes);
  if (!end.ok()) return end.status();
  if (!absl::StartsWith(*end, kEnd64Signature)) return ZipDamaged("the archive's end is damaged");
  return DirectoryPlace{NumberAt<uint64_t>(*end, 48), NumberAt<uint64_t>(*end, 40)};
}

// Looks for the record at the archive's end, which a comment may follow.
absl::StatusOr<DirectoryPlace> FindDirectory(const File& file, uint64_t first_byte,
                                             uint64_t size_bytes) {
  const size_t tail_bytes = static_cast<size_t>(
      std::min<uint64_t>(size_bytes, kEndBytes + kCommentBytesMax + kLocatorBytes));
  const absl::StatusOr<std::string> tail =
      ReadExactly(file, first_byte + size_bytes - tail_bytes, tail_bytes);
  if (!tail.ok()) return tail.status();
  const absl::string_view text = *tail;
  for (size_t at = text.rfind(kEndSignature); at != absl::string_view::npos && text.size() > 0;
       at = at == 0 ? absl::string_view::npos : text.rfind(kEndSignature, at - 1)) {
    if (text.size() - at < kEndBytes ||
        at + kEndBytes + NumberAt<uint16_t>(text, at + 20) != text.size()) {
      continue;
    }
    const DirectoryPlace place{NumberAt<uint32_t>(text, at + 16),
                               NumberAt<uint32_t>(text, at + 12)};
    const bool is_in_64 = place.offset == kIn64 || place.size_bytes == kIn64 ||
                          NumberAt<uint16_t>(text, at + 10) == 0xFFFF;
    return is_in_64 ? FindDirectory64(file, first_byte, text.substr(0, at))
                    : absl::StatusOr<DirectoryPlace>(place);
  }
  return ZipDamaged("the archive is cut off, or something follows it: its directory is missing");
}

// Fills in the numbers that stand in zip64's extra field; false where they do not.
bool ApplyZip64(absl::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const uint16_t id = NumberAt<uint16_t>(extra, 0);
    const size_t size = NumberAt<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (size > extra.size()) return false;
    absl::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != kZip64Field) continue;
    for (uint64_t* const number :
         {&member.size_bytes, &member.compressed_bytes, &member.header_offset}) {
      if (*number != kIn64) continue;
      if (field.size() < 8) return false;
      *number = NumberAt<uint64_t>(field, 0);
      field.remove_prefix(8);
    }
    return true;
  }
  return member.size_bytes != kIn64 && member.compressed_bytes != kIn64 &&
         member.header_offset != kIn64;
}

absl::StatusOr<std::vector<ZipMember>> ParseDirectory(absl::string_view directory) {
  std::vector<ZipMember> members;
  while (!directory.empty()) {
    if (directory.size() < kEntryBytes || !absl::StartsWith(directory, kEntrySignature)) {
      return ZipDamaged("the archive's directory is damaged");
    }
    const size_t name_bytes = NumberAt<uint16_t>(directory, 28);
    const size_t extra_bytes = NumberAt<uint16_t>(directory, 30);
    const size_t entry_bytes =
        kEntryBytes + name_bytes + extra_bytes + NumberAt<uint16_t>(directory, 32);
    if (directory.size() < entry_bytes) return ZipDamaged("the archive's directory is damaged");
    ZipMember member{.name = std::string(directory.substr(kEntryBytes, name_bytes)),
                     .is_encrypted = (NumberAt<uint16_t>(directory, 8) & kEncryptedFlag) != 0,
                     .method = NumberAt<uint16_t>(directory, 10),
                     .crc = NumberAt<uint32_t>(directory, 16),
                     .compressed_bytes = NumberAt<uint32_t>(directory, 20),
                     .size_bytes = NumberAt<uint32_t>(directory, 24),
                     .header_offset = NumberAt<uint32_t>(directory, 42)};
    if (!ApplyZip64(directory.substr(kEntryBytes + name_bytes, extra_bytes), member)) {
      return ZipDamaged("the archive's directory is damaged");
    }
    if (!absl::EndsWith(member.name, "/")) members.push_back(std::move(member));
    directory.remove_prefix(entry_bytes);
  }
  return members;
}

// A part of a file.
class FilePart : public ByteSource {
 public:
  FilePart(std::shared_ptr<const File> file, uint64_t offset, uint64_t size_bytes)
      : file_(std::move(file)), offset_(offset), size_bytes_(size_bytes) {}

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(buffer.size(), size_bytes_));
    absl::StatusOr<size_t> read_bytes = file_->ReadAt(offset_, buffer.first(wanted));
    if (!read_bytes.ok()) return read_bytes;
    if (*read_bytes < wanted) return ZipDamaged("the archive is cut off");
    offset_ += wanted;
    size_bytes_ -= wanted;
    return read_bytes;
  }

 private:
  const std::shared_ptr<const File> file_;
  uint64_t offset_;
  uint64_t size_bytes_;
};

// A member's content, compared with what the directory says about it.
class CheckedMember : public ByteSource {
 public:
  CheckedMember(std::unique_ptr<ByteSource> content, const ZipMember& member)
      : content_(std::move(content)), crc_expected_(member.crc), rest_bytes_(member.size_bytes) {}

  absl::StatusOr<size_t> Read(std::span<char> buffer) override {
    absl::StatusOr<size_t> size = content_->Read(buffer);
    if (!size.ok()) return size;
    if (*size > rest_bytes_) return Wrong();
    rest_bytes_ -= *size;
    for (size_t done = 0; done < *size;) {
      const size_t step = std::min<size_t>(*size - done, std::numeric_limits<uInt>::max());
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(buffer.data() + done),
                   static_cast<uInt>(step));
      done += step;
    }
    const bool is_at_end = *size < buffer.size() || rest_bytes_ == 0;
    if (is_at_end && (rest_bytes_ > 0 || crc_ != crc_expected_)) return Wrong();
    return size;
  }

  std::optional<uint64_t> size_bytes() const override { return rest_bytes_; }

 private:
  static absl::Status Wrong() {
    return ZipDamaged("the member is damaged: its size or checksum is wrong");
  }

  const std::unique_ptr<ByteSource> content_;
  const uint32_t crc_expected_;
  uint64_t rest_bytes_;
  uLong crc_ = crc32(0, nullptr, 0);
};

}  // namespace

absl::StatusOr<ZipArchive> ZipArchive::Open(std::shared_ptr<const File> file, uint64_t first_byte) {
  ZipArchive archive(std::move(file), first_byte);
  const File& opened = *archive.file_;
  const std::optional<uint64_t> rest_bytes = opened.size_bytes();
  const uint64_t end = opened.position().value_or(0) + rest_bytes.value_or(0);
  if (end < first_byte + kEndBytes) return ZipDamaged("the archive is cut off");
  const absl::StatusOr<DirectoryPlace> place = FindDirectory(opened, first_byte, end - first_byte);
  if (!place.ok()) return place.status();
  if (place->size_bytes > kDirectoryBytesMax) {
    return absl::ResourceExhaustedError("zip: the archive's directory is larger than 64 MiB");
  }
  const uint64_t size_bytes = end - first_byte;
  if (place->offset > size_bytes || place->size_bytes > size_bytes - place->offset) {
    return ZipDamaged("the archive's end is damaged");
  }
  const absl::StatusOr<std::string> directory =
      ReadExactly(opened, first_byte + place->offset, static_cast<size_t>(place->size_bytes));
  if (!directory.ok()) return directory.status();
  absl::StatusOr<std::vector<ZipMember>> members = ParseDirectory(*directory);
  if (!members.ok()) return members.status();
  archive.members_ = *std::move(members);
  return archive;
}

absl::StatusOr<std::unique_ptr<ByteSource>> ZipArchive::OpenMember(const ZipMember& member) const {
  if (member.is_encrypted) return ZipDamaged(absl::StrCat("'", member.name, "' is encrypted"));
  if (member.method != kStored && member.method != kDeflated) {
    return ZipDamaged(absl::StrCat("'", member.name, "' is compressed by method ", member.method,
                                   ", and only deflate (8) is read: unpack it"));
  }
  // Far beyond the file, sums of offsets would wrap around.
  if (member.header_offset > std::numeric_limits<int64_t>::max() / 2) {
    return ZipDamaged("the archive's directory is damaged");
  }
  const uint64_t offset = first_byte_ + member.header_offset;
  const absl::StatusOr<std::string> header = ReadExactly(*file_, offset, kMemberHeaderBytes);
  if (!header.ok()) return header.status();
  if (!absl::StartsWith(*header, kMemberSignature)) {
    return ZipDamaged(absl::StrCat("the header of '", member.name, "' is damaged"));
  }
  const uint64_t content_offset = offset + kMemberHeaderBytes + NumberAt<uint16_t>(*header, 26) +
                                  NumberAt<uint16_t>(*header, 28);
  std::unique_ptr<ByteSource> content =
      std::make_unique<FilePart>(file_, content_offset, member.compressed_bytes);
  if (member.method == kDeflated) content = DecompressDeflate(std::move(content));
  return std::make_unique<CheckedMember>(std::move(content), member);
}

}  // namespace gridfold::client
