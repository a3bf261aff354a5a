// SPDX-License-Identifier: GPL-3.0-or-later
// Fields that are settings: values that may be parameters, and what every generate says besides its input.
#pragma once

#include "engine/query/operators/field_info.h"

#include <cstdint>
#include <string>
#include <variant>

namespace spanscope::query {

/// A place for a value that is given when the query is run: written "{name}".
struct Parameter {
  std::string name;
  bool operator==(const Parameter&) const = default;
};

struct Absent {
  bool operator==(const Absent&) const = default;
};
struct Null {
  bool operator==(const Null&) const = default;
};

/// A field that may be left out (then its default holds), null (then there is no limit or value), a value or
/// a parameter.
template <class T>
using Setting = std::variant<Absent, Null, T, Parameter>;

/// How often: 0 … 255.
using Times = std::variant<std::uint8_t, Parameter>;

/// Defaults of the language: a generate without max_tokens has 0 (the server's own limit), without
/// temperature 0.6.
inline constexpr std::int32_t kDefaultMaxTokens = 0;
inline constexpr float kDefaultTemperature = 0.6F;

/// What holds where a setting is left out.
template <class T>
inline constexpr T kDefaultOf = T{};
template <>
inline constexpr std::int32_t kDefaultOf<std::int32_t> = kDefaultMaxTokens;
template <>
inline constexpr float kDefaultOf<float> = kDefaultTemperature;

/// What a generate says besides its input. `model` may hold a parameter as its text ("{model}").
struct GenerateSettings {
  std::string model;
  Setting<std::int32_t> maxTokens;
  Setting<float> temperature;
  bool operator==(const GenerateSettings&) const = default;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    constexpr const char* kModel = "the name of a model";
    visit(FieldInfo{.key = "model", .missing = kModel, .expected = kModel, .isName = true}, self.model);
    visit(FieldInfo{.key = "max_tokens"}, self.maxTokens);
    visit(FieldInfo{.key = "temperature"}, self.temperature);
  }
};

}  // namespace spanscope::query
