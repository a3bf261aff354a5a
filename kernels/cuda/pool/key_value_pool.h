// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/bf16.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cuda {

/// Keys and values of all layers by physical block; both lie as [layer][block][head][slot][headSize]. The
/// keys of one head in one block lie together, so that they are read in one go. Keys are rotated by their
/// local index.
struct KeyValuePool {
  void* keys = nullptr;
  void* values = nullptr;
  bool isFloat = false;  ///< elements are f32, else bf16
  int layers = 0;
  int blocks = 0;
  int blockSize = 0;  ///< slots per block
  int heads = 0;      ///< key/value heads
  int headSize = 0;   ///< even; includes the padding
  int padding = 0;    ///< number of elements at the end of each head; they are 0 from the start, because
                      ///< kernels read whole vectors
  /// Bounds of the keys of whole blocks. Rows that read only some blocks choose them by these bounds. They
  /// are the least and the greatest value of each element, [layer][block][head][least, greatest][headSize],
  /// with the type of the keys. Null before they are first needed.
  void* bounds = nullptr;
  /// [layer][block][head]: not 0 if the bounds are those of the current keys. Whoever writes keys must write
  /// 0 here.
  std::uint8_t* bounded = nullptr;

  SPANSCOPE_HOST_DEVICE std::size_t elementBytes() const { return isFloat ? sizeof(float) : sizeof(Bf16); }
  /// Elements of a head in tensors, without the padding.
  SPANSCOPE_HOST_DEVICE int tensorHeadSize() const { return headSize - padding; }
  /// Elements of a head in one block.
  SPANSCOPE_HOST_DEVICE std::int64_t headElements() const {
    return static_cast<std::int64_t>(blockSize) * headSize;
  }
  /// Elements of all keys; there are as many elements of values.
  SPANSCOPE_HOST_DEVICE std::int64_t elements() const {
    return static_cast<std::int64_t>(layers) * blocks * heads * headElements();
  }
  /// Where the slots of a head in a block begin, in elements.
  SPANSCOPE_HOST_DEVICE std::int64_t placeOf(int layer, std::int64_t block, int head) const {
    return headOf(layer, block, head) * headElements();
  }

  /// The place of a head of a block in `bounded`.
  SPANSCOPE_HOST_DEVICE std::int64_t headOf(int layer, std::int64_t block, int head) const {
    return (static_cast<std::int64_t>(layer) * blocks + block) * heads + head;
  }

  bool operator==(const KeyValuePool&) const = default;
};

}  // namespace spanscope::cuda
