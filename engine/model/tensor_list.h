// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/config.h"
#include "engine/model/weights.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::model {

struct NamedTensor {
  std::string name;  ///< as Hugging Face names it
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool isNorm = false;
  bool isMatrix() const { return rows > 1; }
};

/// The names of a layer's norms, null for those that it does not have.
struct NormNames {
  const char* beforeAttention = nullptr;
  const char* afterAttention = nullptr;
  const char* beforeGate = nullptr;
  const char* afterGate = nullptr;
};
NormNames normsOf(NormPlace place);

/// All tensors of a model, in the order in which they are used. Tied embeddings stand there once.
std::vector<NamedTensor> tensorsOf(const ModelConfig& config);

/// Throws Failure if a tensor of the model is missing, has another shape or an unknown format, or if the
/// source holds tensors that the model has no use for. Reads no data.
void checkTensors(const ModelConfig& config, const WeightSource& source);

/// Whether checkpoints of this architecture are known to contain a tensor of this name that the decoder does
/// not use. Any other unused tensor means that checkpoint and configuration do not fit.
bool isKnownExtra(std::string_view name, const ModelConfig& config);

/// Throws Failure if the source has a tensor that is neither among the used ones nor a known extra: it would
/// be left out of every answer.
void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used);

}  // namespace spanscope::model
