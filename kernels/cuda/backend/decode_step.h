// SPDX-License-Identifier: GPL-3.0-or-later
// Passes of single rows, made alike: with rows and items that have nothing to do the launches of many steps
// are the same to the last number, and one graph is all of them.
#pragma once

#include "engine/compute/pass.h"
#include "kernels/cuda/backend/attention_work.h"

#include <cstdint>
#include <vector>

namespace spanscope::cuda {

/// Whether every row is a run of its own, and little is wanted: logits of some rows, and a draw from the
/// first of these, the second, and so on.
bool isDecodeStep(const compute::PassInputs& inputs);

/// What is to be taken for so many rows.
std::int32_t paddedRows(std::int32_t rows);
/// At most a quarter more, and 8 at least.
std::int32_t paddedItems(std::int32_t items);
/// The next power of two, and 64 at least.
std::int64_t paddedElements(std::int64_t elements);

/// Adds rows up to `rows`, counted through the pass, and items, blocks and entries of mass that have nothing
/// to do.
void pad(DecodeWork& decode, std::int32_t rows);
/// The same, for a plan of one launch that has some of the pass's `own` rows; `group` query heads to a key
/// head. Rows that another launch computes stay as that leaves them.
void pad(SplitPlan& split, std::int32_t own, std::int32_t rows, std::int32_t group);

/// The list made as long as `count`.
template <class T>
std::vector<T> padded(std::vector<T> values, std::int64_t count, const T& value) {
  if (count > static_cast<std::int64_t>(values.size())) values.resize(static_cast<std::size_t>(count), value);
  return values;
}

}  // namespace spanscope::cuda
