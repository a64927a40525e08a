// A file descriptor that is closed with its object.
#ifndef GRIDFOLD_SERVER_BASE_DESCRIPTOR_H_
#define GRIDFOLD_SERVER_BASE_DESCRIPTOR_H_

namespace gridfold::server {

// Movable only. Not thread-safe.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int get() const { return value_; }
  int release();

 private:
  int value_;
};

}  // namespace gridfold::server

#endif  // GRIDFOLD_SERVER_BASE_DESCRIPTOR_H_
