// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/choice.h"

#include "engine/base/error.h"
#include "engine/policy/policies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

namespace spanscope::policy {
namespace {

constexpr std::string_view kAll = "all";
constexpr double kEverything = std::numeric_limits<double>::infinity();

std::vector<double> standardValues(const Policy& policy) {
  std::vector<double> values;
  for (const Parameter& parameter : policy.parameters) values.push_back(parameter.standard);
  return values;
}

bool isValue(const Parameter& parameter, double value) {
  if (!parameter.words.empty())
    return value >= 0 && value < static_cast<double>(parameter.words.size()) && value == std::floor(value);
  if (value == kEverything) return parameter.hasAll;
  return value >= parameter.least && value <= parameter.most &&
         (!parameter.isWhole || value == std::floor(value));
}

/// Returns the shortest text that reads back as the same value.
std::string numberText(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return {text.data(), end.ptr};
}

std::string valueText(const Parameter& parameter, double value) {
  if (!parameter.words.empty()) return parameter.words[static_cast<std::size_t>(value)];
  return value == kEverything ? std::string(kAll) : numberText(value);
}

std::string expectedOf(const Parameter& parameter) {
  if (!parameter.words.empty()) {
    std::string words;
    for (std::size_t i = 0; i < parameter.words.size(); ++i)
      words +=
          (i == 0 ? "" : (i + 1 == parameter.words.size() ? " or " : ", ")) + std::string(parameter.words[i]);
    return words;
  }
  return std::string(parameter.isWhole ? /*id:whole-number-choice*/ "a whole number from "
                                       : "a number from ") +
         numberText(parameter.least) + " to " + numberText(parameter.most) +
         (parameter.hasAll ? ", or all" : "");
}

/// "link(n): tokens of each document, a whole number from 0 to 1000000, or all"
std::string expectedOf(const Policy& policy) {
  if (policy.parameters.empty()) return std::string(policy.name) + /*id:no-values*/ ", which has no values";
  std::string text = std::string(policy.name) + "(";
  for (const Parameter& parameter : policy.parameters)
    text += (&parameter == policy.parameters.data() ? "" : ",") + std::string(parameter.name);
  text += "): ";
  for (const Parameter& parameter : policy.parameters)
    text += (&parameter == policy.parameters.data() ? "" : "; ") + std::string(parameter.label) + ", " +
            expectedOf(parameter);
  return text;
}

/// In other languages, a zero before another digit means an octal number. The function therefore refuses such
/// a text.
bool hasLeadingZero(std::string_view text) {
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

std::optional<double> readValue(const Parameter& parameter, std::string_view text) {
  if (!parameter.words.empty()) {
    const auto word = std::ranges::find(parameter.words, text);
    if (word == parameter.words.end()) return std::nullopt;
    return static_cast<double>(word - parameter.words.begin());
  }
  double value = kEverything;
  if (text != kAll) {
    if (hasLeadingZero(text)) return std::nullopt;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !std::isfinite(value))
      return std::nullopt;
  }
  if (!isValue(parameter, value)) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const auto isBlank = [](char c) { return c == ' '; };
  while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

Choice::Choice() : Choice(standardPolicy()) {}

Choice::Choice(const Policy& policy) : m_policy(&policy), m_values(standardValues(policy)) {}

Choice::Choice(const Policy& policy, std::vector<double> values)
    : m_policy(&policy), m_values(std::move(values)) {
  if (m_values.size() != policy.parameters.size())
    throw std::logic_error(std::string(policy.name) +
                           ": the number of values is not the number of parameters");
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    if (!isValue(policy.parameters[i], m_values[i]))
      throw std::logic_error(std::string(policy.name) + ": a value out of range");
  }
}

std::string Choice::name() const {
  if (m_values.empty()) return m_policy->name;
  return std::string(m_policy->name) + "(" + valuesText(*this) + ")";
}

const char* Choice::exactness() const {
  const char* better = m_policy->exactnessAt == nullptr ? nullptr : m_policy->exactnessAt(m_values);
  return better == nullptr ? m_policy->exactness : better;
}

void Choice::checkFor(std::int32_t layers) const {
  if (m_policy->expectedOn == nullptr) return;
  if (auto expected = m_policy->expectedOn(m_values, layers))
    throw Failure(errorAt("policy", name(), *std::move(expected)));
}

std::string valuesText(const Choice& choice) {
  const std::span<const Parameter> parameters = choice.policy().parameters;
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double value = choice.values()[i];
    if (i == 0) {
      text = valueText(parameters[i], value);
    } else if (value != parameters[i].standard) {
      text += "," + std::string(parameters[i].name) + "=" + valueText(parameters[i], value);
    }
  }
  return text;
}

std::variant<Choice, ChoiceProblem> readValues(const Policy& policy, std::string_view text) {
  ChoiceProblem problem{.policy = &policy, .expected = expectedOf(policy)};
  std::vector<double> values = standardValues(policy);
  std::vector<bool> isGiven(values.size(), false);
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::size_t comma = text.find(',');
    std::string_view part = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (comma != std::string_view::npos && trimmed(text).empty()) return problem;
    std::size_t place = i;
    if (const std::size_t equals = part.find('='); equals != std::string_view::npos) {
      const std::string_view name = trimmed(part.substr(0, equals));
      const auto named = std::ranges::find_if(
          policy.parameters, [&](const Parameter& parameter) { return name == parameter.name; });
      place = static_cast<std::size_t>(named - policy.parameters.begin());
      part = trimmed(part.substr(equals + 1));
    }
    if (place >= values.size() || isGiven[place]) return problem;
    const std::optional<double> value = readValue(policy.parameters[place], part);
    if (!value) {
      if (hasLeadingZero(part)) problem.expected += /*id:without-leading-zero*/ ", without a leading zero";
      return problem;
    }
    values[place] = *value;
    isGiven[place] = true;
  }
  return Choice(policy, std::move(values));
}

std::variant<Choice, ChoiceProblem> readChoice(std::string_view text) {
  text = trimmed(text);
  const std::size_t open = text.find('(');
  const Policy* const policy = findPolicy(trimmed(text.substr(0, open)));
  if (policy == nullptr) {
    std::string names;
    const std::vector<std::string> all = policyNames();
    for (std::size_t i = 0; i < all.size(); ++i)
      names += (i == 0 ? "" : (i + 1 == all.size() ? " or " : ", ")) + all[i];
    return ChoiceProblem{.policy = nullptr, .expected = names};
  }
  if (open == std::string_view::npos) return Choice(*policy);
  if (text.back() != ')') return ChoiceProblem{.policy = policy, .expected = expectedOf(*policy)};
  const std::string_view inside = trimmed(text.substr(open + 1, text.size() - open - 2));
  if (inside.empty()) return ChoiceProblem{.policy = policy, .expected = expectedOf(*policy)};
  return readValues(*policy, inside);
}

std::optional<Choice> findChoice(std::string_view text) {
  auto read = readChoice(text);
  auto* const choice = std::get_if<Choice>(&read);
  return choice == nullptr ? std::nullopt : std::optional(std::move(*choice));
}

}  // namespace spanscope::policy
