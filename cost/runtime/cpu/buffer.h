#pragma once
// Memory for tensors.
#include <cstddef>
#include <memory>
#include <new>

namespace regraft::cost::cpu {

/// Floats at the start of a cache line, all 0 at first.
class Buffer {
 public:
  explicit Buffer(size_t floats)
      : data_(static_cast<float*>(::operator new (bytes(floats), std::align_val_t{kAlign}))),
        size_(floats) {
    std::uninitialized_fill_n(data_, floats, 0.0F);
  }
  ~Buffer() { ::operator delete (data_, std::align_val_t{kAlign}); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kAlign = 64;
  static size_t bytes(size_t floats) { return (floats + 1) * sizeof(float); }
  float* data_;
  size_t size_;
};

}  // namespace regraft::cost::cpu
