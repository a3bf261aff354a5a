// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in a field of an operator and is no query: texts, numbers, bytes. Each of these reads the next
// value of the walk, or reports what is wrong with it and passes it; then the argument keeps its value.
#pragma once

#include "engine/query/query.h"
#include "engine/query/query_walk.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

/// `expected` says what belongs there: "text", "the path of a file".
void readText(QueryWalk& walk, std::string& text, const char* expected);
/// A text that should not be empty.
void readModel(QueryWalk& walk, std::string& model, const char* expected);

void readMaxTokens(QueryWalk& walk, Setting<std::int32_t>& setting);
void readTemperature(QueryWalk& walk, Setting<float>& setting);
/// How often a repeat repeats.
void readCount(QueryWalk& walk, Times& count);

/// A list of numbers from 0 to 255. Those that are something else are left out after a report.
void readBytes(QueryWalk& walk, std::vector<std::uint8_t>& bytes);

}  // namespace spanscope::query
