// SPDX-License-Identifier: GPL-3.0-or-later
// What reuse policies say of themselves (engine/policy/policy.h), in the language of the window.
#pragma once

#include <QString>

namespace spanscope::ui {

/// The help of a policy, or the label or help of one of its parameters.
QString policyWord(const char* text);

}  // namespace spanscope::ui
