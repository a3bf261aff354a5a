// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/adapter.h"
#include "engine/model/weights.h"

#include <memory>

namespace spanscope::model {

/// Gives a source's tensors as the decoder wants them, whatever a family stores:
/// - queries, keys and values, or gate and up, that stand in one matrix are given apart;
/// - where only the beginning of each head is turned, the rows of queries and keys are ordered so that its
/// two
///   halves begin the two halves of a head (products of queries and keys do not depend on that order);
/// - 1 is added to the weights of norms that lack it, in f32. `normsLackOne`: whether they do.
/// Throws Failure for a matrix that cannot be taken apart.
std::unique_ptr<WeightSource> arrange(std::unique_ptr<WeightSource> source, const ModelConfig& config,
                                      bool normsLackOne);

/// The same for what an adapter adds to them: pairs of matrices that hold several are taken apart, and the
/// rows of queries and keys are ordered alike. What fits none of the model's matrices stays as it is.
Adapter arrange(const Adapter& adapter, const ModelConfig& config);

}  // namespace spanscope::model
