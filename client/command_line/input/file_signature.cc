#include "client/command_line/input/file_signature.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "client/command_line/input/npy_format.h"

namespace gridfold::client {
namespace {

using namespace std::string_view_literals;

// Where the signature of a foreign kind stands, and what it says about the file.
struct Signature {
  std::string_view bytes;
  const char* name;
  const char* advice;
  size_t offset = 0;
  bool is_certain = true;
  bool is_text = false;  // So that text may begin so, and only binary data are of this kind.
};

constexpr char kSaveColumn[] =
    "save what is wanted as .npy, for example with "
    "numpy.save('column.npy', pandas.read_parquet('FILE')['COLUMN'])";
constexpr char kSaveArrow[] =
    "save what is wanted as .npy, for example with "
    "numpy.save('column.npy', pyarrow.ipc.open_file('FILE').read_all()['COLUMN'].to_numpy())";
constexpr char kSaveSheet[] = "save the sheet as CSV";
constexpr char kSaveArray[] = "load it in Python and save the array with numpy.save";
constexpr char kUnpack[] = "unpack it and pass one of its files";

constexpr Signature kSignatures[] = {
    {"PAR1"sv, "a Parquet file", kSaveColumn, 0, true, true},
    {"PARE"sv, "an encrypted Parquet file", kSaveColumn, 0, true, true},
    {"ARROW1\0\0"sv, "an Arrow file", kSaveArrow},
    {"FEA1"sv, "a Feather file", kSaveArrow, 0, true, true},
    {"MATLAB 5.0 MAT-file"sv, "a MATLAB file", kSaveArray},
    {"CDF\x01"sv, "a netCDF file", kSaveArray},
    {"CDF\x02"sv, "a netCDF file", kSaveArray},
    {"CDF\x05"sv, "a netCDF file", kSaveArray},
    {"SIMPLE  ="sv, "a FITS file", kSaveArray},
    {"ORC"sv, "an ORC file", kSaveColumn, 0, true, true},
    {"Obj\x01"sv, "an Avro file", kSaveArray},
    {"SQLite format 3\0"sv, "an SQLite database", "export the column as CSV"},
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "an Excel file or another of Office", kSaveSheet},
    {"\xFD"
     "7zXZ\0"sv,
     "an xz file", "decompress it: xz -dc FILE | gridfold ... -"},
    {"BZh91AY&SY"sv, "a bzip2 file", "decompress it: bzip2 -dc FILE | gridfold ... -"},
    {"1AY&SY"sv, "a bzip2 file", "decompress it: bzip2 -dc FILE | gridfold ... -", 4},
    {"\x04\x22\x4D\x18"sv, "an lz4 file", "decompress it: lz4 -dc FILE | gridfold ... -", 0, false},
    {"\x1F\x9D"sv, "a compress (.Z) file", "decompress it: gzip -dc FILE | gridfold ... -", 0,
     false},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", kUnpack},
    {"Rar!\x1A\x07"sv, "a RAR archive", kUnpack},
    {"ustar"sv, "a tar archive", kUnpack, 257},
    {"\x80\x02"sv, "a Python pickle", kSaveArray, 0, false},
    {"\x80\x03"sv, "a Python pickle", kSaveArray, 0, false},
    {"\x80\x04\x95"sv, "a Python pickle", kSaveArray, 0, false},
    {"\x80\x05\x95"sv, "a Python pickle", kSaveArray, 0, false},
    {"\x89PNG\r\n\x1a\n"sv, "a PNG image", kSaveArray},
    {"\xFF\xD8\xFF"sv, "a JPEG image", kSaveArray, 0, false},
    {"II*\0"sv, "a TIFF image", kSaveArray, 0, false},
    {"MM\0*"sv, "a TIFF image", kSaveArray, 0, false},
    {"%PDF-"sv, "a PDF file", "save its numbers as CSV"},
    {"\xFF\xFF\xFF\xFF"sv, "an Arrow stream", kSaveArrow, 0, false},
    {"\xFF\xFE"sv, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8", 0, false},
    {"\xFE\xFF"sv, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8", 0, false},
};

// HDF5, at its begin or behind a block of another program, such as MATLAB's.
bool IsHdf5(absl::string_view beginning) {
  constexpr absl::string_view kMark = "\x89HDF\r\n\x1a\n";
  constexpr size_t kUserBlockBytes = 512;
  return absl::StartsWith(beginning, kMark) ||
         (beginning.size() > kUserBlockBytes &&
          absl::StartsWith(beginning.substr(kUserBlockBytes), kMark));
}

bool Begins(absl::string_view beginning, const Signature& signature) {
  if (beginning.size() < signature.offset) return false;
  const absl::string_view bytes(signature.bytes.data(), signature.bytes.size());
  if (!absl::StartsWith(beginning.substr(signature.offset), bytes)) return false;
  return !signature.is_text || LooksBinary(beginning, '\0');
}

}  // namespace

FileKind RecognizeKind(absl::string_view beginning) {
  if (IsNpy(beginning)) return FileKind::kNpy;
  // Deflate is the only method that there ever was; the upper flags are 0.
  if (absl::StartsWith(beginning, "\x1F\x8B\x08") &&
      (beginning.size() < 4 || (static_cast<unsigned char>(beginning[3]) & 0xE0) == 0)) {
    return FileKind::kGzip;
  }
  if (absl::StartsWith(beginning, "\x28\xB5\x2F\xFD")) return FileKind::kZstd;
  if (absl::StartsWith(beginning, "PK\x03\x04") || absl::StartsWith(beginning, "PK\x05\x06")) {
    return FileKind::kZip;
  }
  if (IsHdf5(beginning)) return FileKind::kHdf5;
  return FileKind::kUnknown;
}

std::optional<ForeignKind> RecognizeForeignKind(absl::string_view beginning) {
  for (const Signature& signature : kSignatures) {
    if (Begins(beginning, signature)) {
      return ForeignKind{signature.name, signature.advice, signature.is_certain};
    }
  }
  return std::nullopt;
}

bool LooksBinary(absl::string_view beginning, char delimiter) {
  return std::any_of(beginning.begin(), beginning.end(), [delimiter](char c) {
    return static_cast<unsigned char>(c) < 0x20 && (c < '\t' || c > '\r') &&
           (c == '\0' || c != delimiter);
  });
}

}  // namespace gridfold::client
