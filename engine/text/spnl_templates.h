// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/chat_template.h"

#include <vector>

namespace spanscope::text {

/// The turns as IBM/spnl 0.22 writes them, each message on its own: no line break between turns and, in
/// ChatML, none after the generation prompt, which the families' own templates have. For exports that are
/// to be compared with what SPNL sends; only ever chosen by name.
const std::vector<ChatTemplate>& spnlChatTemplates();

}  // namespace spanscope::text
