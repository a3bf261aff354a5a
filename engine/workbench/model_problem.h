// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/model/config.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/settings.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace spanscope::workbench {

/// How much of a model a check reads. With Weights, the check reads the data of all weights too, and finds
/// numbers that are not finite. A gibibyte takes about a second from a disk.
enum class CheckDepth : std::uint8_t { Headers, Weights };

/// The facts that loading knows before it reads the data of the weights.
struct InspectedModel {
  model::ModelConfig config;
  model::WeightAmounts weights;
};

/// Checks configuration, and names, shapes and formats of all tensors. Throws Failure like loading.
InspectedModel inspectTensors(const checkpoint::Checkpoint& checkpoint, CheckDepth depth);
/// Also checks the tokenizer, which may take a second for a large vocabulary, and the end tokens. The chat
/// template is not checked, because the user can choose another one.
InspectedModel inspectModel(const checkpoint::Checkpoint& checkpoint, CheckDepth depth);

struct ModelProblem {
  Error error;
  bool isOfTemplate = false;  ///< the user can remove the problem by choosing a chat template
};

/// Why the checkpoint of the settings cannot be opened. Checks its configuration, the list of its tensors and
/// its chat template. The tokenizer and the data of the weights are not read. Nothing: the check found no
/// problem.
std::optional<ModelProblem> modelProblem(const RunSettings& settings);

/// Everything that opening a model reads.
struct ModelLook {
  std::optional<ModelProblem> reason;  ///< why the model cannot be opened; nothing: the model can be opened
  std::optional<ModelBundle> model;    ///< the result of describeModel(); set if the model can be opened
};
/// Also reads the adapter, the data of the weights, and the tokenizer. A large vocabulary may take a second.
/// Finds every problem that loading would find, but a lack of memory.
ModelLook lookAtModel(const RunSettings& settings);

/// The name of a known chat template with the same delimiters as the checkpoint's template. Empty in these
/// cases:
/// - The whole template of the checkpoint is known.
/// - The checkpoint has no template.
/// - The user has chosen a template.
std::string guessedTemplate(const RunSettings& settings);

/// A bundled adapter. With this adapter, a model counts as trained for block attention.
struct OfferedAdapter {
  std::filesystem::path directory;
  std::string base;  ///< the model of the adapter: "SmolLM2-135M-Instruct"

  std::string name() const { return directory.filename().string(); }
};

/// The adapter in resources/models that fits a model with this configuration. All matrices of the adapter
/// have the shapes of the model's matrices, in all layers. Nothing: there is no such adapter, or the model
/// needs none.
std::optional<OfferedAdapter> offeredAdapter(const model::ModelConfig& config);

}  // namespace spanscope::workbench
