// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/experiment_work.h"

#include "engine/workbench/experiment_model.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/progress_pause.h"
#include "engine/workbench/service/workplace.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

ExperimentWork::ExperimentWork(RunSettings settings, experiment::ExperimentWish wish)
    : m_settings(std::move(settings)) {
  experiment::ExperimentResult result;
  result.wish = std::move(wish);
  m_result.set(std::move(result));
}

Begun ExperimentWork::begin(Workplace& place, const std::stop_token& stop) {
  experiment::ExperimentResult result = m_result.get();
  const std::shared_ptr<void> atEnd(nullptr, [&](void*) { m_result.set(std::move(result)); });
  place.modelFor(m_settings, stop);
  // Works that pass may put another model in its place.
  const std::shared_ptr<ModelBundle> own = place.model();
  const std::vector<std::string> further = experiment::furtherModels(result.wish);
  std::optional<ModelBundle> other;
  const auto modelOf = [&](std::size_t index) {
    RunSettings settings = m_settings;
    if (index > 0) {
      settings.model = further[index - 1];
      other.reset();
      other.emplace(place.loadBeside(settings, stop));
    }
    experiment::ExperimentModel model =
        experimentModelOf(index == 0 ? *own : *other, place.configFor(settings));
    model.seam = [this] { letPass(); };
    return model;
  };
  ProgressPause pause;
  const auto tell = [&](const experiment::ExperimentResult& now) {
    if (!pause.isOver()) return;
    m_result.set(now);
    tellProgress();
  };
  experiment::runOnModels(result, 1 + further.size(), modelOf, tell, stop);
  return Begun::Done;
}

}  // namespace spanscope::workbench
