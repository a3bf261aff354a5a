// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of the operators. A form has one argument per field of the operator, in the order of the field
// list. Only temperature and max_tokens are different: these two arguments come last and are optional.
#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope::query {

/// Evaluates the arguments of a form into the fields of an operator. The class evaluates all arguments, even
/// after an error.
class LispEvaluator::FieldEvaluator {
 public:
  FieldEvaluator(LispEvaluator& evaluator, const Call& call) : m_evaluator(evaluator), m_call(call) {}

  std::vector<LispQuery> children;

  void operator()(const FieldInfo& info, std::string& text) {
    take(m_evaluator.textOf(next(), info.expected), text);
  }
  void operator()(const FieldInfo& /*info*/, Setting<std::int32_t>& /*maxTokens*/) {}
  void operator()(const FieldInfo& /*info*/, Setting<float>& /*temperature*/) {}
  void operator()(const FieldInfo& /*info*/, Times& count) { take(m_evaluator.countOf(next()), count); }
  void operator()(const FieldInfo& /*info*/, std::vector<std::string>& texts) {
    take(m_evaluator.listOf(next()), m_values);
    m_texts = &texts;
  }
  void operator()(const FieldInfo& /*info*/, SourceDocument& document) {
    take(m_evaluator.documentOf(next()), document);
  }
  void operator()(const FieldInfo& /*info*/, GenerateSettings& settings) {
    visitGroup(settings, *this);
    m_settings = &settings;
  }
  void operator()(const FieldInfo& /*info*/, Generate& generate) { visitGroup(generate, *this); }
  void operator()(const FieldInfo& /*info*/, Box<Node>& /*child*/) {
    if (auto query = m_evaluator.queryOf(next())) {
      children.push_back(std::move(*query));
    } else {
      m_isComplete = false;
    }
  }
  void operator()(const FieldInfo& /*info*/, std::vector<Node>& /*children*/) {
    take(m_evaluator.queriesOf(m_call, m_next), children);
  }

  /// Evaluates the remaining arguments. Returns whether all fields have a value.
  bool finish(bool isOlder) {
    if (m_settings != nullptr) {
      auto settings =
          isOlder ? m_evaluator.olderSettingsOf(m_call, m_next) : m_evaluator.settingsOf(m_call, m_next);
      if (settings) settings->model = std::move(m_settings->model);
      take(std::move(settings), *m_settings);
    }
    if (!m_isComplete) return false;
    for (LispValue& value : m_values) {
      auto text = m_evaluator.textOf(std::move(value));
      if (!text) return false;
      m_texts->push_back(std::move(*text));
    }
    return true;
  }

 private:
  Maybe next() { return m_evaluator.argument(m_call, m_next++); }

  template <class T>
  void take(std::optional<T> value, T& member) {
    if (value) {
      member = std::move(*value);
    } else {
      m_isComplete = false;
    }
  }

  LispEvaluator& m_evaluator;
  const Call& m_call;
  std::size_t m_next = 0;
  bool m_isComplete = true;
  GenerateSettings* m_settings = nullptr;
  std::vector<LispValue> m_values;
  std::vector<std::string>* m_texts = nullptr;
};

namespace {

/// The arguments that a form takes, according to its operator's fields.
class FormDescriber {
 public:
  std::size_t least = 0;
  bool takesAny = false;  ///< any number of queries
  bool answers = false;   ///< temperature and max_tokens may follow
  bool hasOlder = false;  ///< a whole generate node may replace its fields
  std::string arguments;  ///< " model input"

  void operator()(const FieldInfo& info, const TextField auto& /*text*/) {
    add(info.hasKey() ? info.key : "text");
  }
  void operator()(const FieldInfo& /*info*/, const SettingField auto& /*setting*/) { answers = true; }
  void operator()(const FieldInfo& info, const CountField auto& /*count*/) { add(info.key); }
  void operator()(const FieldInfo& /*info*/, const TextsField auto& /*texts*/) { add("list"); }
  void operator()(const FieldInfo& /*info*/, const DocumentField auto& /*document*/) { add("document"); }
  void operator()(const FieldInfo& info, const GroupField auto& group) {
    hasOlder = hasOlder || !info.olderKey.empty();
    visitGroup(group, *this);
  }
  void operator()(const FieldInfo& info, const ChildField auto& /*child*/) {
    // If a model answers the operator, its input has the name of the field.
    add(answers ? info.key : "query");
  }
  void operator()(const FieldInfo& /*info*/, const ChildrenField auto& /*children*/) {
    takesAny = true;
    arguments += " query…";
  }

 private:
  void add(const char* name) {
    ++least;
    arguments += std::string(" ") + name;
  }
};

/// The part of the list of forms that contains an operator.
enum class FormPart { Texts, Joins, Answers, Others, Sugar };

FormPart partOf(const OperatorInfo& info, const FormDescriber& form) {
  if (isSugar(info)) return FormPart::Sugar;
  if (form.answers) return FormPart::Answers;
  if (form.takesAny) return FormPart::Joins;
  return form.arguments == " text" ? FormPart::Texts : FormPart::Others;
}

}  // namespace

template <class Operator>
LispEvaluator::Maybe LispEvaluator::evaluateOperator(const Call& call) {
  Operator op = operatorOf<Operator>(call.name());
  FormDescriber form;
  Operator::fields(std::as_const(op), form);
  if (form.hasOlder && call.count() < form.least) return evaluateOlder<Operator>(call);

  FieldEvaluator evaluator(*this, call);
  Operator::fields(op, evaluator);
  const bool isOlder = std::is_same_v<Operator, Generate> && hasOlderSettings(call, form.least);
  if (!evaluator.finish(isOlder)) return std::nullopt;
  return finish(assembled({std::move(op)}, std::move(evaluator.children), call.form.range), call.form.range);
}

template <class Operator>
LispEvaluator::Maybe LispEvaluator::evaluateOlder(const Call& call) {
  auto count = countOf(olderNumber(call, 0));
  Maybe value = argument(call, 1);
  if (!count || !value) return std::nullopt;
  const std::string name = call.name();
  auto* repeated = value->as<LispQuery>();
  auto* given = repeated == nullptr ? nullptr : repeated->node.as<Generate>();
  if (given == nullptr) {
    wrongKind(*value, "a generate node: (g model input …)",
              /*id:repeated-generate-written*/ "A repeat takes a generate node, or the form (" + name +
                  " n model input …)");
    return std::nullopt;
  }
  // The generate node is a part of the repeat and not a child.
  LispQuery query;
  query.ranges = {call.form.range};
  query.ranges.insert(query.ranges.end(), repeated->ranges.begin() + 1, repeated->ranges.end());
  query.bytes = repeated->bytes;
  query.containers = repeated->containers + 1;
  query.nodes = repeated->nodes;
  Operator op;
  Operator::fields(op, [&](const FieldInfo& /*info*/, auto& member) {
    using Member = std::remove_reference_t<decltype(member)>;
    if constexpr (CountField<Member>) member = std::move(*count);
    if constexpr (IsOneOf<Member, Generate>) member = std::move(*given);
  });
  query.node.value = std::move(op);
  warning(call.form.range, /*id:older-form*/ "an older form of " + name,
          "(" + name + " n model input [temperature [max_tokens]])",
          /*id:it-is-read*/ "Spanscope reads the form as a " + name + " of this node");
  return finish(std::move(query), call.form.range);
}

std::vector<LispEvaluator::Operation> LispEvaluator::operatorForms() {
  std::vector<Operation> operations;
  for (const FormPart part : {FormPart::Texts, FormPart::Joins, FormPart::Answers, FormPart::Others}) {
    forEachOperator([&]<class Operator>() {
      const Operator op;
      FormDescriber form;
      Operator::fields(op, form);
      if (partOf(Operator::kInfo, form) != part) return;
      // In the older order, a flag follows the settings.
      std::size_t most = form.least + (form.answers ? 2 : 0);
      if (std::is_same_v<Operator, Generate>) ++most;
      if (form.takesAny) most = kAnyNumber;
      const std::size_t least = form.hasOlder ? 2 : form.least;
      const char* settings = form.answers ? " [temperature [max_tokens]]" : "";
      forEachKey<Operator>([&](std::string_view key, const auto& /*make*/) {
        operations.push_back({key, least, most, "(" + std::string(key) + form.arguments + settings + ")",
                              &LispEvaluator::evaluateOperator<Operator>});
      });
    });
  }
  return operations;
}

// Builds nodes, and evaluates the forms that are sugar for several nodes.

namespace {

/// The text that IBM/spnl sends to a model that extracts or combines. This text is part of the form, so every
/// letter matters.
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

/// A setting in the current notation.
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
    error(range, "a query of " + std::to_string(query.containers) + " nested containers",
          "at most " + std::to_string(m_limits.maxDepth), "Spanscope counts containers as in JSON");
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
    wrongKind(*value, /*id:temperature-number-none*/ "a temperature: a number, or none",
              text != nullptr ? "write a parameter as \"{name}\"" : "");
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
      error(flag.range, isFlag ? "the flag #t" : "one more argument",
            "#f, or (g model input [temperature [max_tokens]])",
            isFlag ? /*id:chat-goes-itself*/ "A query cannot express a chat loop" : "");
      return std::nullopt;
    }
  }
  const auto shown = [&](std::size_t i) { return quotedIfBare(call.argument(i)); };
  warning(call.form.range, /*id:older-form-g*/ "an older form of g, with max_tokens before temperature",
          "(g model input [temperature [max_tokens]])",
          /*id:read-g*/ "Spanscope reads the form as (g … " + shown(first + 1) + " " + shown(first) + ")");
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
  std::vector<LispQuery> passages;
  for (LispValue& value : *documents) {
    auto document = documentOf(std::move(value));
    if (!document || !spend(question->nodes, range) || !spendText(question->bytes, range))
      return std::nullopt;
    std::vector<LispQuery> inner;
    inner.push_back(*question);
    passages.push_back(assembled({Augment{*model, Node{}, std::move(*document)}}, std::move(inner), range));
  }
  std::vector<LispQuery> parts;
  parts.push_back(join(JoinKind::Plus, std::move(passages), range));
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
