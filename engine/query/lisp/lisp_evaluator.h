// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/lisp/lisp_value.h"
#include "engine/query/parse_result.h"
#include "engine/query/surroundings.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Evaluates the forms of a Lisp text to a query: the part of parseLisp() that knows the language. Used once.
/// Whatever can be evaluated is, so that all errors are found at once; a value that is missing was reported.
class LispEvaluator {
 public:
  LispEvaluator(const ParseLimits& limits, Surroundings* surroundings);

  /// The form as a query. It must outlive the evaluator.
  std::optional<LispQuery> evaluate(const LispForm& form);
  /// In the order of the text, without positions in lines.
  std::vector<Diagnostic> takeDiagnostics();

 private:
  class FieldEvaluator;

  using Scope = std::shared_ptr<const LispScope>;
  using Maybe = std::optional<LispValue>;

  /// A form (name argument…) and the names it can see.
  struct Call {
    const LispForm& form;
    const Scope& scope;

    const std::string& name() const { return form.children.front().text; }
    std::size_t count() const { return form.children.size() - 1; }
    const LispForm& argument(std::size_t i) const { return form.children[i + 1]; }
  };
  struct Operation {
    std::string_view name;
    std::size_t least;  ///< arguments
    std::size_t most;
    std::string usage;  ///< "(length list)"
    Maybe (LispEvaluator::*handler)(const Call&);
  };
  static constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
  static const std::vector<Operation>& operations();
  /// The operators of the language, whose forms follow their lists of fields.
  static std::vector<Operation> operatorForms();
  static std::vector<Operation> otherForms();
  static const Operation* findOperation(std::string_view name);

  Maybe evaluate(const LispForm& form, const Scope& scope);
  Maybe evaluateCall(const LispForm& form, const Scope& scope);
  Maybe lookUp(const LispForm& form, const Scope& scope);
  Maybe argument(const Call& call, std::size_t i) { return evaluate(call.argument(i), call.scope); }

  // Nodes.
  template <class Operator>
  Maybe evaluateOperator(const Call& call);
  /// A repeat of a whole generate: (repeat n (g …)).
  template <class Operator>
  Maybe evaluateOlder(const Call& call);
  Maybe evaluateWith(const Call& call);
  Maybe evaluateExtract(const Call& call);
  Maybe evaluateCombine(const Call& call);
  // From outside.
  Maybe sugar(const Call& call, std::string_view key);
  Maybe evaluateAsk(const Call& call);
  Maybe evaluateRead(const Call& call);
  Maybe evaluateFile(const Call& call);
  Maybe evaluateNamedFile(const Call& call);
  Maybe evaluateDocument(const Call& call);
  Maybe evaluateBytes(const Call& call);
  // Lists and texts.
  Maybe evaluateList(const Call& call);
  Maybe evaluateTake(const Call& call);
  Maybe evaluatePrefix(const Call& call);
  Maybe evaluateChunk(const Call& call);
  Maybe evaluateForeach(const Call& call);
  Maybe evaluateLambda(const Call& call);
  Maybe evaluateLength(const Call& call);
  Maybe evaluateFormat(const Call& call);

  // What an argument is to be. Another value is reported.
  std::optional<LispQuery> queryOf(const Maybe& value);
  std::optional<std::string> textOf(const Maybe& value, const char* expected = "text");
  std::optional<std::int64_t> wholeOf(const Maybe& value, std::int64_t least, std::int64_t most);
  std::optional<std::vector<LispValue>> listOf(Maybe value);
  std::optional<SourceDocument> documentOf(const Maybe& value);
  std::optional<std::vector<LispQuery>> queriesOf(const Call& call, std::size_t first);
  /// Arguments `first` and `first` + 1, which may be left out.
  std::optional<GenerateSettings> settingsOf(const Call& call, std::size_t first);
  /// The same in the order of older texts: max_tokens, temperature, and a flag that may be left out.
  std::optional<GenerateSettings> olderSettingsOf(const Call& call, std::size_t first);
  static bool hasOlderSettings(const Call& call, std::size_t first);
  /// Argument i, where a number belongs that older texts write {name} without quotes.
  Maybe olderNumber(const Call& call, std::size_t i);
  bool setMaxTokens(const Maybe& value, GenerateSettings& settings);
  bool setTemperature(const Maybe& value, GenerateSettings& settings);
  std::optional<Times> countOf(const Maybe& value);
  Maybe callLambda(const LispLambda& lambda, LispValue argument);
  std::optional<std::string> shown(const LispValue& value, bool debug);

  /// The node, which is alone yet, with its children.
  static LispQuery assembled(Node own, std::vector<LispQuery> children, SourceRange range);
  static LispQuery message(Role role, std::string text, SourceRange range);
  static LispQuery join(JoinKind kind, std::vector<LispQuery> children, SourceRange range);
  /// What extract and combine have in common.
  Maybe combined(const Call& call, std::string model, LispQuery body, std::string task);
  /// The query as a value, if it is within the limits.
  Maybe finish(LispQuery query, SourceRange range);

  bool spend(std::size_t steps, SourceRange range);
  bool spendText(std::size_t bytes, SourceRange range);
  /// Accounts for a copy of a value.
  bool spendCopy(const LispValue& value, SourceRange range);
  void error(SourceRange range, std::string found, std::string expected, std::string hint = {});
  /// What is said of a form is said once, however often the form is evaluated.
  void warning(SourceRange range, std::string found, std::string expected, std::string hint);
  void wrongKind(const LispValue& value, std::string expected, std::string hint = {});
  static std::string describe(const LispValue& value);

  ParseLimits m_limits;
  Surroundings* m_surroundings;
  std::vector<Diagnostic> m_diagnostics;
  std::size_t m_errors = 0;
  std::set<std::size_t> m_warned;  ///< where the forms begin of which something was said
  std::size_t m_steps = 0;
  std::size_t m_bytes = 0;
  bool m_stopped = false;
};

}  // namespace spanscope::query
