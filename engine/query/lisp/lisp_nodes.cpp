// SPDX-License-Identifier: GPL-3.0-or-later
// The forms that are nodes of the tree, and the sugar that is made of them.
#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spanscope::query {
namespace {

/// What IBM/spnl asks a model that extracts or combines: part of the form, so every letter of it matters.
constexpr const char* kCombiner =
    "Your are an AI that combines prior outputs from other AIs, preferring no markdown or other exposition.";
constexpr const char* kCombine = "Combine and flatten these into one JSON array, preserving order";

JoinKind joinKindOf(std::string_view name) {
  if (name == "par") return JoinKind::Par;
  if (name == "cross") return JoinKind::Cross;
  return name == "plus" ? JoinKind::Plus : JoinKind::Seq;
}

GenerateSettings plainSettings(std::string model) {
  return {std::move(model), std::int32_t{0}, 0.0F};
}

/// Whether it is {name} without quotes.
bool bareParameter(const LispForm& form) {
  return form.kind == LispFormKind::Symbol && parameterName(form.text);
}

/// A setting as it is written today.
std::string quotedIfBare(const LispForm& form) {
  if (form.kind == LispFormKind::List) return "(…)";
  const std::string text = cutText(form.text, 40);
  const bool isQuoted = form.kind == LispFormKind::Text || bareParameter(form);
  return isQuoted ? "\"" + text + "\"" : text;
}

}  // namespace

LispQuery LispEvaluator::leaf(Node node, SourceRange range, std::size_t bytes) const {
  LispQuery query;
  query.node = std::move(node);
  query.ranges = {range};
  query.bytes = bytes;
  return query;
}

LispQuery LispEvaluator::message(Role role, std::string text, SourceRange range) const {
  const std::size_t bytes = text.size();
  return leaf({Message{role, std::move(text)}}, range, bytes);
}

void LispEvaluator::adopt(LispQuery& parent, LispQuery& child, std::size_t containers) {
  parent.ranges.insert(parent.ranges.end(), child.ranges.begin(), child.ranges.end());
  parent.containers = std::max(parent.containers, child.containers + containers);
  parent.nodes += child.nodes;
  parent.bytes += child.bytes;
}

LispQuery LispEvaluator::join(JoinKind kind, std::vector<LispQuery> children, SourceRange range) const {
  LispQuery query = leaf({}, range, 0);
  query.containers = 2;
  Join join{kind, {}};
  join.children.reserve(children.size());
  for (LispQuery& child : children) {
    adopt(query, child, 2);
    join.children.push_back(std::move(child.node));
  }
  query.node.value = std::move(join);
  return query;
}

LispQuery LispEvaluator::generate(GenerateSettings settings, LispQuery input, SourceRange range) const {
  LispQuery query = leaf({}, range, settings.model.size());
  adopt(query, input, 2);
  query.node.value = Generate{std::move(settings), std::move(input.node)};
  return query;
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

LispEvaluator::Maybe LispEvaluator::evaluateMessage(const Call& call) {
  auto text = textOf(argument(call, 0));
  if (!text) return std::nullopt;
  const Role role = call.name() == "user"     ? Role::User
                    : call.name() == "system" ? Role::System
                                              : Role::Assistant;
  return finish(message(role, std::move(*text), call.form.range), call.form.range);
}

LispEvaluator::Maybe LispEvaluator::evaluatePrint(const Call& call) {
  auto text = textOf(argument(call, 0));
  if (!text) return std::nullopt;
  const std::size_t bytes = text->size();
  return finish(leaf({Print{std::move(*text)}}, call.form.range, bytes), call.form.range);
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

LispEvaluator::Maybe LispEvaluator::evaluateJoin(const Call& call) {
  auto children = queriesOf(call, 0);
  if (!children) return std::nullopt;
  return finish(join(joinKindOf(call.name()), std::move(*children), call.form.range), call.form.range);
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
  // As the current order has it, the second would be a whole number.
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

LispEvaluator::Maybe LispEvaluator::evaluateGenerate(const Call& call) {
  auto model = textOf(argument(call, 0), "the name of a model");
  auto input = queryOf(argument(call, 1));
  auto settings = hasOlderSettings(call, 2) ? olderSettingsOf(call, 2) : settingsOf(call, 2);
  if (!model || !input || !settings) return std::nullopt;
  settings->model = std::move(*model);
  return finish(generate(std::move(*settings), std::move(*input), call.form.range), call.form.range);
}

std::optional<decltype(Repeat::count)> LispEvaluator::countOf(const Maybe& value) {
  const auto* text = value ? value->as<std::string>() : nullptr;
  if (auto name = text != nullptr ? parameterName(*text) : std::nullopt) return Parameter{std::move(*name)};
  const auto whole = wholeOf(value, 0, std::numeric_limits<std::uint8_t>::max());
  if (!whole) return std::nullopt;
  return static_cast<std::uint8_t>(*whole);
}

LispEvaluator::Maybe LispEvaluator::evaluateOlderRepeat(const Call& call) {
  auto count = countOf(olderNumber(call, 0));
  Maybe value = argument(call, 1);
  if (!count || !value) return std::nullopt;
  auto* repeated = value->as<LispQuery>();
  auto* generate = repeated == nullptr ? nullptr : repeated->node.as<Generate>();
  if (generate == nullptr) {
    wrongKind(*value, "a generate: (g model input …)",
              "what is repeated is a generate, or written (repeat n model input …)");
    return std::nullopt;
  }
  // {"repeat": {"n": …, "g": {…}}}: the generate is a part of the repeat, not a node under it.
  LispQuery query = leaf({Repeat{std::move(*count), std::move(*generate)}}, call.form.range, repeated->bytes);
  query.ranges.insert(query.ranges.end(), repeated->ranges.begin() + 1, repeated->ranges.end());
  query.containers = repeated->containers + 1;
  query.nodes = repeated->nodes;
  warning(call.form.range, "an older form of repeat", "(repeat n model input [temperature [max_tokens]])",
          "it is read as a repeat of that generate");
  return finish(std::move(query), call.form.range);
}

LispEvaluator::Maybe LispEvaluator::evaluateRepeat(const Call& call) {
  if (call.count() == 2) return evaluateOlderRepeat(call);
  auto count = countOf(argument(call, 0));
  auto model = textOf(argument(call, 1), "the name of a model");
  auto input = queryOf(argument(call, 2));
  auto settings = settingsOf(call, 3);
  if (!count || !model || !input || !settings) return std::nullopt;

  Repeat repeat;
  repeat.count = std::move(*count);
  settings->model = std::move(*model);
  LispQuery query = leaf({}, call.form.range, settings->model.size());
  adopt(query, *input, 3);
  repeat.generate = Generate{std::move(*settings), std::move(input->node)};
  query.node.value = std::move(repeat);
  return finish(std::move(query), call.form.range);
}

LispEvaluator::Maybe LispEvaluator::evaluateMap(const Call& call) {
  auto model = textOf(argument(call, 0), "the name of a model");
  auto inputs = listOf(argument(call, 1));
  auto settings = settingsOf(call, 2);
  if (!model || !inputs || !settings) return std::nullopt;
  settings->model = std::move(*model);
  Map map{std::move(*settings), {}};
  std::size_t bytes = map.settings.model.size();
  for (LispValue& input : *inputs) {
    auto text = textOf(std::move(input));
    if (!text) return std::nullopt;
    bytes += text->size();
    map.inputs.push_back(std::move(*text));
  }
  const std::size_t nodes = 1 + map.inputs.size();
  LispQuery query = leaf({std::move(map)}, call.form.range, bytes);
  query.containers = 3;
  query.nodes = nodes;
  return finish(std::move(query), call.form.range);
}

LispEvaluator::Maybe LispEvaluator::evaluateMonad(const Call& call) {
  auto body = queryOf(argument(call, 0));
  if (!body) return std::nullopt;
  LispQuery query = leaf({}, call.form.range, 0);
  adopt(query, *body, 1);
  query.node.value = Monad{std::move(body->node)};
  return finish(std::move(query), call.form.range);
}

LispEvaluator::Maybe LispEvaluator::evaluateZip(const Call& call) {
  auto first = queryOf(argument(call, 0));
  auto second = queryOf(argument(call, 1));
  if (!first || !second) return std::nullopt;
  LispQuery query = leaf({}, call.form.range, 0);
  adopt(query, *first, 2);
  adopt(query, *second, 2);
  query.node.value = Zip{std::move(first->node), std::move(second->node)};
  return finish(std::move(query), call.form.range);
}

LispQuery LispEvaluator::augment(const std::string& model, LispQuery body, Document document,
                                 SourceRange range) const {
  const bool isText = std::holds_alternative<std::string>(document.content);
  const std::size_t size = std::visit([](const auto& content) { return content.size(); }, document.content);
  LispQuery query = leaf({}, range, model.size() + document.name.size() + size);
  // {"augment": {"doc": [name, {"Binary": [bytes]}]}}
  query.containers = isText ? 4 : 5;
  adopt(query, body, 2);
  query.node.value = Augment{model, std::move(body.node), std::move(document)};
  return query;
}

LispEvaluator::Maybe LispEvaluator::evaluateAugment(const Call& call) {
  auto model = textOf(argument(call, 0), "the name of an embedding model");
  auto body = queryOf(argument(call, 1));
  auto document = documentOf(argument(call, 2));
  if (!model || !body || !document) return std::nullopt;
  return finish(augment(*model, std::move(*body), std::move(*document), call.form.range), call.form.range);
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
    fragments.push_back(augment(*model, *question, std::move(*document), range));
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
  return finish(generate(plainSettings(std::move(model)), std::move(input), range), range);
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
