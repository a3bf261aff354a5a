// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of what servers say, of which nothing can be relied on.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace spanscope::remote {

/// Null where the object has no such field, or null in it, or is no object.
inline const nlohmann::json* fieldOf(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Empty where it is no text.
inline std::string textOf(const nlohmann::json& object, const char* name) {
  const nlohmann::json* field = fieldOf(object, name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

/// A count of tokens; nothing where it is none that a server can have.
inline std::optional<std::int64_t> countOf(const nlohmann::json& object, const char* name) {
  constexpr double kMost = 1e9;
  const nlohmann::json* field = fieldOf(object, name);
  if (field == nullptr || !field->is_number()) return std::nullopt;
  const double value = field->get<double>();
  if (!(value >= 0) || value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace spanscope::remote
