// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/model_problem.h"

#include "engine/checkpoint/json_reading.h"
#include "engine/model/adapter.h"
#include "engine/model/weight_reader.h"
#include "engine/model/weights.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::workbench {
namespace {

int readingThreads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

InspectedModel inspectTensors(const checkpoint::Checkpoint& checkpoint, CheckDepth depth) {
  checkpoint.requireModel();
  InspectedModel inspected;
  inspected.config = model::readConfig(checkpoint);
  const std::unique_ptr<model::WeightSource> weights = model::openWeights(checkpoint, inspected.config);
  model::checkTensors(inspected.config, *weights);
  inspected.weights = model::weightAmounts(inspected.config, *weights);
  if (depth == CheckDepth::Weights) model::checkNumbers(inspected.config, *weights, readingThreads());
  return inspected;
}

InspectedModel inspectModel(const checkpoint::Checkpoint& checkpoint, CheckDepth depth) {
  InspectedModel inspected = inspectTensors(checkpoint, depth);
  const std::unique_ptr<text::Tokenizer> tokenizer = text::loadTokenizer(checkpoint);
  requirePiecesInVocabulary(*tokenizer, inspected.config);
  addEndTokens(inspected.config, checkpoint, *tokenizer, nullptr);
  return inspected;
}

std::optional<ModelProblem> modelProblem(const RunSettings& settings) {
  bool isOfTemplate = false;
  try {
    const checkpoint::Checkpoint checkpoint = modelDirectoryOf(settings);
    inspectTensors(checkpoint, CheckDepth::Headers);
    try {
      chatTemplateOf(settings);
    } catch (const Failure&) {
      text::loadTokenizer(checkpoint);  // throws if no template can help
      isOfTemplate = true;
      throw;
    }
  } catch (const Failure& failure) {
    return ModelProblem{.error = failure.error(), .isOfTemplate = isOfTemplate};
  }
  return std::nullopt;
}

ModelLook lookAtModel(const RunSettings& settings) {
  ModelLook look;
  look.reason = modelProblem(settings);
  if (look.reason) return look;
  try {
    inspectTensors(modelDirectoryOf(settings), CheckDepth::Weights);
    look.model = describeModel(modelDirectoryOf(settings), chosenTemplateOf(settings), settings.context);
    if (!settings.adapter.empty()) {
      const model::Adapter adapter = model::Adapter::open(settings.adapter);
      look.model->config.blockAttention = look.model->config.blockAttention || adapter.blockAttention();
    }
  } catch (const Failure& failure) {
    look.model.reset();
    look.reason = ModelProblem{.error = failure.error()};
  }
  return look;
}

std::string guessedTemplate(const RunSettings& settings) {
  try {
    if (chosenTemplateOf(settings) != nullptr) return {};
    const text::FoundChatTemplate found = text::locateChatTemplate(modelDirectoryOf(settings));
    if (found.match == text::TemplateMatch::Markers) return found.chat->name;
  } catch (const Failure&) {
    // modelProblem() reports this error.
  }
  return {};
}

namespace {

constexpr std::uintmax_t kMostConfigurationBytes = 1 << 20;

std::string baseOf(const std::filesystem::path& directory) {
  return checkpoint::readJsonFile(directory / "adapter_config.json", kMostConfigurationBytes,
                                  "the configuration of an adapter", [](const checkpoint::JsonPlace& config) {
                                    const std::string base =
                                        config.text("base_model_name_or_path").value_or("");
                                    return base.substr(base.rfind('/') + 1);
                                  });
}

/// Whether every pair fits a matrix of the model, and the model's last layer has pairs.
bool fits(const model::Adapter& adapter, const model::ModelConfig& config) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> shapes;
  for (const model::NamedTensor& tensor : model::tensorsOf(config))
    shapes[tensor.name] = {tensor.rows, tensor.columns};
  const auto isOfModel = [&shapes](const auto& entry) {
    const auto shape = shapes.find(entry.first + ".weight");
    return shape != shapes.end() && shape->second == std::pair(entry.second.rows, entry.second.columns);
  };
  const std::string last = "model.layers." + std::to_string(config.layers - 1) + ".";
  const std::map<std::string, model::LowRankPair> pairs = model::arrange(adapter, config).pairs();
  const auto next = pairs.lower_bound(last);
  return std::ranges::all_of(pairs, isOfModel) && next != pairs.end() && next->first.starts_with(last);
}

}  // namespace

std::optional<OfferedAdapter> offeredAdapter(const model::ModelConfig& config) {
  if (config.blockAttention) return std::nullopt;
  try {
    std::vector<std::filesystem::path> folders;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(bundledModelDirectory().parent_path(), error)) {
      if (std::filesystem::is_regular_file(entry.path() / "adapter_config.json", error))
        folders.push_back(entry.path());
    }
    std::ranges::sort(folders);
    for (const std::filesystem::path& folder : folders) {
      const model::Adapter adapter = model::Adapter::open(folder);
      if (adapter.blockAttention() && fits(adapter, config))
        return OfferedAdapter{.directory = folder, .base = baseOf(folder)};
    }
  } catch (const Failure&) {
    // A program with missing or damaged resources offers no adapter.
  }
  return std::nullopt;
}

}  // namespace spanscope::workbench
