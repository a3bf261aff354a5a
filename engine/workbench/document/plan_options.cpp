// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/plan_options.h"

#include "engine/workbench/setting_values.h"

namespace spanscope::document {

plan::PlanOptions planOptionsOf(const RunSettings& settings) {
  plan::PlanOptions options;
  options.seed = settings.seed;
  options.distribute = settings.distribute;
  options.outputForm = workbench::outputFormOf(settings.outputForm);
  options.locality.fanIn = settings.hasPlies() ? settings.locality : 0;
  options.locality.shape = workbench::localityShapeOf(settings.localityShape);
  if (!settings.reducePrompt.empty()) options.locality.reducePrompt = settings.reducePrompt;
  return options;
}

}  // namespace spanscope::document
