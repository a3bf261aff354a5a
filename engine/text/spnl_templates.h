// SPDX-License-Identifier: GPL-3.0-or-later
// The chat templates of IBM/spnl, for comparisons. Open this file when an export must equal SPNL's text.
#pragma once

#include "engine/text/chat_template.h"

#include <vector>

namespace spanscope::text {

/// Returns the turns as IBM/spnl 0.22 writes them, each message separately. The families' own templates have
/// a line break between turns, and SPNL has none. SPNL's ChatML also has none after the generation prompt.
/// They are for exports that are compared with SPNL's requests. They are chosen only by name.
const std::vector<ChatTemplate>& spnlChatTemplates();

}  // namespace spanscope::text
