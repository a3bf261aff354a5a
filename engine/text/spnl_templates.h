// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/chat_template.h"

#include <vector>

namespace spanscope::text {

/// The turns as IBM/spnl 0.22 writes them, each message on its own. Unlike the families' own templates, they
/// have no line break between turns and, in ChatML, none after the generation prompt. They are for exports
/// that are compared with what SPNL sends. They are chosen only by name.
const std::vector<ChatTemplate>& spnlChatTemplates();

}  // namespace spanscope::text
