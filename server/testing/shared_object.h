// A POSIX shared-memory object that a test makes, as a caller of the server would.
#ifndef GRIDFOLD_SERVER_TESTING_SHARED_OBJECT_H_
#define GRIDFOLD_SERVER_TESTING_SHARED_OBJECT_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gridfold::server {

class SharedObject {
 public:
  // Filled with 0.
  explicit SharedObject(uint64_t size_bytes)
      : name_(absl::StrCat("/gridfold-test-", getpid(), "-", next_number_++)),
        size_bytes_(size_bytes),
        file_(shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600)) {
    EXPECT_GE(file_, 0) << strerror(errno);
    Resize(size_bytes);
    Fill();
    void* const data = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    EXPECT_NE(data, MAP_FAILED);
    data_ = static_cast<char*>(data);
  }
  template <class T>
  explicit SharedObject(const std::vector<T>& values) : SharedObject(values.size() * sizeof(T)) {
    Put(0, values);
  }
  ~SharedObject() {
    munmap(data_, size_bytes_);
    close(file_);
    shm_unlink(name_.c_str());
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  const std::string& name() const { return name_; }
  uint64_t size_bytes() const { return size_bytes_; }
  char* data() const { return data_; }

  template <class T>
  void Put(uint64_t offset_bytes, const std::vector<T>& values) {
    memcpy(data_ + offset_bytes, values.data(), values.size() * sizeof(T));
  }
  std::string Bytes(uint64_t offset_bytes, uint64_t size_bytes) const {
    return {data_ + offset_bytes, size_bytes};
  }

  // Gives every page memory.
  void Fill() { EXPECT_EQ(posix_fallocate(file_, 0, static_cast<off_t>(size_bytes_)), 0); }
  // Takes the memory of pages.
  void Punch(uint64_t offset_bytes, uint64_t size_bytes) {
    EXPECT_EQ(fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(offset_bytes), static_cast<off_t>(size_bytes)),
              0)
        << strerror(errno);
  }
  // Of the pages that have some.
  uint64_t MemoryBytes() const {
    struct stat status = {};
    EXPECT_EQ(fstat(file_, &status), 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }

  // What is beyond the new end is gone for whoever has mapped it.
  void Resize(uint64_t size_bytes) {
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(size_bytes)), 0) << strerror(errno);
  }

 private:
  static inline std::atomic<int> next_number_ = 0;

  const std::string name_;
  const uint64_t size_bytes_;
  const int file_;
  char* data_ = nullptr;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_TESTING_SHARED_OBJECT_H_
