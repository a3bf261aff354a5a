// SPDX-License-Identifier: GPL-3.0-or-later
// Arranges the tensors of any model family for the decoder. Open this file when a family stores tensors in
// another arrangement.
#pragma once

#include "engine/model/adapter.h"
#include "engine/model/weights.h"

#include <memory>

namespace spanscope::model {

/// Returns a source with the tensors as the decoder expects them, for every family:
/// - A matrix of queries, keys and values, or of gate and up, is split.
/// - If only the beginning of each head is rotated, the rows of queries and keys are reordered. The two
///   halves of that beginning then begin the two halves of the head. Products of queries and keys do not
///   depend on the order.
/// - With `normsLackOne`, 1 is added to the weights of norms, in f32.
///
/// Throws Failure for a matrix that cannot be split.
std::unique_ptr<WeightSource> arrange(std::unique_ptr<WeightSource> source, const ModelConfig& config,
                                      bool normsLackOne);

/// Arranges an adapter like the weights. Pairs for a matrix that is split are split too. Rows of queries and
/// keys are reordered. Pairs that match no matrix of the model stay as they are.
Adapter arrange(const Adapter& adapter, const ModelConfig& config);

}  // namespace spanscope::model
