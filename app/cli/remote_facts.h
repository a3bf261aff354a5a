// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/chat/server_facts.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::cli {

/// What a server is and what it can do, for people: a fact a line, under a table of its models.
std::string factsText(const remote::ServerFacts& facts);
nlohmann::ordered_json factsJson(const remote::ServerFacts& facts);

}  // namespace spanscope::cli
