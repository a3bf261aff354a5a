// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/tensor_list.h"
#include "engine/model/weights.h"

namespace spanscope::model {
namespace {

template <class FormatOf>
WeightAmounts amounts(const ModelConfig& config, const FormatOf& formatOf) {
  WeightAmounts result;
  for (const NamedTensor& tensor : tensorsOf(config)) {
    if (!tensor.isMatrix()) continue;
    const bool isKeptTwice = config.tiedEmbeddings && tensor.name == "model.embed_tokens.weight";
    result[formatOf(tensor)] += (isKeptTwice ? 2 : 1) * tensor.rows * tensor.columns;
  }
  return result;
}

}  // namespace

WeightAmounts weightAmounts(const ModelConfig& config, const WeightSource& weights) {
  return amounts(config, [&](const NamedTensor& tensor) {
    return weights.formatOf(tensor.name, tensor.rows, tensor.columns);
  });
}

WeightAmounts weightAmounts(const ModelConfig& config, compute::WeightFormat format) {
  return amounts(config, [format](const NamedTensor&) { return format; });
}

}  // namespace spanscope::model
