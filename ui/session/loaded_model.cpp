// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/loaded_model.h"

#include "engine/workbench/model_bundle.h"

namespace spanscope::ui {
namespace {

/// Weights of a Llama decoder: embedding (and head), and per layer attention, feed-forward and norms.
double countParameters(const model::ModelConfig& config) {
  const double hidden = config.hiddenSize;
  const double head = config.headSize;
  const double perLayer = hidden * head * (2.0 * config.heads + 2.0 * config.keyValueHeads) +
                          3.0 * hidden * config.intermediateSize + 2.0 * hidden;
  const double embedding = hidden * config.vocabularySize * (config.tiedEmbeddings ? 1.0 : 2.0);
  return embedding + perLayer * config.layers + hidden;
}

}  // namespace

LoadedModel loadedModelOf(const std::shared_ptr<workbench::ModelBundle>& bundle) {
  const compute::DeviceInfo device = bundle->backend->info();
  LoadedModel model;
  model.name = QString::fromStdString(bundle->name);
  model.directory = bundle->directory.string();
  model.device = QString::fromStdString(device.name);
  model.deviceKind = QString::fromStdString(bundle->device.kind.name).toUpper();
  model.rowsAreBitEqual = device.rowsAreBitEqual;
  model.parameters = countParameters(bundle->config);
  model.layers = bundle->config.layers;
  model.contextLength = bundle->config.maxPositions;
  model.blockAttention = bundle->config.blockAttention;
  model.tokenizer = std::shared_ptr<const text::Tokenizer>(bundle, bundle->tokenizer.get());
  return model;
}

}  // namespace spanscope::ui
