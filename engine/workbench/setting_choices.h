// SPDX-License-Identifier: GPL-3.0-or-later
// The possible names of settings, taken from the tables of the things that they choose.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/dtype.h"
#include "engine/layout/layouts.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/run/observation.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/setting.h"

#include <optional>
#include <string_view>

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

// Translates the name in a setting for the engine. An unknown name means the default.

/// Null: the checkpoint's own.
const text::ChatTemplate* templateOf(std::string_view name);
policy::Choice policyOf(std::string_view name);
layout::Layout layoutOf(std::string_view name);
compute::Arithmetic arithmeticOf(std::string_view name);
std::optional<compute::DType> kvTypeOf(std::string_view name);  ///< nothing: the type that suits the device
plan::OutputForm outputFormOf(std::string_view name);
plan::LocalityShape localityShapeOf(std::string_view name);
run::AttentionDetail attentionDetailOf(std::string_view name);

}  // namespace spanscope::workbench
