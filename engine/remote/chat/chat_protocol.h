// SPDX-License-Identifier: GPL-3.0-or-later
// OpenAI's chat completions, in the form that many servers stream. Similar protocols use these bodies and
// answers. Open this file to add a field of the request.
#pragma once

#include "engine/remote/protocol.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::remote {

/// Answers made of choices: chat completions and completions.
extern const AnswerForm kChoices;

/// Returns the body of a request for a streamed chat completion with token counts at the end.
nlohmann::ordered_json chatBody(const Sending& sending);

/// Returns the body on one line. Bytes that are not UTF-8 are replaced.
std::string bodyText(const nlohmann::ordered_json& body);

}  // namespace spanscope::remote
