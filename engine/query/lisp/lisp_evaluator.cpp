// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/lisp_evaluator.h"

#include "engine/base/counted.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::query {
LispEvaluator::LispEvaluator(const ParseLimits& limits, Surroundings* surroundings)
    : m_limits(limits), m_surroundings(surroundings) {
  m_limits.maxDepth = std::min(limits.maxDepth, kMaxDepth);
}

const std::vector<LispEvaluator::Operation>& LispEvaluator::operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> operations = operatorForms();
    const std::vector<Operation> others = otherForms();
    operations.insert(operations.end(), others.begin(), others.end());
    return operations;
  }();
  return all;
}

std::vector<LispEvaluator::Operation> LispEvaluator::otherForms() {
  using E = LispEvaluator;
  return {
      {"with", 3, 3, "(with embedding_model question documents)", &E::evaluateWith},
      {"extract", 3, 3, "(extract model n query)", &E::evaluateExtract},
      {"combine", 2, 2, "(combine model query)", &E::evaluateCombine},
      {"ask", 1, 1, "(ask text)", &E::evaluateAsk},
      {"read", 1, 1, "(ask text)", &E::evaluateRead},
      {"file", 1, 1, "(file path)", &E::evaluateFile},
      {"fetch", 1, 1, "(fetch path)", &E::evaluateFile},
      {"filen", 1, 1, "(filen path)", &E::evaluateNamedFile},
      {"fetchn", 1, 1, "(fetchn path)", &E::evaluateNamedFile},
      {"fetchb", 1, 1, "(fetchb path)", &E::evaluateNamedFile},
      {"doc", 2, 2, "(doc name text)", &E::evaluateDocument},
      {"bytes", 0, kAnyNumber, "(bytes n…)", &E::evaluateBytes},
      {"list", 0, kAnyNumber, "(list value…)", &E::evaluateList},
      {"take", 2, 2, "(take n list)", &E::evaluateTake},
      {"prefix", 2, 2, "(prefix text list)", &E::evaluatePrefix},
      {"chunk", 3, 3, "(chunk n list (lambda (name) query))", &E::evaluateChunk},
      {"foreach", 4, 4, "(foreach name start n query)", &E::evaluateForeach},
      {"lambda", 2, kAnyNumber, "(lambda (name) value)", &E::evaluateLambda},
      {"length", 1, 1, "(length list)", &E::evaluateLength},
      {"format", 1, kAnyNumber, "(format text value…)", &E::evaluateFormat},
  };
}

const LispEvaluator::Operation* LispEvaluator::findOperation(std::string_view name) {
  const std::vector<Operation>& all = operations();
  const auto found = std::ranges::find(all, name, &Operation::name);
  return found == all.end() ? nullptr : &*found;
}

std::optional<LispQuery> LispEvaluator::evaluate(const LispForm& form) {
  std::optional<LispQuery> query = queryOf(evaluate(form, nullptr));
  if (m_errors > 0) return std::nullopt;
  return query;
}

std::vector<Diagnostic> LispEvaluator::takeDiagnostics() {
  const auto isEarlier = [](const Diagnostic& a, const Diagnostic& b) { return a.offset < b.offset; };
  std::ranges::stable_sort(m_diagnostics, isEarlier);
  // A form in a loop reports the same each time.
  m_diagnostics.erase(std::unique(m_diagnostics.begin(), m_diagnostics.end()), m_diagnostics.end());
  return std::move(m_diagnostics);
}

LispEvaluator::Maybe LispEvaluator::evaluate(const LispForm& form, const Scope& scope) {
  if (!spend(1, form.range)) return std::nullopt;
  switch (form.kind) {
    case LispFormKind::Text:
      if (!spendText(form.text.size(), form.range)) return std::nullopt;
      return LispValue{form.text, form.range};
    case LispFormKind::Number:
      return LispValue{LispNumber{form.text}, form.range};
    case LispFormKind::Symbol:
      return lookUp(form, scope);
    case LispFormKind::List:
      return evaluateCall(form, scope);
  }
  return std::nullopt;
}

LispEvaluator::Maybe LispEvaluator::lookUp(const LispForm& form, const Scope& scope) {
  for (const LispScope* names = scope.get(); names != nullptr; names = names->outer.get()) {
    if (names->name != form.text) continue;
    if (!spendCopy(*names->value, form.range)) return std::nullopt;
    LispValue value = *names->value;
    value.range = form.range;
    return value;
  }
  if (form.text == "none") return LispValue{LispNone{}, form.range};
  const bool isOperation = findOperation(form.text) != nullptr;
  error(form.range, "the name " + inQuotes(form.text) + /*id:no-value*/ ", which has no value here",
        /*id:text-double-quotes*/
        "text in double quotes, a number, a form or a name from foreach or lambda",
        isOperation ? "write a form in parentheses"
        : parameterName(form.text)
            ? /*id:parameter-stands-double*/ "Write a parameter in double quotes: " + inQuotes(form.text)
            : "write a parameter as \"{" + cutText(form.text, 40) + "}\"");
  return std::nullopt;
}

LispEvaluator::Maybe LispEvaluator::evaluateCall(const LispForm& form, const Scope& scope) {
  if (form.children.empty() || form.children.front().kind != LispFormKind::Symbol) {
    error(form.range,
          form.children.empty() ? "an empty list"
                                : /*id:list-not-begin*/ "a list that does not begin with a name",
          /*id:form-such-user*/ "a form, such as (user \"text\")",
          form.children.empty() ? "" : /*id:list-values-written*/ "Write a list of values as (list …)");
    return std::nullopt;
  }
  const LispForm& head = form.children.front();
  const Operation* operation = findOperation(head.text);
  if (operation == nullptr) {
    std::string known;
    std::vector<std::string> names;
    for (const Operation& other : operations()) {
      known += (known.empty() ? "" : ", ") + std::string(other.name);
      names.emplace_back(other.name);
    }
    const auto meant = nearestName(head.text, names);
    error(head.range, "the unknown form " + inQuotes(head.text), "one of " + known,
          meant ? "did you mean " + inQuotes(*meant) + "?" : "");
    // The other arguments may contain further errors.
    for (std::size_t i = 1; i < form.children.size(); ++i) {
      if (form.children[i].kind == LispFormKind::List) evaluate(form.children[i], scope);
    }
    return std::nullopt;
  }
  const Call call{form, scope};
  if (call.count() < operation->least || call.count() > operation->most) {
    error(form.range, "a " + head.text + " with " + counted(call.count(), "argument"), operation->usage);
    return std::nullopt;
  }
  Maybe value = (this->*operation->handler)(call);
  if (value) value->range = form.range;
  return value;
}

// Values of the expected types.

std::string LispEvaluator::describe(const LispValue& value) {
  if (const auto* query = value.as<LispQuery>()) return std::string("a query, ") + operatorName(query->node);
  if (const auto* text = value.as<std::string>()) return "the text " + inQuotes(*text);
  if (const auto* number = value.as<LispNumber>()) return "the number " + cutText(number->text, 40);
  if (const auto* sugar = value.as<LispSugar>()) return std::string("a ") + infoOf(sugar->node).noun;
  if (value.as<LispBytes>() != nullptr) return "bytes";
  if (value.as<SourceDocument>() != nullptr) return "a document";
  if (value.as<LispLambda>() != nullptr) return "a lambda";
  if (const auto* list = value.as<LispList>()) return "a list of " + std::to_string(list->elements.size());
  return "none";
}

void LispEvaluator::wrongKind(const LispValue& value, std::string expected, std::string hint) {
  error(value.range, describe(value), std::move(expected), std::move(hint));
}

std::optional<LispQuery> LispEvaluator::queryOf(const Maybe& value) {
  if (!value) return std::nullopt;
  if (const auto* query = value->as<LispQuery>()) return *query;
  if (const auto* text = value->as<std::string>()) return message(Role::User, *text, value->range);
  if (const auto* sugar = value->as<LispSugar>()) return assembled(sugar->node, {}, value->range);
  wrongKind(*value, "a query", value->as<LispList>() != nullptr ? "write a list of queries as (seq …)" : "");
  return std::nullopt;
}

std::optional<std::string> LispEvaluator::textOf(const Maybe& value, const char* expected) {
  if (!value) return std::nullopt;
  if (const auto* text = value->as<std::string>()) return *text;
  const auto* sugar = value->as<LispSugar>();
  if (sugar == nullptr) {
    const bool isNumber = value->as<LispNumber>() != nullptr;
    wrongKind(*value, expected,
              isNumber
                  ? /*id:lisp-text-in-quotes*/ "Write text in double quotes, or make text with (format …)"
                  : "");
    return std::nullopt;
  }
  if (m_surroundings == nullptr) {
    wrongKind(*value, "text that is known when the query is read");
    return std::nullopt;
  }
  auto given = textOfSugar(sugar->node, *m_surroundings);
  if (auto* reason = std::get_if<NotGiven>(&given)) {
    error(value->range, std::move(reason->found), std::move(reason->expected), std::move(reason->hint));
    return std::nullopt;
  }
  auto& text = std::get<std::string>(given);
  if (!spendText(text.size(), value->range)) return std::nullopt;
  return std::move(text);
}

std::optional<std::int64_t> LispEvaluator::wholeOf(const Maybe& value, std::int64_t least,
                                                   std::int64_t most) {
  if (!value) return std::nullopt;
  const auto* number = value->as<LispNumber>();
  const auto whole =
      number != nullptr && isWholeNumber(number->text) ? wholeNumberValue(number->text) : std::nullopt;
  if (!whole || *whole < least || *whole > most) {
    wrongKind(*value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return whole;
}

std::optional<std::vector<LispValue>> LispEvaluator::listOf(Maybe value) {
  if (!value) return std::nullopt;
  if (auto* list = value->as<LispList>()) return std::move(list->elements);
  wrongKind(*value, "a list");
  return std::nullopt;
}

std::optional<SourceDocument> LispEvaluator::documentOf(const Maybe& value) {
  if (!value) return std::nullopt;
  if (const auto* document = value->as<SourceDocument>()) return *document;
  wrongKind(*value, "a document: (doc name text), (filen path) or (fetchb path)");
  return std::nullopt;
}

// Limits.

bool LispEvaluator::spend(std::size_t steps, SourceRange range) {
  if (m_stopped) return false;
  m_steps += steps;
  if (m_steps <= kMaxLispSteps) return true;
  error(range, "too many steps", "at most " + std::to_string(kMaxLispSteps) + " steps",
        "a loop repeats too often");
  m_stopped = true;
  return false;
}

bool LispEvaluator::spendText(std::size_t bytes, SourceRange range) {
  constexpr std::size_t kBytesOfStep = 1024;
  if (!spend(bytes / kBytesOfStep, range)) return false;
  m_bytes += bytes;
  if (m_bytes <= m_limits.maxBytes) return true;
  error(range, "too much text", "at most " + std::to_string(m_limits.maxBytes) + " bytes in all");
  m_stopped = true;
  return false;
}

bool LispEvaluator::spendCopy(const LispValue& value, SourceRange range) {
  if (const auto* query = value.as<LispQuery>())
    return spend(query->nodes, range) && spendText(query->bytes, range);
  if (const auto* text = value.as<std::string>()) return spendText(text->size(), range);
  if (const auto* bytes = value.as<LispBytes>()) return spendText(bytes->bytes.size(), range);
  if (const auto* document = value.as<SourceDocument>()) {
    return spendText(std::visit([](const auto& content) { return content.size(); }, document->content),
                     range);
  }
  if (const auto* list = value.as<LispList>()) {
    return spend(list->elements.size(), range) &&
           std::ranges::all_of(list->elements,
                               [&](const LispValue& element) { return spendCopy(element, range); });
  }
  return true;
}

void LispEvaluator::error(SourceRange range, std::string found, std::string expected, std::string hint) {
  if (m_stopped) return;
  Diagnostic diagnostic;
  diagnostic.offset = range.begin;
  diagnostic.found = std::move(found);
  diagnostic.expected = std::move(expected);
  diagnostic.hint = std::move(hint);
  if (++m_errors > m_limits.maxDiagnostics) {
    m_stopped = true;
    diagnostic.found = "more than " + std::to_string(m_limits.maxDiagnostics) + " errors";
    diagnostic.expected = "no errors";
    diagnostic.hint = "Spanscope did not read the rest";
  }
  m_diagnostics.push_back(std::move(diagnostic));
}

void LispEvaluator::warning(SourceRange range, std::string found, std::string expected, std::string hint) {
  if (m_stopped || m_warned.size() >= m_limits.maxDiagnostics || !m_warned.insert(range.begin).second) return;
  Diagnostic diagnostic;
  diagnostic.severity = Severity::Warning;
  diagnostic.offset = range.begin;
  diagnostic.found = std::move(found);
  diagnostic.expected = std::move(expected);
  diagnostic.hint = std::move(hint);
  m_diagnostics.push_back(std::move(diagnostic));
}

}  // namespace spanscope::query
