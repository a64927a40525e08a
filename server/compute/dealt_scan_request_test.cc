// Scans of sharded arrays, over sockets: whatever the number of devices, and wherever shards end,
// the results have the bits of one device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "server/testing/devices_fixture.h"

namespace gridfold::server {
namespace {

class DealtScanRequestTest : public DevicesTest {
 protected:
  // Of a matrix of many units of kShardUnitElements, of which no row but the first begins one.
  static constexpr uint64_t kManyRows = kCount / kColumns;

  // Nothing behind an infinity would tell carries apart.
  std::vector<double> FiniteDoubles(uint64_t count) {
    std::vector<double> values;
    for (const float value : Floats(count)) values.push_back(std::isinf(value) ? 1 : value / 3.0);
    return values;
  }

  static v1::ScanArrayRequest Scan(const v1::ArraySource& source, bool reverse) {
    v1::ScanArrayRequest request;
    *request.mutable_array() = source;
    request.set_operation(v1::SCAN_OPERATION_SUM);
    request.set_nan_policy(v1::NAN_POLICY_IGNORE);
    if (reverse) request.set_direction(v1::SCAN_DIRECTION_REVERSE);
    return request;
  }
  static v1::ScanArrayRequest AlongAxis(v1::ScanArrayRequest request, uint32_t axis) {
    request.mutable_grouping()->set_axis(axis);
    return request;
  }
};

TEST_F(DealtScanRequestTest, WholeArraysSlicesAndSegments) {
  const std::vector<double> values = FiniteDoubles(kCount);
  const uint64_t cut = 2 * kShardUnitElements;  // Of two shards.
  for (const bool reverse : {false, true}) {
    ExpectSameBits([&](Devices& devices) {
      PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT64, {kCount}, values);
      v1::ScanArrayRequest segments = Scan(Resident("x"), reverse);
      for (const uint64_t offset : {uint64_t{0}, uint64_t{10}, cut - 5, cut + 9, kCount}) {
        segments.mutable_grouping()->mutable_segments()->add_offsets(offset);
      }
      const v1::ScanArrayRequest slice = Scan(Resident("x", 5, kCount - 7), reverse);
      return ResultsOf(devices, Scan(Resident("x"), reverse)) + ResultsOf(devices, slice) +
             ResultsOf(devices, Scan(Resident("x", cut - 1, 2), reverse)) +
             ResultsOf(devices, segments) + ScannedInPlace(devices, slice, "x");
    });
  }
}

TEST_F(DealtScanRequestTest, RowsAndColumns) {
  const std::vector<double> table = FiniteDoubles(kManyRows * kColumns);
  for (const bool reverse : {false, true}) {
    ExpectSameBits([&](Devices& devices) {
      PutSharded(devices, "m", v1::ELEMENT_TYPE_FLOAT64, {kManyRows, kColumns}, table);
      PutSharded(devices, "column", v1::ELEMENT_TYPE_FLOAT64, {kManyRows * kColumns, 1}, table);
      const v1::ScanArrayRequest rows = AlongAxis(Scan(Resident("m"), reverse), 1);
      return ResultsOf(devices, rows) +
             ResultsOf(devices, AlongAxis(Scan(Resident("column"), reverse), 0)) +
             ScannedInPlace(devices, rows, "m");
    });
  }
}

TEST_F(DealtScanRequestTest, MovingScans) {
  const std::vector<double> values = FiniteDoubles(kCount);
  ExpectSameBits([&](Devices& devices) {
    PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT64, {kCount}, values);
    v1::ScanArrayRequest request = Scan(Resident("x", 3, kCount - 5), true);
    request.set_operation(v1::SCAN_OPERATION_MEAN);
    request.set_window(1000);
    return ResultsOf(devices, request) + ScannedInPlace(devices, request, "x");
  });
}

TEST_F(DealtScanRequestTest, OtherOperationsAndExactSums) {
  std::vector<double> values = FiniteDoubles(kCount);
  ExpectSameBits([&](Devices& devices) {
    PutSharded(devices, "x", v1::ELEMENT_TYPE_FLOAT64, {kCount}, values);
    v1::ScanArrayRequest slice = Scan(Resident("x", 77, kCount - 78), false);
    slice.set_exact(true);
    std::string all = ResultsOf(devices, slice);
    slice.set_exact(false);
    slice.set_mode(v1::SCAN_MODE_EXCLUSIVE);
    // Products leave the range of float64, so that parts are scanned again.
    for (const auto operation : {v1::SCAN_OPERATION_MAX, v1::SCAN_OPERATION_PRODUCT}) {
      slice.set_operation(operation);
      all += ResultsOf(devices, slice);
    }
    return all;
  });
}

}  // namespace
}  // namespace gridfold::server
