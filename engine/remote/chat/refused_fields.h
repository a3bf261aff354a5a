// SPDX-License-Identifier: GPL-3.0-or-later
// Changes the body of a request after a server has refused one of its fields. Newer models of OpenAI refuse
// max_tokens and temperature, and strict servers refuse fields that they do not know. Open this file if a
// server refuses another field.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spanscope::remote {

/// A field that a server refuses. All objects are constants.
struct RefusedField {
  const char* name;     ///< "max_tokens"
  const char* instead;  ///< the accepted name of the same value; null: the field is left out.
  /// A sentence about the request without this field, for the user. Null: the request has the same meaning.
  const char* warning;
};

/// Returns the field of `body` that an answer with this status and text refuses. Null: the answer refuses no
/// known field, or `body` is no JSON object with this field.
const RefusedField* refusedField(std::string_view body, long status, std::string_view refusal);

/// Returns the body without the field, or with the accepted name. A body without the field stays as it is.
std::string withoutField(std::string body, const RefusedField& field);

}  // namespace spanscope::remote
