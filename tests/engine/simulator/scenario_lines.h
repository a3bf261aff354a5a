// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/simulator/servers.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <vector>

namespace spanscope::simulator::testing {

using Json = nlohmann::ordered_json;

/// The lines of a file, which may be packed by gzip; empty if it is missing.
std::vector<std::string> scenarioLines(const std::string& path);

/// Takes all members of these names out of a value and all values in it.
void strip(Json& value, std::initializer_list<const char*> names);

/// Whether two values are the same, whatever the order of members.
bool sameValue(const Json& one, const Json& other);

/// The result of the cache simulator for a scenario. `line` of errors is 1.
Json replayed(const Server& server, const Json& scenario);

/// Where the first ops of a cache simulator differ from the recorded ones; empty: nowhere.
std::string differenceInOps(const Json& found, const Json& expected);

/// The message of the Failure for a line of text; empty if it is taken.
std::string mistakeIn(const Server& server, const std::string& text);

}  // namespace spanscope::simulator::testing
