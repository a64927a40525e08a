// Keys and certificates for tests, made by the program openssl in a folder of their own.
#ifndef GRIDFOLD_SERVER_TESTING_TEST_CERTIFICATES_H_
#define GRIDFOLD_SERVER_TESTING_TEST_CERTIFICATES_H_

#include <filesystem>
#include <string>

namespace gridfold::server {

// A folder that goes with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ / name; }
  // Writes a file that readers see whole or not at all.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

std::string ReadWhole(const std::string& path);

// An authority, which signs certificates for "localhost" and 127.0.0.1.
class TestAuthority {
 public:
  // Its files are called `name` with endings.
  TestAuthority(const TestFolder& folder, const std::string& name);

  std::string certificate() const { return folder_.Path(name_ + ".crt"); }

  // Makes NAME.crt and NAME.key, valid for so many days from now; of -1 it has expired.
  void Issue(const std::string& name, int days = 30) const;

 private:
  const TestFolder& folder_;
  const std::string name_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_TEST_CERTIFICATES_H_
