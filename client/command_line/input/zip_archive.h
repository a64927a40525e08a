// Zip archives, as numpy.savez writes them (.npz).
//
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#ifndef GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ZIP_ARCHIVE_H_
#define GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ZIP_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/command_line/input/byte_source.h"
#include "client/command_line/input/file.h"

namespace gridfold::client {

// What the archive's directory says about a member.
struct ZipMember {
  std::string name;
  bool is_encrypted = false;
  uint16_t method = 0;  // 0: stored; 8: deflated.
  uint32_t crc = 0;
  uint64_t compressed_bytes = 0;
  uint64_t size_bytes = 0;
  uint64_t header_offset = 0;  // In the archive.
};

class ZipArchive {
 public:
  // The archive that a regular file is from `first_byte` on; also with zip64's sizes. Reads the
  // directory, of 64 MiB at most. INVALID_ARGUMENT where it is damaged or cut off.
  static absl::StatusOr<ZipArchive> Open(std::shared_ptr<const File> file, uint64_t first_byte);

  // Without folders, in the archive's order.
  const std::vector<ZipMember>& members() const { return members_; }

  // The member's content. INVALID_ARGUMENT where it is encrypted, compressed by another method than
  // deflate, or its headers are damaged; reading it, where it is cut off or not what its checksum
  // says.
  absl::StatusOr<std::unique_ptr<ByteSource>> OpenMember(const ZipMember& member) const;

 private:
  ZipArchive(std::shared_ptr<const File> file, uint64_t first_byte)
      : file_(std::move(file)), first_byte_(first_byte) {}

  std::shared_ptr<const File> file_;
  uint64_t first_byte_;
  std::vector<ZipMember> members_;
};

}  // namespace gridfold::client

#endif  // GRIDFOLD_CLIENT_COMMAND_LINE_INPUT_ZIP_ARCHIVE_H_
