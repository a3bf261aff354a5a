// SPDX-License-Identifier: GPL-3.0-or-later
// Makes passes of single rows alike, by adding rows and items that have nothing to do. Then the launches of
// many steps are exactly the same, and one graph serves all of them.
#pragma once

#include "engine/compute/pass.h"
#include "kernels/cuda/backend/attention_work.h"

#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Whether every row is a run of its own and the results are simple: logits of some rows, and draws that use
/// the first logits, the second, and so on.
bool isDecodeStep(const compute::PassInputs& inputs);

/// Number of rows after padding.
std::int32_t paddedRows(std::int32_t rows);
/// Number of items after padding: at most a quarter more, and at least 8.
std::int32_t paddedItems(std::int32_t items);
/// Number of elements after padding: the next power of two, and at least 64.
std::int64_t paddedElements(std::int64_t elements);

/// Adds rows until the pass has `rows` rows, and items, blocks and entries of mass that have nothing to do.
void pad(DecodeWork& decode, std::int32_t rows);
/// The same for a plan of one launch that contains some of the `own` rows of the pass. `group`: number of
/// query heads per key head. Rows that another launch computes keep its results.
void pad(SplitPlan& split, std::int32_t own, std::int32_t rows, std::int32_t group);

/// The list, extended to `count` elements.
template <class T>
std::vector<T> padded(std::vector<T> values, std::int64_t count, const T& value) {
  if (count > static_cast<std::int64_t>(values.size())) values.resize(static_cast<std::size_t>(count), value);
  return values;
}

}  // namespace spanscope::cuda
