// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/request_names.h"

namespace spanscope::ui {

QString StepNames::of(RunId run, StepIndex step) {
  auto [names, isNew] = m_names.try_emplace(run);
  if (isNew) names->second = stepNames(m_input, m_progress, run);
  const auto found = names->second.find(step);
  return found == names->second.end() ? tr("step %1").arg(step) : found->second;
}

}  // namespace spanscope::ui
