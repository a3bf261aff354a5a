// SPDX-License-Identifier: GPL-3.0-or-later
// Passes for tests of single operations, which have no model. Everything that an operation does not look at
// is as simple as possible.
#pragma once

#include "engine/compute/backend.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace spanscope::testing {

/// Inputs with rows of token 0, in slot 0 at local index 0.
inline compute::PassInputs plainRows(std::size_t rows) {
  compute::PassInputs inputs;
  inputs.tokens.assign(rows, 0);
  inputs.localIndices.assign(rows, 0);
  inputs.slots.assign(rows, 0);
  return inputs;
}

/// A pass in which nothing attends.
inline std::unique_ptr<compute::Pass> makePlainPass(compute::Backend& backend,
                                                    const compute::PassInputs& inputs) {
  const compute::KvShape store{1, 1, 1, 1, 2, compute::DType::F32};
  return backend.makePass({1, 1, 2, 1.0F}, {{1.0}, 1.0F}, store, inputs);
}

/// Stores keys and values [tokens][heads · headSize] with these local indices into these slots of a layer.
inline void storeTokens(compute::Backend& backend, const compute::RotaryTable& rotary,
                        const compute::Tensor& keys, const compute::Tensor& values,
                        std::vector<std::int32_t> locals, std::vector<std::int64_t> slots, std::int32_t layer,
                        compute::KvStore& store) {
  compute::PassInputs inputs = plainRows(locals.size());
  inputs.localIndices = std::move(locals);
  inputs.slots = std::move(slots);
  compute::KvShape shape = store.shape();
  shape.heads = store.shape().headsOf(layer).heads;
  shape.headSize = store.shape().headsOf(layer).headSize;
  const auto pass = backend.makePass({shape.heads, shape.heads, shape.headSize, 1.0F}, rotary, shape, inputs);
  backend.storeKeysValues(*pass, keys, values, layer, store);
  backend.finish(*pass);
}

}  // namespace spanscope::testing
