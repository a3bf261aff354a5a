// SPDX-License-Identifier: GPL-3.0-or-later
// Makes forward passes of single rows equal, by adding rows and items without work. The launches of many
// steps are then exactly the same, and one graph serves all these steps. Open this file to change this
// padding.
#pragma once

#include "engine/compute/pass.h"
#include "kernels/cuda/backend/attention_work.h"

#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Whether every row is a separate run and the results are simple. Such results are logits of some rows, and
/// draws that use the first logits, the second, and so on.
bool isDecodeStep(const compute::PassInputs& inputs);

/// Returns the number of rows after padding.
std::int32_t paddedRows(std::int32_t rows);
/// Returns the number of items after padding: at most a quarter more, and at least 8.
std::int32_t paddedItems(std::int32_t items);
/// Returns the number of elements after padding: the next power of two, and at least 64.
std::int64_t paddedElements(std::int64_t elements);

/// Adds rows until the forward pass has `rows` rows. Adds items, blocks and entries of mass without work.
void pad(DecodeWork& decode, std::int32_t rows);
/// Pads a plan of one launch that contains some of the `own` rows of the forward pass. `group`: number of
/// query heads per key head. Rows of another launch keep their results.
void pad(SplitPlan& split, std::int32_t own, std::int32_t rows, std::int32_t group);

/// Returns the list, extended to `count` elements.
template <class T>
std::vector<T> padded(std::vector<T> values, std::int64_t count, const T& value) {
  if (count > static_cast<std::int64_t>(values.size())) values.resize(static_cast<std::size_t>(count), value);
  return values;
}

}  // namespace spanscope::cuda
