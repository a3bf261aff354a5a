// SPDX-License-Identifier: GPL-3.0-or-later
// The forms that are nodes of the tree, and the sugar that is made of them.
#include "engine/query/lisp_evaluator.h"
#include "engine/query/number_text.h"
#include "engine/query/parameters.h"

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

bool LispEvaluator::setMaxTokens(const Call& call, std::size_t i, GenerateSettings& settings) {
  using Limits = std::numeric_limits<std::int32_t>;
  settings.maxTokens = std::int32_t{0};
  if (i >= call.count()) return true;
  const Maybe value = argument(call, i);
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

bool LispEvaluator::setTemperature(const Call& call, std::size_t i, GenerateSettings& settings) {
  settings.temperature = 0.0F;
  if (i >= call.count()) return true;
  const Maybe value = argument(call, i);
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
  GenerateSettings settings;
  const bool hasTemperature = setTemperature(call, first, settings);
  if (!setMaxTokens(call, first + 1, settings) || !hasTemperature) return std::nullopt;
  return settings;
}

LispEvaluator::Maybe LispEvaluator::evaluateGenerate(const Call& call) {
  auto model = textOf(argument(call, 0), "the name of a model");
  auto input = queryOf(argument(call, 1));
  auto settings = settingsOf(call, 2);
  if (!model || !input || !settings) return std::nullopt;
  settings->model = std::move(*model);
  return finish(generate(std::move(*settings), std::move(*input), call.form.range), call.form.range);
}

LispEvaluator::Maybe LispEvaluator::evaluateRepeat(const Call& call) {
  const Maybe count = argument(call, 0);
  const auto* text = count ? count->as<std::string>() : nullptr;
  auto name = text != nullptr ? parameterName(*text) : std::nullopt;
  const auto whole = name ? std::nullopt : wholeOf(count, 0, std::numeric_limits<std::uint8_t>::max());
  auto model = textOf(argument(call, 1), "the name of a model");
  auto input = queryOf(argument(call, 2));
  auto settings = settingsOf(call, 3);
  if ((!name && !whole) || !model || !input || !settings) return std::nullopt;

  Repeat repeat;
  if (name) {
    repeat.count = Parameter{std::move(*name)};
  } else {
    repeat.count = static_cast<std::uint8_t>(*whole);
  }
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
