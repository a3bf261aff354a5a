// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/chat_template.h"

#include <string_view>
#include <vector>

namespace spanscope::text {

/// A chat template and the text of the `chat_template` by which a checkpoint is known to use it.
struct KnownChatTemplate {
  ChatTemplate chat;
  std::string_view source;
};

/// Every chat template that is known.
const std::vector<KnownChatTemplate>& knownChatTemplates();

}  // namespace spanscope::text
