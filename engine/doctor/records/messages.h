// SPDX-License-Identifier: GPL-3.0-or-later
// Reads messages and tools of all protocols. Open this file to read another kind of content.
#pragma once

#include "engine/doctor/logged_request.h"
#include "engine/doctor/records/json_members.h"

#include <string>
#include <vector>

namespace spanscope::doctor {

/// Returns the arguments of a call: an object, or a text with an object. Spaces of the text do not reach the
/// prompt.
std::string argumentsText(const Json* value);
void addText(std::vector<Part>& parts, Part::Kind kind, std::string text);
void addImage(std::vector<Part>& parts, const Json& image);
void addToolCalls(const Json* calls, std::vector<Part>& parts);
/// Adds a message of any protocol, or an item of OpenAI's responses. Results of tools become messages of
/// their own.
void addLoggedMessage(const Json& message, std::vector<Message>& messages);
/// Adds a message, or a list of messages. nullptr: none.
void addMessages(const Json* list, std::vector<Message>& messages);
/// Adds the system message at the beginning. nullptr: none.
void addSystem(const Json* system, std::vector<Message>& messages);
void addTools(const Json* tools, std::vector<Tool>& list);

}  // namespace spanscope::doctor
