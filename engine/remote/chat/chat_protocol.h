// SPDX-License-Identifier: GPL-3.0-or-later
// OpenAI's chat completions, as the many servers that follow them stream them.
#pragma once

#include "engine/remote/protocol.h"

namespace spanscope::remote {

extern const Protocol kChatProtocol;

}  // namespace spanscope::remote
