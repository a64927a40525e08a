// Files that make no sense are errors that name them, and no reason for a program to end.
#include "client/library/tls_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/library/security.h"

namespace gridfold::client {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TlsFilesTest : public testing::Test {
 protected:
  TlsFilesTest() {
    std::string folder = std::filesystem::temp_directory_path() / "gridfold-test-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    for (const char* const name : {"one", "two"}) {
      const std::string command = absl::StrCat(
          "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=",
          name, " -keyout ", Path(name), ".key -out ", Path(name), ".crt >/dev/null 2>&1");
      EXPECT_EQ(std::system(command.c_str()), 0);
    }
  }
  ~TlsFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  std::string Write(const std::string& content) const {
    std::ofstream(Path("bad"), std::ios::binary) << content;
    return Path("bad");
  }
  static std::string Read(const std::string& path) {
    std::stringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }
  // Empty where there is nothing wrong.
  static std::string ErrorOf(const TlsOptions& tls) {
    return std::string(MakeCredentials({.tls = tls}).status().message());
  }

  std::filesystem::path folder_;
};

TEST_F(TlsFilesTest, GoodFiles) {
  EXPECT_EQ(ErrorOf({}), "");
  EXPECT_EQ(ErrorOf({.ca_file = Path("one.crt")}), "");
  EXPECT_EQ(ErrorOf({.certificate_file = Path("one.crt"), .key_file = Path("one.key")}), "");
  EXPECT_EQ(ErrorOf({.ca_file = Write(Read(Path("one.crt")) + Read(Path("two.crt")))}), "");
  const std::string both = Write(Read(Path("one.key")) + Read(Path("one.crt")));
  EXPECT_EQ(ErrorOf({.certificate_file = both, .key_file = both}), "");
}

TEST_F(TlsFilesTest, AFileWithoutWholeCertificates) {
  const std::string pem = Read(Path("one.crt"));
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string(2000, 'x'), std::string(2000, '\0'),
        pem.substr(0, 300), pem + pem.substr(0, 300), Read(Path("one.key"))}) {
    EXPECT_THAT(ErrorOf({.ca_file = Write(bad)}), StartsWith("tls.ca_file: "));
    EXPECT_THAT(ErrorOf({.ca_file = Write(bad)}), HasSubstr(Path("bad")));
    EXPECT_THAT(ErrorOf({.certificate_file = Write(bad), .key_file = Path("one.key")}),
                StartsWith("tls.certificate_file: "));
  }
}

TEST_F(TlsFilesTest, AKeyThatIsNone) {
  const std::string pem = Read(Path("one.key"));
  for (const std::string& bad : {std::string(), std::string("\n"), pem.substr(0, 100),
                                 std::string(500, '\0'), Read(Path("one.crt"))}) {
    EXPECT_THAT(ErrorOf({.certificate_file = Path("one.crt"), .key_file = Write(bad)}),
                StartsWith("tls.key_file: "));
  }
  EXPECT_THAT(ErrorOf({.certificate_file = Path("one.crt"), .key_file = Path("two.key")}),
              HasSubstr("two.key cannot be used: it is not the key of the certificate"));
}

}  // namespace
}  // namespace gridfold::client
