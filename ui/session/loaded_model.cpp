// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/loaded_model.h"

#include "engine/workbench/model_bundle.h"
#include "engine/workbench/model_problem.h"

namespace spanscope::ui {

LoadedModel loadedModelOf(const std::shared_ptr<workbench::ModelBundle>& bundle) {
  const compute::DeviceInfo device = bundle->backend->info();
  LoadedModel model;
  model.name = QString::fromStdString(bundle->name);
  model.directory = bundle->checkpoint.path().string();
  model.device = QString::fromStdString(device.name);
  model.deviceKind = QString::fromStdString(bundle->device.kind.name).toUpper();
  model.rowsAreBitEqual = device.rowsAreBitEqual;
  model.parameters = static_cast<double>(bundle->decoder->parameterCount());
  model.layers = bundle->config.layers;
  model.contextLength = bundle->config.maxPositions;
  model.blockAttention = bundle->config.blockAttention;
  if (const auto offered = workbench::offeredAdapter(bundle->config))
    model.fittingAdapter = offered->directory.string();
  model.madeFor = QString::fromStdString(bundle->config.madeFor);
  model.tokenizer = std::shared_ptr<const text::Tokenizer>(bundle, bundle->tokenizer.get());
  return model;
}

}  // namespace spanscope::ui
