// SPDX-License-Identifier: GPL-3.0-or-later
// Builds nodes, and evaluates the forms that are sugar for several nodes.
#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spanscope::query {
namespace {

/// The text that IBM/spnl sends to a model that extracts or combines. It is part of the form, so every letter
/// matters.
constexpr const char* kCombiner =
    "Your are an AI that combines prior outputs from other AIs, preferring no markdown or other exposition.";
constexpr const char* kCombine = "Combine and flatten these into one JSON array, preserving order";

GenerateSettings plainSettings(std::string model) {
  return {std::move(model), std::int32_t{0}, 0.0F};
}

/// Whether the form is {name} without quotes.
bool bareParameter(const LispForm& form) {
  return form.kind == LispFormKind::Symbol && parameterName(form.text);
}

/// A setting in today's notation.
std::string quotedIfBare(const LispForm& form) {
  if (form.kind == LispFormKind::List) return "(…)";
  const std::string text = cutText(form.text, 40);
  const bool isQuoted = form.kind == LispFormKind::Text || bareParameter(form);
  return isQuoted ? "\"" + text + "\"" : text;
}

}  // namespace

LispQuery LispEvaluator::assembled(Node own, std::vector<LispQuery> children, SourceRange range) {
  const Containers containers = containersOf(own);
  LispQuery query;
  query.ranges = {range};
  query.containers = containers.own;
  query.bytes = textBytesOf(own);
  if (const auto* inputs = inputsOf(own)) query.nodes += inputs->size();
  std::vector<Node> nodes;
  nodes.reserve(children.size());
  for (LispQuery& child : children) {
    query.ranges.insert(query.ranges.end(), child.ranges.begin(), child.ranges.end());
    query.containers = std::max(query.containers, child.containers + containers.aroundChild);
    query.nodes += child.nodes;
    query.bytes += child.bytes;
    nodes.push_back(std::move(child.node));
  }
  query.node = withChildren(std::move(own), std::move(nodes));
  return query;
}

LispQuery LispEvaluator::message(Role role, std::string text, SourceRange range) {
  return assembled({Message{role, std::move(text)}}, {}, range);
}

LispQuery LispEvaluator::join(JoinKind kind, std::vector<LispQuery> children, SourceRange range) {
  return assembled({Join::ofKind(kind)}, std::move(children), range);
}

LispEvaluator::Maybe LispEvaluator::finish(LispQuery query, SourceRange range) {
  if (query.containers > m_limits.maxDepth) {
    error(range, "a query of " + std::to_string(query.containers) + " containers within each other",
          "at most " + std::to_string(m_limits.maxDepth), "counted as in JSON");
    return std::nullopt;
  }
  if (query.nodes > m_limits.maxNodes) {
    error(range, "a query of " + std::to_string(query.nodes) + " nodes",
          "at most " + std::to_string(m_limits.maxNodes));
    return std::nullopt;
  }
  return LispValue{std::move(query), range};
}

std::optional<std::vector<LispQuery>> LispEvaluator::queriesOf(const Call& call, std::size_t first) {
  std::vector<LispQuery> queries;
  bool isComplete = true;
  const auto add = [&](const Maybe& value) {
    if (auto query = queryOf(value)) {
      queries.push_back(std::move(*query));
    } else {
      isComplete = false;
    }
  };
  for (std::size_t i = first; i < call.count(); ++i) {
    Maybe value = argument(call, i);
    LispList* list = value ? value->as<LispList>() : nullptr;
    if (list == nullptr) {
      add(value);
    } else {
      for (LispValue& element : list->elements) add(std::move(element));
    }
  }
  if (!isComplete) return std::nullopt;
  return queries;
}

bool LispEvaluator::setMaxTokens(const Maybe& value, GenerateSettings& settings) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (!value) return false;
  if (value->as<LispNone>() != nullptr) {
    settings.maxTokens = Null{};
    return true;
  }
  const auto* text = value->as<std::string>();
  if (auto name = text != nullptr ? parameterName(*text) : std::nullopt) {
    settings.maxTokens = Parameter{std::move(*name)};
    return true;
  }
  const auto whole = wholeOf(value, Limits::min(), Limits::max());
  if (whole) settings.maxTokens = static_cast<std::int32_t>(*whole);
  return whole.has_value();
}

bool LispEvaluator::setTemperature(const Maybe& value, GenerateSettings& settings) {
  if (!value) return false;
  const auto* text = value->as<std::string>();
  auto name = text != nullptr ? parameterName(*text) : std::nullopt;
  if (const auto* number = value->as<LispNumber>()) {
    settings.temperature = floatValue(number->text);
  } else if (value->as<LispNone>() != nullptr) {
    settings.temperature = Null{};
  } else if (name) {
    settings.temperature = Parameter{std::move(*name)};
  } else {
    wrongKind(*value, "a temperature: a number, or none",
              text != nullptr ? "a parameter is written \"{name}\"" : "");
    return false;
  }
  return true;
}

std::optional<GenerateSettings> LispEvaluator::settingsOf(const Call& call, std::size_t first) {
  GenerateSettings settings = plainSettings({});
  const bool isRight = first >= call.count() || setTemperature(argument(call, first), settings);
  if (first + 1 < call.count() && !setMaxTokens(argument(call, first + 1), settings)) return std::nullopt;
  if (!isRight) return std::nullopt;
  return settings;
}

bool LispEvaluator::hasOlderSettings(const Call& call, std::size_t first) {
  if (call.count() > first + 2) return true;
  if (call.count() < first + 2) return false;
  const LispForm& one = call.argument(first);
  const LispForm& two = call.argument(first + 1);
  // In the current order, the second number would be a whole number.
  const bool isSwapped = one.kind == LispFormKind::Number && isWholeNumber(one.text) &&
                         two.kind == LispFormKind::Number && !isWholeNumber(two.text);
  return isSwapped || bareParameter(one) || bareParameter(two);
}

LispEvaluator::Maybe LispEvaluator::olderNumber(const Call& call, std::size_t i) {
  const LispForm& form = call.argument(i);
  return bareParameter(form) ? LispValue{form.text, form.range} : argument(call, i);
}

std::optional<GenerateSettings> LispEvaluator::olderSettingsOf(const Call& call, std::size_t first) {
  GenerateSettings settings;
  const bool isRight = setMaxTokens(olderNumber(call, first), settings);
  if (!setTemperature(olderNumber(call, first + 1), settings) || !isRight) return std::nullopt;
  if (call.count() > first + 2) {
    const LispForm& flag = call.argument(first + 2);
    const bool isFlag = flag.kind == LispFormKind::Symbol && (flag.text == "#f" || flag.text == "#t");
    if (!isFlag || flag.text == "#t") {
      error(flag.range, isFlag ? "the flag #t" : "one argument more",
            "#f, or (g model input [temperature [max_tokens]])",
            isFlag ? "a chat that goes on by itself has no form in a query" : "");
      return std::nullopt;
    }
  }
  const auto shown = [&](std::size_t i) { return quotedIfBare(call.argument(i)); };
  warning(call.form.range, "an older form of g, with max_tokens before temperature",
          "(g model input [temperature [max_tokens]])",
          "it is read as (g … " + shown(first + 1) + " " + shown(first) + ")");
  return settings;
}

std::optional<Times> LispEvaluator::countOf(const Maybe& value) {
  const auto* text = value ? value->as<std::string>() : nullptr;
  if (auto name = text != nullptr ? parameterName(*text) : std::nullopt) return Parameter{std::move(*name)};
  const auto whole = wholeOf(value, 0, std::numeric_limits<std::uint8_t>::max());
  if (!whole) return std::nullopt;
  return static_cast<std::uint8_t>(*whole);
}

LispEvaluator::Maybe LispEvaluator::evaluateWith(const Call& call) {
  const auto model = textOf(argument(call, 0), "the name of an embedding model");
  const Maybe body = argument(call, 1);
  auto question = queryOf(body);
  auto documents = listOf(argument(call, 2));
  if (!model || !question || !documents) return std::nullopt;
  const SourceRange range = call.form.range;
  std::vector<LispQuery> fragments;
  for (LispValue& value : *documents) {
    auto document = documentOf(std::move(value));
    if (!document || !spend(question->nodes, range) || !spendText(question->bytes, range))
      return std::nullopt;
    std::vector<LispQuery> inner;
    inner.push_back(*question);
    fragments.push_back(assembled({Augment{*model, Node{}, std::move(*document)}}, std::move(inner), range));
  }
  std::vector<LispQuery> parts;
  parts.push_back(join(JoinKind::Plus, std::move(fragments), range));
  parts.push_back(message(Role::User, "Please answer this question:", range));
  parts.push_back(std::move(*question));
  return finish(join(JoinKind::Cross, std::move(parts), range), range);
}

LispEvaluator::Maybe LispEvaluator::combined(const Call& call, std::string model, LispQuery body,
                                             std::string task) {
  const SourceRange range = call.form.range;
  std::vector<LispQuery> parts;
  parts.push_back(message(Role::System, kCombiner, range));
  parts.push_back(std::move(body));
  parts.push_back(message(Role::User, std::move(task), range));
  LispQuery input = join(JoinKind::Cross, std::move(parts), range);
  const Node generate{Generate{plainSettings(std::move(model)), Node{}}};
  std::vector<LispQuery> inputs;
  inputs.push_back(std::move(input));
  return finish(assembled(generate, std::move(inputs), range), range);
}

LispEvaluator::Maybe LispEvaluator::evaluateExtract(const Call& call) {
  auto model = textOf(argument(call, 0), "the name of a model");
  const auto count = wholeOf(argument(call, 1), 0, std::numeric_limits<std::int64_t>::max());
  auto body = queryOf(argument(call, 2));
  if (!model || !count || !body) return std::nullopt;
  return combined(call, std::move(*model), std::move(*body),
                  "Extract and simplify these " + std::to_string(*count) + " final answers");
}

LispEvaluator::Maybe LispEvaluator::evaluateCombine(const Call& call) {
  auto model = textOf(argument(call, 0), "the name of a model");
  auto body = queryOf(argument(call, 1));
  if (!model || !body) return std::nullopt;
  return combined(call, std::move(*model), std::move(*body), kCombine);
}

}  // namespace spanscope::query
