// SPDX-License-Identifier: GPL-3.0-or-later
// OpenAI's older completions: the prompt is one text, which is the conversation under a chat template, or the
// tokens of it.
#pragma once

#include "engine/remote/protocol.h"

namespace spanscope::remote {

extern const Protocol kCompletionsProtocol;

}  // namespace spanscope::remote
