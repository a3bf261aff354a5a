// SPDX-License-Identifier: GPL-3.0-or-later
// Translates the texts by which reuse policies describe themselves (engine/policy/policy.h).
#pragma once

#include <QString>

namespace spanscope::ui {

/// Translates the help of a policy, or the label or help of one of its parameters.
QString policyWord(const char* text);

}  // namespace spanscope::ui
