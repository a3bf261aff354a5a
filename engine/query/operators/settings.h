// SPDX-License-Identifier: GPL-3.0-or-later
// Defines fields that are settings: values that may be parameters, and the settings of a generate node. Open
// this file to add a setting of a generate node.
#pragma once

#include "engine/query/operators/operator_info.h"

#include <cstdint>
#include <string>
#include <variant>

namespace spanscope::query {

/// A placeholder, written "{name}". The placeholder gets its value when the query runs.
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

/// A field that may be absent, null, a value or a parameter. Absent means the default. Null means no limit or
/// no value.
template <class T>
using Setting = std::variant<Absent, Null, T, Parameter>;

/// A number of repetitions: 0 … 255.
using Times = std::variant<std::uint8_t, Parameter>;

/// Defaults of the language. A max_tokens of 0 means the server's own limit.
inline constexpr std::int32_t kDefaultMaxTokens = 0;
inline constexpr float kDefaultTemperature = 0.6F;

/// The value of an absent setting.
template <class T>
inline constexpr T kDefaultOf = T{};
template <>
inline constexpr std::int32_t kDefaultOf<std::int32_t> = kDefaultMaxTokens;
template <>
inline constexpr float kDefaultOf<float> = kDefaultTemperature;

/// The settings of a generate node: all fields except the input. The text of `model` may contain a parameter
/// ("{model}").
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
