// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of the operators. They follow the lists of fields: one argument per field, in the same order.
// Only temperature and max_tokens are different: they come last and are optional.
#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/node_parts.h"
#include "engine/query/visit_fields.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope::query {

/// Evaluates the arguments of a form into the fields of an operator. It evaluates all arguments, even after
/// an error.
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
  bool hasOlder = false;  ///< a whole generate may replace the fields of one
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
    // The input of a model is called by the name of its field.
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

/// The part of the list of forms in which an operator stands.
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
    wrongKind(*value, "a generate: (g model input …)",
              "what is repeated is a generate, or written (" + name + " n model input …)");
    return std::nullopt;
  }
  // The generate is a part of the node, not a child of it.
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
  warning(call.form.range, "an older form of " + name,
          "(" + name + " n model input [temperature [max_tokens]])",
          "it is read as a " + name + " of that generate");
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
      // In the older order of settings, a flag follows them.
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

}  // namespace spanscope::query
