// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the tensors of a model and checks a source against the list. Open this file when a tensor is missing
// or unknown.
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
  std::string name;  ///< the name in Hugging Face files
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool isNorm = false;
  bool isMatrix() const { return rows > 1; }
};

/// The names of a layer's norms. A name is null if the layer lacks the norm.
struct NormNames {
  const char* beforeAttention = nullptr;
  const char* afterAttention = nullptr;
  const char* beforeGate = nullptr;
  const char* afterGate = nullptr;
};
NormNames normsOf(NormPlace place);

/// Lists all tensors of a model in the order of their use. The list has tied embeddings once.
std::vector<NamedTensor> tensorsOf(const ModelConfig& config);

/// Checks a source and reads no data. Throws Failure in these cases:
/// - a tensor of the model is missing, or has another shape or an unknown format;
/// - the source has tensors that the model does not use.
void checkTensors(const ModelConfig& config, const WeightSource& source);

/// Whether checkpoints of this architecture are known to contain this tensor, which the decoder does not use.
/// Any other unused tensor means that checkpoint and configuration do not fit.
bool isKnownExtra(std::string_view name, const ModelConfig& config);

/// Throws Failure if the source has a tensor that is neither used nor a known extra. Without the error, every
/// result would lack the effect of such a tensor.
void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used);

}  // namespace spanscope::model
