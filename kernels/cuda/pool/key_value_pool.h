// SPDX-License-Identifier: GPL-3.0-or-later
// The pool of keys and values in the form for kernels. Open this file before you read or write keys in a
// kernel.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/bf16.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cuda {

/// Keys and values of all layers by physical block. Keys and values have the layout
/// [layer][block][head][slot][headSize]. The keys of one head in one block are together, for fast reads. Keys
/// are rotated by their position in the segment.
struct KeyValuePool {
  void* keys = nullptr;
  void* values = nullptr;
  bool isFloat = false;  ///< elements are f32, else bf16
  int layers = 0;
  int blocks = 0;
  int blockSize = 0;  ///< slots per block
  int heads = 0;      ///< key/value heads
  int headSize = 0;   ///< even; includes the padding
  int padding = 0;    ///< number of elements at the end of each head. These elements are 0 from the start,
                      ///< because kernels read whole vectors.
  /// Bounds of the keys of whole blocks. Rows that read only some blocks need the bounds. A bound is the min
  /// or max value of an element, with the type of the keys. The layout is [layer][block][head][least,
  /// greatest][headSize]. Null before the first use of bounds.
  void* bounds = nullptr;
  /// [layer][block][head]: not 0 if the bounds belong to the current keys. Code that writes keys must write 0
  /// here.
  std::uint8_t* bounded = nullptr;

  SPANSCOPE_HOST_DEVICE std::size_t elementBytes() const { return isFloat ? sizeof(float) : sizeof(Bf16); }
  /// Returns the elements of a head in tensors, without the padding.
  SPANSCOPE_HOST_DEVICE int tensorHeadSize() const { return headSize - padding; }
  /// Returns the elements of a head in one block.
  SPANSCOPE_HOST_DEVICE std::int64_t headElements() const {
    return static_cast<std::int64_t>(blockSize) * headSize;
  }
  /// Returns the elements of all keys. The values have the same number of elements.
  SPANSCOPE_HOST_DEVICE std::int64_t elements() const {
    return static_cast<std::int64_t>(layers) * blocks * heads * headElements();
  }
  /// Returns the beginning of the slots of a head in a block, in elements.
  SPANSCOPE_HOST_DEVICE std::int64_t placeOf(int layer, std::int64_t block, int head) const {
    return headOf(layer, block, head) * headElements();
  }

  /// Returns the index of a head of a block in `bounded`.
  SPANSCOPE_HOST_DEVICE std::int64_t headOf(int layer, std::int64_t block, int head) const {
    return (static_cast<std::int64_t>(layer) * blocks + block) * heads + head;
  }

  bool operator==(const KeyValuePool&) const = default;
};

}  // namespace spanscope::cuda
