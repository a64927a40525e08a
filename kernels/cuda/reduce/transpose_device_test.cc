#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/lane/device_test.h"
#include "kernels/cuda/reduce/transpose.h"

namespace gridfold::kernels::cuda {
namespace {

template <class U>
class TransposeDeviceTest : public DeviceTest {};
using Types = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(TransposeDeviceTest, Types);

TYPED_TEST(TransposeDeviceTest, EveryShape) {
  using U = TypeParam;
  for (const uint64_t rows : {1, 2, 3, 31, 64, 65, 1000, 4095, 4097, 70'000}) {
    for (const uint64_t columns : {1, 2, 5, 33, 63, 64, 129, 2048, 4097}) {
      if (rows * columns > 5'000'000) continue;
      for (const uint64_t misalignment : {0, 1}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << columns);
        std::vector<U> values(rows * columns);
        for (uint64_t i = 0; i < values.size(); ++i) values[i] = static_cast<U>(i * 2654435761u);
        std::vector<U> expected(values.size());
        for (uint64_t r = 0; r < rows; ++r) {
          for (uint64_t c = 0; c < columns; ++c) expected[c * rows + r] = values[r * columns + c];
        }
        const DeviceArray<U> from{std::span<const U>(values), misalignment};
        const DeviceArray<U> to(values.size());
        this->Synchronize();
        const absl::Status status = LaunchTranspose(
            {.elements = from.data(), .transposed = to.data(), .rows = rows, .columns = columns},
            sizeof(U), this->stream());
        ASSERT_TRUE(status.ok()) << status;
        this->Synchronize();
        ASSERT_TRUE(to.Read() == expected);
      }
    }
  }
}

}  // namespace
}  // namespace gridfold::kernels::cuda
