// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"
#include "engine/model/arranged_weights.h"
#include "engine/model/weights.h"

namespace spanscope::model {

std::string fileOf(const WeightSource& source, const std::string& name) {
  for (const StoredTensor& tensor : source.stored()) {
    if (tensor.name == name) return tensor.file;
  }
  return source.name();
}

std::unique_ptr<WeightSource> openWeights(const checkpoint::Checkpoint& checkpoint,
                                          const ModelConfig& config) {
  const Architecture* family = architectureByName(config.architecture);
  if (const std::optional<std::filesystem::path> gguf = checkpoint.gguf())
    return arrange(openGguf(*gguf, config), config, false);
  return arrange(openSafetensors(checkpoint), config, family != nullptr && family->normsLackOne);
}

}  // namespace spanscope::model
