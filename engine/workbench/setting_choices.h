// SPDX-License-Identifier: GPL-3.0-or-later
// The names that settings may be, from the tables of what they choose.
#pragma once

#include "engine/workbench/setting.h"

namespace spanscope::workbench {

// Each begins with the default.
Choices policyChoices();
Choices layoutChoices();
Choices kvTypeChoices();
Choices deviceChoices();
Choices outputFormChoices();
Choices localityShapeChoices();
Choices rankingChoices();
Choices embeddingsChoices();
Choices attentionChoices();

}  // namespace spanscope::workbench
