// The oracle is the generated classes: what they parse from the bytes.
#include "client/library/wire_message.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gridfold/v1/compute_service.pb.h"
#include "gtest/gtest.h"

namespace gridfold::client {
namespace {

std::string Flatten(const WireMessage& message) {
  std::string flat;
  for (const WireMessage::Piece& piece : message.pieces()) {
    flat.append(reinterpret_cast<const char*>(piece.bytes().data()), piece.bytes().size());
  }
  EXPECT_EQ(flat.size(), message.size_bytes());
  return flat;
}

v1::ComputeHistogramRequest ParseStrictly(const WireMessage& message) {
  v1::ComputeHistogramRequest request;
  const std::string flat = Flatten(message);
  EXPECT_TRUE(request.ParseFromString(flat));
  // As many bytes as the generated class would have written: nothing twice, nothing unknown.
  EXPECT_EQ(request.ByteSizeLong(), flat.size());
  return request;
}

TEST(WireMessageTest, ArraysOfEverySizeParse) {
  for (size_t size : {0, 1, 127, 128, 16383, 16384, 1 << 20}) {
    const std::vector<int8_t> elements(size, 7);
    WireMessage message;
    message.AppendArray(v1::ComputeHistogramRequest::kArrayFieldNumber, elements);
    const v1::ComputeHistogramRequest request = ParseStrictly(message);
    const v1::InlineArray& array = request.array().inline_array();
    EXPECT_EQ(array.element_type(), v1::ELEMENT_TYPE_INT8);
    EXPECT_EQ(array.shape_size(), 0);
    EXPECT_EQ(array.data(), std::string(size, 7));
  }
}

TEST(WireMessageTest, SeveralArraysAndFieldsMakeOneMessage) {
  const std::vector<double> x = {1.5, -2.5};
  const std::vector<uint16_t> y = {1, 2, 3};
  const std::vector<float> weights(5000, 0.25f);
  v1::ComputeHistogramRequest fields;
  fields.set_channel_count(3);
  fields.add_quantiles(0.5);
  WireMessage message;
  message.AppendArray(v1::ComputeHistogramRequest::kArrayFieldNumber, x);
  message.AppendArray(v1::ComputeHistogramRequest::kYArrayFieldNumber,
                      ArrayView(y).WithShape(3, 1));
  message.AppendFields(fields);
  message.AppendArray(v1::ComputeHistogramRequest::kWeightsFieldNumber, weights);

  const v1::ComputeHistogramRequest request = ParseStrictly(message);
  EXPECT_EQ(request.channel_count(), 3u);
  EXPECT_THAT(request.quantiles(), testing::ElementsAre(0.5));
  EXPECT_EQ(request.array().inline_array().element_type(), v1::ELEMENT_TYPE_FLOAT64);
  EXPECT_EQ(request.array().inline_array().data(),
            std::string(reinterpret_cast<const char*>(x.data()), 16));
  EXPECT_THAT(request.y_array().inline_array().shape(), testing::ElementsAre(3, 1));
  EXPECT_EQ(request.weights().inline_array().data().size(), 20000u);
}

TEST(WireMessageTest, ArraysAreNotCopied) {
  const std::vector<int32_t> elements(1000);
  WireMessage message;
  message.AppendArray(1, elements);
  EXPECT_EQ(static_cast<const void*>(message.pieces().back().bytes().data()), elements.data());
}

TEST(WireMessageTest, BytesMakeFieldsInTheirOrder) {
  const std::string large(100'000, 'x');
  const std::string none;
  WireMessage message;
  for (const std::string* bytes : {&large, &none}) {
    message.AppendBytes(v1::MergeAccumulatorsRequest::kAccumulatorsFieldNumber,
                        std::as_bytes(std::span(*bytes)));
  }
  v1::MergeAccumulatorsRequest request;
  ASSERT_TRUE(request.ParseFromString(Flatten(message)));
  EXPECT_THAT(request.accumulators(), testing::ElementsAre(large, none));
  EXPECT_EQ(static_cast<const void*>(message.pieces()[1].bytes().data()), large.data());
}

TEST(WireMessageTest, MessagesInsideMessages) {
  const std::vector<double> x(1000, 1.5);
  WireMessage message;
  for (int i = 0; i < 3; ++i) {
    WireMessage reduction;
    reduction.AppendArray(v1::ReduceArrayRequest::kArrayFieldNumber, x);
    v1::ReduceArrayRequest fields;
    fields.set_first_index(static_cast<uint64_t>(i));
    reduction.AppendFields(fields);
    WireMessage operation;
    operation.AppendMessage(v1::BatchOperation::kReductionFieldNumber, std::move(reduction));
    message.AppendMessage(v1::BatchComputeRequest::kOperationsFieldNumber, std::move(operation));
  }
  message.AppendMessage(v1::BatchComputeRequest::kOperationsFieldNumber, {});
  v1::BatchComputeRequest request;
  ASSERT_TRUE(request.ParseFromString(Flatten(message)));
  ASSERT_EQ(request.operations_size(), 4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(request.operations(i).reduction().first_index(), static_cast<uint64_t>(i));
    EXPECT_EQ(request.operations(i).reduction().array().inline_array().data().size(), 8000u);
  }
  EXPECT_EQ(request.operations(3).operation_case(), v1::BatchOperation::OPERATION_NOT_SET);
  // The arrays lie where they lay, with one piece of the rest before and after each.
  EXPECT_EQ(message.pieces().size(), 7u);
}

TEST(WireMessageTest, NothingIsAnEmptyMessage) {
  WireMessage message;
  message.AppendFields(v1::ReduceArrayRequest());
  EXPECT_TRUE(message.pieces().empty());
  EXPECT_EQ(message.size_bytes(), 0u);
}

}  // namespace
}  // namespace gridfold::client
