// SPDX-License-Identifier: GPL-3.0-or-later
// What a scalar of YAML means: the rules of IBM/spnl's reader, which are those of the YAML 1.2 core schema
// without capitals for true and false.
#pragma once

#include "engine/query/value_cursor.h"

#include <string>
#include <string_view>

namespace spanscope::query {

/// Null, False, True, Number or, for everything else, String.
JsonKind yamlScalarKind(std::string_view text);

/// A scalar that is a number as a JSON number: "16" for "0x10", "0.5" for ".5". What a double cannot hold
/// becomes 1e39 or -1e39, which is infinite as a float.
std::string yamlNumber(std::string_view text);

/// Whether IBM/spnl may take the text for something else than text, in quotes as well: what yamlScalarKind()
/// does, and other spellings of the same.
bool mayBeMisreadInYaml(std::string_view text);

/// Whether some reader of YAML may take the text for something else than text when no quotes are around
/// it: those above, and the words of YAML 1.1 such as yes and off.
bool mayMeanOtherInYaml(std::string_view text);

}  // namespace spanscope::query
