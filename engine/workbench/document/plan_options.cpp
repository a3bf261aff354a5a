// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/plan_options.h"

namespace spanscope::document {

plan::PlanOptions planOptionsOf(const RunSettings& settings) {
  plan::PlanOptions options;
  options.seed = settings.seed;
  options.distribute = settings.distribute;
  options.outputForm = settings.outputForm == "reused" ? plan::OutputForm::Reused : plan::OutputForm::Anew;
  options.locality.fanIn = settings.locality < 2 ? 0 : static_cast<std::uint32_t>(settings.locality);
  options.locality.shape =
      settings.localityShape == "map-reduce" ? plan::LocalityShape::MapReduce : plan::LocalityShape::Tree;
  if (!settings.reducePrompt.empty()) options.locality.reducePrompt = settings.reducePrompt;
  return options;
}

}  // namespace spanscope::document
