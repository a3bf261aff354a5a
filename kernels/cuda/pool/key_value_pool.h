// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/bf16.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cuda {

/// Keys and values of all layers by physical block: [layer][block][head][slot][headSize], keys and values
/// alike. The keys of one head in one block lie together, so that they are read in one go. Keys are rotated
/// by their local index.
struct KeyValuePool {
  void* keys = nullptr;
  void* values = nullptr;
  bool isFloat = false;  ///< elements are f32, else bf16
  int layers = 0;
  int blocks = 0;
  int blockSize = 0;  ///< slots of a block
  int heads = 0;      ///< key/value heads
  int headSize = 0;   ///< even; padding included
  int padding = 0;    ///< elements at the end of each head that hold 0 from the start: whole vectors are read
  /// What is known of the keys of whole blocks, by which rows choose that read only some: of each element the
  /// least and the greatest, [layer][block][head][least, greatest][headSize], elements like the keys'. Null
  /// before somebody asked for them.
  void* bounds = nullptr;
  /// [layer][block][head]: not 0 where the bounds are those of the keys as they are. Whoever writes keys
  /// writes 0 here.
  std::uint8_t* bounded = nullptr;

  SPANSCOPE_HOST_DEVICE std::size_t elementBytes() const { return isFloat ? sizeof(float) : sizeof(Bf16); }
  /// Elements of a head in tensors.
  SPANSCOPE_HOST_DEVICE int tensorHeadSize() const { return headSize - padding; }
  /// Elements of a head in a block.
  SPANSCOPE_HOST_DEVICE std::int64_t headElements() const {
    return static_cast<std::int64_t>(blockSize) * headSize;
  }
  /// Elements of keys, and as many of values.
  SPANSCOPE_HOST_DEVICE std::int64_t elements() const {
    return static_cast<std::int64_t>(layers) * blocks * heads * headElements();
  }
  /// Where the slots of a head in a block begin, in elements.
  SPANSCOPE_HOST_DEVICE std::int64_t placeOf(int layer, std::int64_t block, int head) const {
    return headOf(layer, block, head) * headElements();
  }

  /// The same in `bounded`.
  SPANSCOPE_HOST_DEVICE std::int64_t headOf(int layer, std::int64_t block, int head) const {
    return (static_cast<std::int64_t>(layer) * blocks + block) * heads + head;
  }

  bool operator==(const KeyValuePool&) const = default;
};

}  // namespace spanscope::cuda
