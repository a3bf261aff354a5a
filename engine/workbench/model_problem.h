// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/settings.h"

#include <filesystem>
#include <optional>
#include <string>

namespace spanscope::workbench {

struct ModelProblem {
  Error error;
  bool isOfTemplate = false;  ///< choosing a chat template removes it
};

/// Why the checkpoint of the settings cannot be opened, as far as its configuration, the list of its tensors
/// and its chat template say. The tokenizer and the data of the weights are not read. Nothing: they do not
/// prevent it.
std::optional<ModelProblem> modelProblem(const RunSettings& settings);

/// All that opening a model reads, except the data of its weights.
struct ModelLook {
  std::optional<ModelProblem> reason;  ///< why it cannot be opened; nothing: it can
  std::optional<ModelBundle> model;    ///< the description, as of describeModel(); set if it can be opened
};
/// Also reads the tokenizer, which may take a second for a large vocabulary, and the adapter.
ModelLook lookAtModel(const RunSettings& settings);

/// The name of the chat template for which the checkpoint's own is taken by its marks alone, the rest of it
/// being unknown; empty where it is known, where the person has chosen one, and where there is none.
std::string guessedTemplate(const RunSettings& settings);

/// An adapter that comes with the program and makes a model one that was trained for block attention.
struct OfferedAdapter {
  std::filesystem::path directory;
  std::string base;  ///< the model that it was made for: "SmolLM2-135M-Instruct"

  std::string name() const { return directory.filename().string(); }
};

/// The adapter in resources/models that fits a model with this configuration: all of its matrices have the
/// shapes of the model's, in all layers. Nothing if there is none, or the model needs none.
std::optional<OfferedAdapter> offeredAdapter(const model::ModelConfig& config);

}  // namespace spanscope::workbench
