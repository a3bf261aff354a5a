// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/expression.h"

#include "engine/lesson/lesson.h"
#include "engine/query/shown_text.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace spanscope::lesson {
namespace {

using metrics::Unit;
using metrics::Value;

/// A word of an expression: the characters up to the next space, a text in quotes, or a bracket.
struct Word {
  std::string_view text;
  Offset offset = 0;
  bool isQuoted = false;
};

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, Offset offset, std::vector<Fault>& faults)
      : m_text(text), m_offset(offset), m_faults(faults) {
    split();
  }

  bool atEnd() const { return m_next == m_words.size(); }

  std::optional<Expression> expression() {
    std::optional<Expression> left = product();
    while (left && (isNext("+") || isNext("-"))) {
      const bool isSum = isNext("+");
      const Word sign = m_words[m_next++];
      std::optional<Expression> right = product();
      if (!right) return std::nullopt;
      const bool isText = left->unit == Unit::Text || right->unit == Unit::Text;
      if (isText || (left->unit != right->unit && !isLiteral(*left) && !isLiteral(*right)))
        return fault(sign, unitsOf(*left, *right), "two metrics of the same unit");
      const Unit unit = isLiteral(*left) ? right->unit : left->unit;
      left = join(isSum ? Expression::Kind::Sum : Expression::Kind::Difference, std::move(*left),
                  std::move(*right), unit);
    }
    return left;
  }

  std::optional<Comparison> comparison() {
    std::optional<Expression> left = expression();
    if (!left) return std::nullopt;
    const std::optional<Relation> relation = takeRelation();
    if (!relation) return std::nullopt;
    const Word sign = m_words[m_next - 1];
    std::optional<Expression> right = expression();
    if (!right) return std::nullopt;
    const bool leftIsText = left->unit == Unit::Text;
    const bool rightIsText = right->unit == Unit::Text;
    const bool needsTexts = *relation == Relation::Contains || *relation == Relation::Lacks;
    const bool mayBeTexts = needsTexts || *relation == Relation::Equal || *relation == Relation::Unequal;
    const bool sameUnit = left->unit == right->unit || isLiteral(*left) || isLiteral(*right) ||
                          (isCount(*left) && isCount(*right));
    const bool fit = leftIsText == rightIsText && (leftIsText ? mayBeTexts : !needsTexts && sameUnit);
    if (!fit) {
      fault(sign, std::string(sign.text) + " between " + unitsOf(*left, *right),
            needsTexts ? "two texts" : "two metrics of the same unit");
      return std::nullopt;
    }
    return Comparison{.left = std::move(*left),
                      .relation = *relation,
                      .right = std::move(*right),
                      .written = std::string(m_text),
                      .offset = m_offset};
  }

  /// Adds a fault if more text follows the expression.
  bool expectEnd(const char* expected) {
    if (atEnd() || m_isFaulty) return !m_isFaulty;
    fault(m_words[m_next], query::inQuotes(m_words[m_next].text), expected);
    return false;
  }

 private:
  void split() {
    std::size_t at = 0;
    while (at < m_text.size()) {
      if (isBlank(m_text[at])) {
        ++at;
        continue;
      }
      const std::size_t begin = at;
      if (m_text[at] == '"') {
        const std::size_t end = m_text.find('"', at + 1);
        if (end == std::string_view::npos) {
          fault({m_text.substr(begin), m_offset + begin}, "a text without a closing quotation mark",
                "\" after the text");
          return;
        }
        m_words.push_back({m_text.substr(begin + 1, end - begin - 1), m_offset + begin, true});
        at = end + 1;
        continue;
      }
      if (m_text[at] == '(' || m_text[at] == ')') {
        ++at;
      } else {
        while (at < m_text.size() && !isBlank(m_text[at]) && m_text[at] != '(' && m_text[at] != ')') ++at;
      }
      m_words.push_back({m_text.substr(begin, at - begin), m_offset + begin});
    }
  }

  bool isNext(std::string_view word) const {
    return !atEnd() && !m_words[m_next].isQuoted && m_words[m_next].text == word;
  }

  std::nullopt_t fault(const Word& word, std::string found, std::string expected, std::string hint = {}) {
    if (!m_isFaulty)
      m_faults.push_back({word.offset, std::move(found), std::move(expected), std::move(hint)});
    m_isFaulty = true;
    return std::nullopt;
  }
  std::nullopt_t faultAtEnd(std::string expected) {
    return fault({{}, m_offset + m_text.size()}, "the end", std::move(expected));
  }

  /// Whether the value is a number that the lesson contains. Such a number has any unit.
  static bool isLiteral(const Expression& expression) {
    bool hasMetric = expression.kind == Expression::Kind::Text;
    visitMetrics(expression, [&hasMetric](const MetricRef&) { hasMetric = true; });
    return !hasMetric;
  }

  /// Whether the value is a count. Counts can be compared and multiplied, whatever they count.
  static bool isCount(const Expression& expression) {
    const Unit unit = expression.unit;
    return unit == Unit::Number || unit == Unit::Tokens || unit == Unit::Blocks || unit == Unit::Place;
  }

  static std::string unitsOf(const Expression& left, const Expression& right) {
    return std::string(metrics::unitName(left.unit)) + " and " + metrics::unitName(right.unit);
  }

  static Expression join(Expression::Kind kind, Expression left, Expression right, Unit unit) {
    Expression joined;
    joined.kind = kind;
    joined.unit = unit;
    joined.offset = left.offset;
    joined.operands.push_back(std::move(left));
    joined.operands.push_back(std::move(right));
    return joined;
  }

  std::optional<Expression> product() {
    std::optional<Expression> left = term();
    while (left && (isNext("*") || isNext("/"))) {
      const bool isProduct = isNext("*");
      const Word sign = m_words[m_next++];
      std::optional<Expression> right = term();
      if (!right) return std::nullopt;
      const Unit a = left->unit;
      const Unit b = right->unit;
      if (a == Unit::Text || b == Unit::Text || a == Unit::Place || b == Unit::Place)
        return fault(sign, unitsOf(*left, *right), "two numbers");
      Unit unit = a;
      if (isProduct) {
        if (a != Unit::Number && b != Unit::Number && !(isCount(*left) && isCount(*right)))
          return fault(sign, unitsOf(*left, *right), "a metric times a number");
        unit = a == Unit::Number ? b : b == Unit::Number ? a : Unit::Number;
      } else if (b != Unit::Number) {
        if (a != b && !(isCount(*left) && isCount(*right)))
          return fault(sign, unitsOf(*left, *right),
                       "two metrics of the same unit, or a metric divided by a number");
        unit = Unit::Number;
      }
      left = join(isProduct ? Expression::Kind::Product : Expression::Kind::Quotient, std::move(*left),
                  std::move(*right), unit);
    }
    return left;
  }

  std::optional<Expression> term() {
    if (m_isFaulty) return std::nullopt;
    if (atEnd()) return faultAtEnd("a metric, such as \"run 1: cached tokens\", or a number");
    if (++m_terms > kMaxTerms) {
      return fault(m_words[m_next], "more than " + std::to_string(kMaxTerms) + " metrics and numbers",
                   "fewer metrics and numbers in one expression");
    }
    const Word word = m_words[m_next++];
    if (word.isQuoted) {
      Expression text;
      text.kind = Expression::Kind::Text;
      text.text = std::string(word.text);
      text.unit = Unit::Text;
      text.offset = word.offset;
      return text;
    }
    if (word.text == "(") {
      std::optional<Expression> inner = expression();
      if (!inner) return std::nullopt;
      if (!isNext(")")) return atEnd() ? faultAtEnd("a closing bracket") : unexpected("a closing bracket");
      ++m_next;
      return inner;
    }
    if (word.text == "run") return metric(word);
    double number = 0;
    const auto [end, error] = std::from_chars(word.text.data(), word.text.data() + word.text.size(), number,
                                              std::chars_format::fixed);
    if (error == std::errc() && end == word.text.data() + word.text.size() && std::isfinite(number)) {
      Expression literal;
      literal.number = number;
      literal.offset = word.offset;
      return literal;
    }
    return fault(word, query::inQuotes(word.text), "a metric, such as \"run 1: cached tokens\", or a number");
  }

  std::nullopt_t unexpected(std::string expected) {
    return fault(m_words[m_next], query::inQuotes(m_words[m_next].text), std::move(expected));
  }

  std::optional<Expression> metric(const Word& begin) {
    if (atEnd()) return faultAtEnd("the number of a run");
    std::string_view digits = m_words[m_next].text;
    const bool hasName = digits.ends_with(':');
    if (hasName) digits.remove_suffix(1);
    std::uint32_t run = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), run);
    if (error != std::errc() || end != digits.data() + digits.size() || run == 0 || m_words[m_next].isQuoted)
      return unexpected("the number of a run, from 1");
    ++m_next;
    Expression found;
    found.kind = Expression::Kind::Metric;
    found.offset = begin.offset;
    if (hasName) {
      if (!readName(found.metric)) return std::nullopt;
      m_before = found.metric;
    } else if (m_before.metric == nullptr) {
      return fault(begin, /*id:run-without-name*/ "a run without the name of a metric",
                   "a colon and a name after the number of the run");
    }
    found.metric.metric = m_before.metric;
    found.metric.node = m_before.node;
    found.metric.run = run;
    found.metric.offset = begin.offset;
    found.unit = found.metric.metric->unit;
    return found;
  }

  bool endsName(const Word& word) const {
    static constexpr std::string_view kEnds[] = {"+",  "-", "*",  "/", "=",  "!=",       "<",
                                                 "<=", ">", ">=", ")", "of", "contains", "lacks"};
    if (word.isQuoted) return true;
    for (const std::string_view end : kEnds) {
      if (word.text == end) return true;
    }
    return false;
  }

  bool readName(MetricRef& metric) {
    const std::size_t first = m_next;
    std::string name;
    while (!atEnd() && !endsName(m_words[m_next])) {
      if (!name.empty()) name += ' ';
      name += m_words[m_next++].text;
    }
    const Word where = first < m_words.size() ? m_words[first] : Word{{}, m_offset + m_text.size()};
    metric.metric = metrics::find(name);
    if (metric.metric == nullptr) {
      fault(where,
            name.empty() ? /*id:no-name-figure*/ "no metric name" : "the metric " + query::inQuotes(name),
            /*id:name-figure*/ "the name of a metric",
            /*id:manuals-page-numbers*/
            "The manual's page on numbers lists the metrics, such as \"cached tokens\" and \"time to first "
            "token\"");
      return false;
    }
    if (isNext("of")) {
      ++m_next;
      if (atEnd() || m_words[m_next].isQuoted || !m_words[m_next].text.starts_with("node:")) {
        atEnd() ? faultAtEnd("a node, such as node:/g/input") : unexpected("a node, such as node:/g/input");
        return false;
      }
      metric.node = std::string(m_words[m_next++].text.substr(std::string_view("node:").size()));
      if (!metric.metric->isOf(metrics::Scope::Node)) {
        fault(where, "the " + metrics::lessonName(*metric.metric) + " of a node", "a metric of a node");
        return false;
      }
    } else if (!metric.metric->isOf(metrics::Scope::Run)) {
      fault(where, "the " + metrics::lessonName(*metric.metric) + " of a run",
            "\"of\" and a node after it, such as \"of node:/g/input\"");
      return false;
    }
    return true;
  }

  std::optional<Relation> takeRelation() {
    static constexpr std::pair<std::string_view, Relation> kRelations[] = {
        {"=", Relation::Equal},           {"!=", Relation::Unequal}, {"<", Relation::Less},
        {"<=", Relation::AtMost},         {">", Relation::More},     {">=", Relation::AtLeast},
        {"contains", Relation::Contains}, {"lacks", Relation::Lacks}};
    const char* const expected = "=, !=, <, <=, >, >=, contains or lacks";
    if (atEnd()) return faultAtEnd(expected);
    for (const auto& [text, relation] : kRelations) {
      if (!isNext(text)) continue;
      ++m_next;
      return relation;
    }
    return unexpected(expected);
  }

  std::string_view m_text;
  Offset m_offset;
  std::vector<Fault>& m_faults;
  std::vector<Word> m_words;
  std::size_t m_next = 0;
  std::size_t m_terms = 0;
  MetricRef m_before;
  bool m_isFaulty = false;
};

std::string_view trimmed(std::string_view text, Offset& offset) {
  while (!text.empty() && isBlank(text.front())) {
    text.remove_prefix(1);
    ++offset;
  }
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

Evaluated valueOf(const MetricRef& ref, const FactsOf& factsOf) {
  const std::string run = "run " + std::to_string(ref.run);
  const metrics::RunFacts* const facts = factsOf(ref.run);
  if (facts == nullptr) return Missing{run + /*id:not-run*/ " has not been run"};
  std::optional<Value> value = ref.node ? ref.metric->of(*facts, *ref.node) : ref.metric->of(*facts);
  if (value) return std::move(*value);
  if (ref.metric->needs == metrics::Needs::Fidelity)
    return Missing{"the fidelity of " + run + " was not measured"};
  if (ref.node) return Missing{"no prompt of " + run + " shows the node " + *ref.node};
  return Missing{run + " has no " + metrics::lessonName(*ref.metric)};
}

const char* signOf(Expression::Kind kind) {
  switch (kind) {
    case Expression::Kind::Sum:
      return " + ";
    case Expression::Kind::Difference:
      return " - ";
    case Expression::Kind::Product:
      return " * ";
    case Expression::Kind::Quotient:
      return " / ";
    case Expression::Kind::Number:
    case Expression::Kind::Text:
    case Expression::Kind::Metric:
      break;
  }
  return "";
}

bool isSum(const Expression& expression) {
  return expression.kind == Expression::Kind::Sum || expression.kind == Expression::Kind::Difference;
}

std::string inner(const Expression& expression, bool needsBrackets) {
  return needsBrackets ? "(" + written(expression) + ")" : written(expression);
}

}  // namespace

const char* relationText(Relation relation) {
  switch (relation) {
    case Relation::Equal:
      return "=";
    case Relation::Unequal:
      return "!=";
    case Relation::Less:
      return "<";
    case Relation::AtMost:
      return "<=";
    case Relation::More:
      return ">";
    case Relation::AtLeast:
      return ">=";
    case Relation::Contains:
      return "contains";
    case Relation::Lacks:
      return "lacks";
  }
  return "";
}

std::optional<Expression> readExpression(std::string_view text, Offset offset, std::vector<Fault>& faults) {
  text = trimmed(text, offset);
  ExpressionReader reader(text, offset, faults);
  std::optional<Expression> expression = reader.expression();
  if (!reader.expectEnd("the end of the expression, or one of + - * /")) return std::nullopt;
  return expression;
}

std::optional<Comparison> readComparison(std::string_view text, Offset offset, std::vector<Fault>& faults) {
  text = trimmed(text, offset);
  ExpressionReader reader(text, offset, faults);
  std::optional<Comparison> comparison = reader.comparison();
  if (!reader.expectEnd("the end of the comparison")) return std::nullopt;
  return comparison;
}

void visitMetrics(const Expression& expression, const std::function<void(const MetricRef&)>& visit) {
  if (expression.kind == Expression::Kind::Metric) visit(expression.metric);
  for (const Expression& operand : expression.operands) visitMetrics(operand, visit);
}

void visitMetrics(const Comparison& comparison, const std::function<void(const MetricRef&)>& visit) {
  visitMetrics(comparison.left, visit);
  visitMetrics(comparison.right, visit);
}

Evaluated evaluate(const Expression& expression, const FactsOf& factsOf) {
  using Kind = Expression::Kind;
  switch (expression.kind) {
    case Kind::Number:
      return Value(expression.number);
    case Kind::Text:
      return Value(expression.text);
    case Kind::Metric:
      return valueOf(expression.metric, factsOf);
    case Kind::Sum:
    case Kind::Difference:
    case Kind::Product:
    case Kind::Quotient:
      break;
  }
  double numbers[2] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    Evaluated value = evaluate(expression.operands[i], factsOf);
    if (std::holds_alternative<Missing>(value)) return value;
    numbers[i] = std::get<double>(std::get<Value>(value));
  }
  const auto [left, right] = numbers;
  if (expression.kind == Kind::Sum) return Value(left + right);
  if (expression.kind == Kind::Difference) return Value(left - right);
  if (expression.kind == Kind::Product) return Value(left * right);
  if (right == 0)
    return Missing{written(expression.operands[1]) +
                   /*id:nothing-can-divided*/ " is 0, and division by 0 is not possible"};
  return Value(left / right);
}

std::variant<bool, Missing> holds(const Comparison& comparison, const FactsOf& factsOf) {
  const Evaluated left = evaluate(comparison.left, factsOf);
  if (const auto* missing = std::get_if<Missing>(&left)) return *missing;
  const Evaluated right = evaluate(comparison.right, factsOf);
  if (const auto* missing = std::get_if<Missing>(&right)) return *missing;
  const Value& a = std::get<Value>(left);
  const Value& b = std::get<Value>(right);
  switch (comparison.relation) {
    case Relation::Equal:
      return a == b;
    case Relation::Unequal:
      return a != b;
    case Relation::Contains:
      return std::get<std::string>(a).find(std::get<std::string>(b)) != std::string::npos;
    case Relation::Lacks:
      return std::get<std::string>(a).find(std::get<std::string>(b)) == std::string::npos;
    case Relation::Less:
      return std::get<double>(a) < std::get<double>(b);
    case Relation::AtMost:
      return std::get<double>(a) <= std::get<double>(b);
    case Relation::More:
      return std::get<double>(a) > std::get<double>(b);
    case Relation::AtLeast:
      return std::get<double>(a) >= std::get<double>(b);
  }
  return false;
}

std::string textOf(const Expression& expression, const Value& value) {
  return metrics::text(expression.unit, value);
}

std::string written(const Expression& expression) {
  using Kind = Expression::Kind;
  if (expression.kind == Kind::Number) {
    const bool isWhole =
        std::abs(expression.number) < 1e15 && expression.number == std::floor(expression.number);
    if (isWhole) return std::to_string(std::llround(expression.number));
    char digits[64];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, expression.number, std::chars_format::fixed);
    return {digits, end.ptr};
  }
  if (expression.kind == Kind::Text) return '"' + expression.text + '"';
  if (expression.kind == Kind::Metric) {
    std::string text = "run " + std::to_string(expression.metric.run) + ": " +
                       metrics::lessonName(*expression.metric.metric);
    if (expression.metric.node) text += " of node:" + *expression.metric.node;
    return text;
  }
  const Expression& left = expression.operands[0];
  const Expression& right = expression.operands[1];
  const bool bindsMore = !isSum(expression);
  return inner(left, bindsMore && isSum(left)) + signOf(expression.kind) +
         inner(right, isSum(right) || (bindsMore && !right.operands.empty()));
}

}  // namespace spanscope::lesson
