// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/offers.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

namespace spanscope::lesson {
namespace {

constexpr std::size_t kMostQuoted = 60;  ///< bytes of an answer in a comparison
constexpr double kMostExact = 1e15;      ///< every whole number up to this limit fits into a double

std::string plainText(double number) {
  std::array<char, 64> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
  return {digits.data(), end.ptr};
}

/// Returns the nearest number with two digits that is not below (or not above) the value.
double twoDigits(double number, bool isAbove) {
  const double scale = std::pow(10.0, std::floor(std::log10(std::abs(number))) - 1);
  const double steps = isAbove ? std::ceil(number / scale) : std::floor(number / scale);
  // No double is exactly a tenth. The division gives the same double as the number's text.
  const double rounded = scale < 1 ? steps / std::round(1 / scale) : steps * scale;
  const bool isRight = isAbove ? rounded >= number : rounded <= number;
  return isRight ? rounded : number;
}

/// Returns the beginning of a text that fits in double quotes in one line.
std::string quotable(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\"");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  text = text.substr(0, std::min(text.find_first_of("\r\n\""), text.size()));
  if (text.size() > kMostQuoted) {
    // The text is cut at a space, if there is one, and never within a character.
    std::size_t end = text.rfind(' ', kMostQuoted);
    if (end == std::string_view::npos || end == 0) {
      end = kMostQuoted;
      while (end > 0 && !isValidUtf8(text.substr(0, end))) --end;
    }
    text = text.substr(0, end);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return std::string(text);
}

/// Returns the parsed comparison, or nothing.
std::optional<Comparison> comparisonOf(const std::string& text) {
  std::vector<Fault> faults;
  return readComparison(text, 0, faults);
}

}  // namespace

std::vector<OfferedMetric> offeredMetrics(std::uint32_t run, const std::optional<NodePath>& node,
                                          const FactsOf& factsOf) {
  std::vector<OfferedMetric> offered;
  for (const metrics::Metric& metric : metrics::all()) {
    if (!metric.isOf(node ? metrics::Scope::Node : metrics::Scope::Run)) continue;
    Expression expression;
    expression.kind = Expression::Kind::Metric;
    expression.metric = {.run = run, .metric = &metric, .node = node};
    expression.unit = metric.unit;
    OfferedMetric& one = offered.emplace_back();
    one.metric = &metric;
    one.expression = written(expression);
    const Evaluated value = evaluate(expression, factsOf);
    if (const auto* missing = std::get_if<Missing>(&value))
      one.missing = missing->reason;
    else
      one.value = textOf(expression, std::get<metrics::Value>(value));
  }
  return offered;
}

std::vector<std::string> offeredComparisons(const OfferedMetric& metric, const FactsOf& factsOf) {
  std::vector<std::string> offered;
  if (metric.metric == nullptr || metric.metric->isTime()) return offered;
  std::vector<Fault> faults;
  const std::optional<Expression> expression = readExpression(metric.expression, 0, faults);
  if (!expression) return offered;
  const Evaluated value = evaluate(*expression, factsOf);
  const auto* const known = std::get_if<metrics::Value>(&value);
  const bool isText = metric.metric->unit == metrics::Unit::Text;
  if (known != nullptr && isText) {
    if (const std::string words = quotable(std::get<std::string>(*known)); !words.empty())
      offered.push_back(metric.expression + " contains \"" + words + '"');
  } else if (known != nullptr) {
    const double number = std::get<double>(*known);
    if (std::floor(number) == number && std::abs(number) < kMostExact) {
      offered.push_back(metric.expression + " = " + plainText(number));
    } else if (std::isfinite(number)) {
      offered.push_back(metric.expression + " <= " + plainText(twoDigits(number, true)));
      offered.push_back(metric.expression + " >= " + plainText(twoDigits(number, false)));
    }
  }
  if (!isText) {
    offered.push_back(metric.expression + " > 0");
    offered.push_back(metric.expression + " = 0");
  }
  if (expression->metric.run > 1) {
    Expression before = *expression;
    --before.metric.run;
    for (const char* relation : {" = ", " > ", " < ", " != "}) {
      const bool isOrder = relation[1] == '<' || relation[1] == '>';
      if (isOrder && isText) continue;
      offered.push_back(metric.expression + relation + written(before));
    }
  }
  // Comparisons that are false now are left out. All unknown comparisons are offered.
  std::erase_if(offered, [&factsOf](const std::string& text) {
    const std::optional<Comparison> comparison = comparisonOf(text);
    if (!comparison) return true;
    const auto said = holds(*comparison, factsOf);
    return std::holds_alternative<bool>(said) && !std::get<bool>(said);
  });
  std::vector<std::string> once;
  for (std::string& text : offered) {
    if (std::ranges::find(once, text) == once.end()) once.push_back(std::move(text));
  }
  return once;
}

}  // namespace spanscope::lesson
