// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/kv_shape_check.h"

#include "engine/base/error.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace spanscope::compute {
namespace {

constexpr std::int32_t kLargestBlock = 1024;

}  // namespace

void checkKvShape(const KvShape& shape) {
  const auto refuse = [](const char* what, std::int64_t found, const char* expected) {
    throw Failure(Error{"", what, std::to_string(found), expected});
  };
  if (shape.layers < 1) refuse("layers of the KV store", shape.layers, "at least 1");
  if (shape.blocks < 1) refuse("blocks of the KV store", shape.blocks, "at least 1");
  if (shape.blockSize < 1 || shape.blockSize > kLargestBlock)
    refuse("block size", shape.blockSize, "1 to 1024");
  if (shape.heads < 1) refuse("heads of the KV store", shape.heads, "at least 1");
  if (shape.headSize < 2 || shape.headSize % 2 != 0) refuse("head size", shape.headSize, "an even number");
  if (shape.type == DType::F16)
    throw Failure(Error{"", "type of the KV store", nameOf(shape.type), "F32 or BF16"});
  // Keys and values, and room for heads that a device makes a little longer.
  std::int64_t left = std::numeric_limits<std::int64_t>::max() / 32;
  for (const std::int64_t factor :
       {std::int64_t{shape.layers}, std::int64_t{shape.blocks}, std::int64_t{shape.blockSize},
        std::int64_t{shape.heads}, std::int64_t{shape.headSize}, std::int64_t(sizeOf(shape.type))})
    left /= factor;
  if (left == 0)
    throw Failure(Error{"", "KV store", "more bytes than can be counted", "one that fits into memory"});
}

void checkHostBlock(const KvShape& shape, BlockId block, std::int32_t slots, std::size_t bytes) {
  const auto refuse = [](const char* what, std::string found, std::string expected) {
    throw Failure(errorAt(what, std::move(found), std::move(expected)));
  };
  if (block < 0 || block >= shape.blocks) {
    refuse("block", std::to_string(block), "0 to " + std::to_string(shape.blocks - 1));
  }
  if (slots < 0 || slots > shape.blockSize) {
    refuse("slots of a block", std::to_string(slots), "0 to " + std::to_string(shape.blockSize));
  }
  const std::size_t expected = static_cast<std::size_t>(slots) * slotBytes(shape);
  if (bytes != expected) {
    refuse("bytes of a block", std::to_string(bytes), std::to_string(expected));
  }
}

}  // namespace spanscope::compute
