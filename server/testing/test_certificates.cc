#include "server/testing/test_certificates.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace gridfold::server {

namespace {

void Run(const std::string& command) {
  ASSERT_EQ(std::system(absl::StrCat(command, " >/dev/null 2>&1").c_str()), 0) << command;
}

}  // namespace

TestFolder::TestFolder() {
  std::string name = std::filesystem::temp_directory_path() / "gridfold-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    ADD_FAILURE() << "no folder for tests";
    std::abort();
  }
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::Write(const std::string& name, const std::string& content) const {
  std::string path = Path(name);
  std::ofstream(path + ".new") << content;
  std::filesystem::rename(path + ".new", path);
  return path;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TestAuthority::TestAuthority(const TestFolder& folder, const std::string& name)
    : folder_(folder), name_(name) {
  Run(
      absl::StrCat("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 "
                   "-subj /CN=",
                   name, " -keyout ", folder.Path(name + ".key"), " -out ", certificate()));
}

void TestAuthority::Issue(const std::string& name, int days) const {
  const std::string path = folder_.Path(name);
  const std::string extensions =
      folder_.Write("extensions", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  Run(absl::StrCat("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=",
                   name, " -keyout ", path, ".key -out ", path, ".csr"));
  Run(absl::StrCat("openssl x509 -req -in ", path, ".csr -CA ", certificate(), " -CAkey ",
                   folder_.Path(name_ + ".key"), " -CAcreateserial -days ", days, " -extfile ",
                   extensions, " -out ", path, ".crt"));
}

}  // namespace gridfold::server
