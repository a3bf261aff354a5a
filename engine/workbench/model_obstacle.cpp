// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/model_obstacle.h"

#include "engine/model/adapter.h"
#include "engine/model/config.h"
#include "engine/model/tensor_list.h"
#include "engine/model/weights.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

namespace spanscope::workbench {

std::optional<ModelObstacle> modelObstacle(const RunSettings& settings) {
  bool isOfTemplate = false;
  try {
    const checkpoint::Checkpoint checkpoint = modelDirectoryOf(settings);
    checkpoint.requireModel();
    const model::ModelConfig config = model::readConfig(checkpoint);
    model::checkTensors(config, *model::openWeights(checkpoint, config));
    isOfTemplate = true;
    if (templateOf(settings.chatTemplate) == nullptr) text::findChatTemplate(checkpoint);
  } catch (const Failure& failure) {
    return ModelObstacle{.error = failure.error(), .isOfTemplate = isOfTemplate};
  }
  return std::nullopt;
}

ModelLook lookAtModel(const RunSettings& settings) {
  ModelLook look;
  look.obstacle = modelObstacle(settings);
  if (look.obstacle) return look;
  try {
    look.model =
        describeModel(modelDirectoryOf(settings), templateOf(settings.chatTemplate), settings.context);
    if (!settings.adapter.empty()) {
      const model::Adapter adapter = model::Adapter::open(settings.adapter);
      look.model->config.blockAttention = look.model->config.blockAttention || adapter.blockAttention();
    }
  } catch (const Failure& failure) {
    look.model.reset();
    look.obstacle = ModelObstacle{.error = failure.error()};
  }
  return look;
}

std::string guessedTemplate(const RunSettings& settings) {
  if (templateOf(settings.chatTemplate) != nullptr) return {};
  try {
    const text::TemplateSource source = text::templateSource(modelDirectoryOf(settings));
    const std::optional<text::FoundChatTemplate> found = text::matchChatTemplate(source.text);
    if (found && found->match == text::TemplateMatch::Markers) return found->chat->name;
  } catch (const Failure&) {
    // modelObstacle() says so.
  }
  return {};
}

}  // namespace spanscope::workbench
