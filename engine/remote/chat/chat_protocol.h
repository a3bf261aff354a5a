// SPDX-License-Identifier: GPL-3.0-or-later
// OpenAI's chat completions, as the many servers that follow them stream them. Protocols that are like them
// use their bodies and their answers.
#pragma once

#include "engine/remote/protocol.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::remote {

/// Answers made of choices: chat completions and completions.
extern const AnswerForm kChoices;

/// The body of a chat completion that is streamed, with counts at its end.
nlohmann::ordered_json chatBody(const Sending& sending);

/// A body on one line; bytes that are no UTF-8 are replaced.
std::string bodyText(const nlohmann::ordered_json& body);

}  // namespace spanscope::remote
