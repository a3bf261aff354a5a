// SPDX-License-Identifier: GPL-3.0-or-later
// Reads members of JSON objects whose names and types differ from program to program.
#pragma once

#include "engine/base/json_text.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::doctor {

using Json = nlohmann::ordered_json;

/// Max objects around a request or an answer.
inline constexpr int kMostWrappers = 5;

/// Returns why a text exceeds the depth or the size of a record; empty: the text is within the limits.
/// Parsing and searching take time that grows with them.
std::string faultOfShape(std::string_view text);
/// Parses JSON within the limits of a record. The result is discarded JSON if the text is no JSON or exceeds
/// a limit.
Json parseWithinLimits(std::string_view text);

/// Returns a member that is not null. nullptr: there is no such member, or `object` is no object.
const Json* memberOf(const Json& object, std::string_view name);
/// Returns the first of these members that is there.
template <class... Names>
const Json* memberOf(const Json& object, std::string_view name, Names... names) {
  const Json* found = memberOf(object, name);
  return found != nullptr ? found : memberOf(object, names...);
}
/// Follows names through objects.
const Json* memberAt(const Json& object, std::initializer_list<std::string_view> names);

/// Returns a text, or an integer as text. Empty: another value, or nullptr.
std::string textOfJson(const Json* value);
/// Returns a number of tokens or a similar count, also from a text.
std::optional<std::int64_t> countOfJson(const Json* value);
/// Returns milliseconds since 1970. Reads "2026-08-31T14:03:07.25+02:00" and numbers of seconds,
/// milliseconds, micro- or nanoseconds.
std::optional<std::int64_t> timeOfJson(const Json* value);

}  // namespace spanscope::doctor
