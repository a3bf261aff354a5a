// SPDX-License-Identifier: GPL-3.0-or-later
// Translates the name in a setting for the engine. An unknown name means the default.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/dtype.h"
#include "engine/layout/layouts.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/run/attention_limit.h"
#include "engine/run/observation.h"
#include "engine/text/chat_template.h"

#include <optional>
#include <string_view>

namespace spanscope::workbench {

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
