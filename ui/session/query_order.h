// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace spanscope::ui {

/// Whether two queries, as canonical JSON, differ only in the order of nodes.
bool isOtherOrder(const std::string& a, const std::string& b);

}  // namespace spanscope::ui
