// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the reader of requests that transcripts need, too.
#pragma once

#include "engine/doctor/logged_request.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

/// Returns a member that is not null. nullptr: there is no such member, or `object` is no object.
const nlohmann::ordered_json* memberOf(const nlohmann::ordered_json& object, std::string_view name);
/// Returns a text, or an integer as text. Empty: another value, or nullptr.
std::string textOfJson(const nlohmann::ordered_json* value);
/// Returns milliseconds since 1970.
std::optional<std::int64_t> timeOfJson(const nlohmann::ordered_json* value);
/// Adds a message of any protocol, or an item of OpenAI's responses. Results of tools become messages of
/// their own.
void addLoggedMessage(const nlohmann::ordered_json& message, std::vector<Message>& messages);
/// Takes the reported counts that are there.
void readLoggedUsage(const nlohmann::ordered_json& usage, Usage& result);
/// Parses JSON within the limits of a record. The result is discarded JSON if the text is no JSON or exceeds
/// a limit.
nlohmann::ordered_json parseWithinLimits(std::string_view text);

}  // namespace spanscope::doctor
