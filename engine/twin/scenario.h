// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes scenarios: one JSON object each, with the requests that a server got, in order. Reading is
// strict about what a twin needs and leaves the rest as it stands, so that it can be written again.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::twin {

using Json = nlohmann::ordered_json;

/// Where a scenario stands: a line of a file, counted from 1.
struct ScenarioLine {
  std::string file;
  std::size_t line = 1;
};

/// A value of a scenario and where it stands. Whatever is asked for and is not there, or is something else,
/// throws Failure with the file, the line and the JSON pointer of the value.
class ScenarioPlace {
 public:
  /// `value` and `line` must outlive this object and all that are made from it.
  ScenarioPlace(const Json& value, const ScenarioLine& line, std::string pointer = {})
      : m_value(&value), m_line(&line), m_pointer(std::move(pointer)) {}

  const Json& value() const { return *m_value; }
  Failure fail(std::string found, std::string expected) const;

  // For an object. A member that is null counts as absent.
  ScenarioPlace field(const std::string& name) const;
  std::optional<ScenarioPlace> find(const std::string& name) const;
  std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const;
  std::int64_t integerOr(const std::string& name, std::int64_t least, std::int64_t most,
                         std::int64_t otherwise) const;
  bool flagOr(const std::string& name, bool otherwise) const;
  std::string textOr(const std::string& name, std::string otherwise) const;

  // For any value.
  void requireObject() const;
  /// The elements of a list.
  std::vector<ScenarioPlace> elements() const;
  std::int64_t requireInteger(std::int64_t least, std::int64_t most) const;
  double requireNumber(double least, double most) const;
  bool requireFlag() const;
  const std::string& requireText() const;
  /// A list of token ids, each from 0 to 2^31 − 1.
  std::vector<TokenId> requireTokens() const;

 private:
  Failure unexpected(std::string expected) const;

  const Json* m_value;
  const ScenarioLine* m_line;
  std::string m_pointer;
};

/// The object in a line of text. Throws Failure if it is none, or is nested more than 64 levels deep.
Json parseScenario(std::string_view text, const ScenarioLine& line);

/// A member of an object of a scenario.
struct Member {
  const char* name;
  bool isFound;  ///< whether the twin finds it; else it stands in the scenario
};

/// `given` with `found` in place of what others may have found before. `members` are those that a twin of
/// this server reads or finds, in the order in which they are written; what else stands there follows.
Json withFound(const Json& given, std::span<const Member> members, Json found);

/// The bytes as lower-case hexadecimal digits.
std::string hexOf(std::span<const std::uint8_t> bytes);

}  // namespace spanscope::twin
