// SPDX-License-Identifier: GPL-3.0-or-later
// Read the values in fields of an operator that are no queries: texts, numbers, bytes. Each function reads
// the next value of the walk. If the value is wrong, it reports the error and skips the value; the argument
// does not change.
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

void readMaxTokens(QueryWalk& walk, Setting<std::int32_t>& setting);
void readTemperature(QueryWalk& walk, Setting<float>& setting);
/// Reads the count of a repeat.
void readCount(QueryWalk& walk, Times& count);

/// Reads a list of numbers from 0 to 255. Other elements are reported and left out.
void readBytes(QueryWalk& walk, std::vector<std::uint8_t>& bytes);

}  // namespace spanscope::query
