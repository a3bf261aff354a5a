// SPDX-License-Identifier: GPL-3.0-or-later
// The possible names of settings, taken from the tables of the things that they choose.
#pragma once

#include "engine/workbench/setting.h"

namespace spanscope::workbench {

// Each list begins with the default.
Choices templateChoices();
Choices policyChoices();
Choices layoutChoices();
Choices kvTypeChoices();
Choices arithmeticChoices();
Choices deviceChoices();
Choices outputFormChoices();
Choices localityShapeChoices();
Choices rankingChoices();
Choices embeddingsChoices();
Choices attentionChoices();

}  // namespace spanscope::workbench
