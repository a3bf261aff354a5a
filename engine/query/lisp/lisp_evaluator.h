// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluates the forms of a Lisp text to a query. Also formats texts as Rust does, for the Lisp forms `format`
// and `prefix`. Open this file to add a form, or when the text of a format differs from IBM/spnl's.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::query {

// The types of values that forms of a Lisp text have.

struct LispValue;

/// A query, with the range of each of its nodes in the text.
struct LispQuery {
  Node node;
  std::vector<SourceRange> ranges;  ///< in preorder
  std::size_t containers = 1;       ///< depth of containers in its JSON form
  std::size_t nodes = 1;            ///< including the inputs of maps
  std::size_t bytes = 0;            ///< of all its texts
};

struct LispNumber {
  std::string text;  ///< as JSON writes it
};

/// A node that will be replaced by the text of a file or the answer to a question. The file is read, or the
/// question is asked, only if the node is used as a text.
struct LispSugar {
  Node node;
};

struct LispBytes {
  std::vector<std::uint8_t> bytes;
};

/// A name with its value, and the surrounding names.
struct LispScope {
  std::string name;
  std::shared_ptr<const LispValue> value;
  std::shared_ptr<const LispScope> outer;
};

struct LispLambda {
  const LispForm* form = nullptr;  ///< (lambda (name…) body…)
  std::shared_ptr<const LispScope> scope;
};

struct LispList {
  std::vector<LispValue> elements;
};

struct LispNone {};

struct LispValue {
  std::variant<LispNone, LispQuery, std::string, LispNumber, LispSugar, LispBytes, SourceDocument, LispLambda,
               LispList>
      content;
  SourceRange range;  ///< of the form from which the value comes

  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&content);
  }
};

/// Evaluates the forms of a Lisp text to a query. parseLisp() uses this class. Use each object once. After an
/// error, the evaluation continues to find all errors. A function that returns no value has
/// reported an error.
class LispEvaluator {
 public:
  LispEvaluator(const ParseLimits& limits, Surroundings* surroundings);

  /// Returns the query of the form. The form must outlive the evaluator.
  std::optional<LispQuery> evaluate(const LispForm& form);
  /// Returns all diagnostics in the order of the text, without lines and columns.
  std::vector<Diagnostic> takeDiagnostics();

 private:
  class FieldEvaluator;

  using Scope = std::shared_ptr<const LispScope>;
  using Maybe = std::optional<LispValue>;

  /// A form (name argument…) and the names that are visible in it.
  struct Call {
    const LispForm& form;
    const Scope& scope;

    const std::string& name() const { return form.children.front().text; }
    std::size_t count() const { return form.children.size() - 1; }
    const LispForm& argument(std::size_t i) const { return form.children[i + 1]; }
  };
  struct Operation {
    std::string_view name;
    std::size_t least;  ///< min number of arguments
    std::size_t most;
    std::string usage;  ///< "(length list)"
    Maybe (LispEvaluator::*handler)(const Call&);
  };
  static constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
  static const std::vector<Operation>& operations();
  /// The operators of the language. The field list of each operator defines the operator's form.
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
  /// Evaluates a repeat of a whole generate node: (repeat n (g …)).
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

  // Convert an argument to the expected type, or report that the value has another type.
  std::optional<LispQuery> queryOf(const Maybe& value);
  std::optional<std::string> textOf(const Maybe& value, const char* expected = "text");
  std::optional<std::int64_t> wholeOf(const Maybe& value, std::int64_t least, std::int64_t most);
  std::optional<std::vector<LispValue>> listOf(Maybe value);
  std::optional<SourceDocument> documentOf(const Maybe& value);
  std::optional<std::vector<LispQuery>> queriesOf(const Call& call, std::size_t first);
  /// Arguments `first` and `first` + 1, both optional.
  std::optional<GenerateSettings> settingsOf(const Call& call, std::size_t first);
  /// Reads settings in the order of older texts: max_tokens, temperature, and an optional flag.
  std::optional<GenerateSettings> olderSettingsOf(const Call& call, std::size_t first);
  static bool hasOlderSettings(const Call& call, std::size_t first);
  /// Argument i, which is a number. Older texts may have {name} without quotes here.
  Maybe olderNumber(const Call& call, std::size_t i);
  bool setMaxTokens(const Maybe& value, GenerateSettings& settings);
  bool setTemperature(const Maybe& value, GenerateSettings& settings);
  std::optional<Times> countOf(const Maybe& value);
  Maybe callLambda(const LispLambda& lambda, LispValue argument);
  std::optional<std::string> shown(const LispValue& value, bool debug);

  /// Adds children to a node.
  static LispQuery assembled(Node own, std::vector<LispQuery> children, SourceRange range);
  static LispQuery message(Role role, std::string text, SourceRange range);
  static LispQuery join(JoinKind kind, std::vector<LispQuery> children, SourceRange range);
  /// The common part of extract and combine.
  Maybe combined(const Call& call, std::string model, LispQuery body, std::string task);
  /// Makes a value from the query if the query is within the limits.
  Maybe finish(LispQuery query, SourceRange range);

  bool spend(std::size_t steps, SourceRange range);
  bool spendText(std::size_t bytes, SourceRange range);
  /// Counts the copy of a value against the limits.
  bool spendCopy(const LispValue& value, SourceRange range);
  void error(SourceRange range, std::string found, std::string expected, std::string hint = {});
  /// Warns about a form once, even if the form is evaluated several times.
  void warning(SourceRange range, std::string found, std::string expected, std::string hint);
  void wrongKind(const LispValue& value, std::string expected, std::string hint = {});
  static std::string describe(const LispValue& value);

  ParseLimits m_limits;
  Surroundings* m_surroundings;
  std::vector<Diagnostic> m_diagnostics;
  std::size_t m_errors = 0;
  std::set<std::size_t> m_warned;  ///< offsets of the forms that have a warning
  std::size_t m_steps = 0;
  std::size_t m_bytes = 0;
  bool m_stopped = false;
};

/// Returns the text in quotes with escapes, as {:?} writes it. Escapes control characters, spaces other than
/// " ", format characters and private use. Does not escape combining marks and unassigned characters of
/// Unicode.
std::string rustDebugText(std::string_view text);

/// Returns a JSON number as {} writes it (1.0 as "1", 1e3 as "1000"). With `debug`, as {:?} writes it.
std::string rustNumber(std::string_view number, bool debug);

/// One {…} in a format.
struct RustPlaceholder {
  std::variant<std::size_t, std::string> argument;  ///< index or name of the argument
  bool debug = false;                               ///< {:?}
};

/// Fills in a format. {{ and }} are braces. Calls `show` for each placeholder in turn. Returns nothing if the
/// format is not well-formed or `show` returned nothing. For a wrong format, `wrong` gets the reason.
std::optional<std::string> rustFormat(
    std::string_view format, const std::function<std::optional<std::string>(const RustPlaceholder&)>& show,
    std::string& wrong);

}  // namespace spanscope::query
