// SPDX-License-Identifier: GPL-3.0-or-later
// The meaning of a YAML scalar by the rules of IBM/spnl's reader. These are the rules of the YAML 1.2 core
// schema, without capitals in true and false.
#pragma once

#include "engine/query/value_cursor.h"

#include <string>
#include <string_view>

namespace spanscope::query {

/// Null, False, True or Number; String for everything else.
JsonKind yamlScalarKind(std::string_view text);

/// A scalar that is a number, as a JSON number: "16" for "0x10", "0.5" for ".5". A number that a double
/// cannot hold becomes 1e39 or -1e39, which is infinite as a float.
std::string yamlNumber(std::string_view text);

/// Whether IBM/spnl may take the text for something other than text, even in quotes: whatever
/// yamlScalarKind() takes for something else, and other spellings of the same.
bool mayBeMisreadInYaml(std::string_view text);

/// Whether some YAML reader may take the text without quotes for something other than text: those of
/// mayBeMisreadInYaml(), and words of YAML 1.1 such as yes and off.
bool mayMeanOtherInYaml(std::string_view text);

}  // namespace spanscope::query
