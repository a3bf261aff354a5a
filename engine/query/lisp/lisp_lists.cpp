// SPDX-License-Identifier: GPL-3.0-or-later
// The forms that make lists and texts, and the forms that get lists and texts from outside.

#include "engine/base/ascii.h"
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp_evaluator.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>
#include <type_traits>
#include <utility>

namespace spanscope::query {

namespace {

constexpr std::int64_t kMostTurns = 1'000'000;

}  // namespace

LispEvaluator::Maybe LispEvaluator::sugar(const Call& call, std::string_view key) {
  Node node = makeOperator(key);
  bool isGiven = false;
  visitFields(node, [&](const FieldInfo& info, auto& member) {
    if constexpr (TextField<std::remove_reference_t<decltype(member)>>) {
      auto text = textOf(argument(call, 0), info.expected);
      isGiven = text.has_value();
      if (text) member = std::move(*text);
    }
  });
  if (!isGiven) return std::nullopt;
  return LispValue{LispSugar{std::move(node)}, {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateAsk(const Call& call) {
  return sugar(call, "ask");
}

LispEvaluator::Maybe LispEvaluator::evaluateRead(const Call& call) {
  warning(call.form.range, "the older name \"read\"", "(ask text)",
          /*id:it-is-read-as*/ "Spanscope reads the form as (ask text)");
  return sugar(call, "ask");
}

LispEvaluator::Maybe LispEvaluator::evaluateFile(const Call& call) {
  return sugar(call, "file");
}

LispEvaluator::Maybe LispEvaluator::evaluateNamedFile(const Call& call) {
  Maybe file = sugar(call, "file");
  if (!file) return std::nullopt;
  file->range = call.form.range;
  const std::string path = *query::textOf(file->as<LispSugar>()->node);
  if (call.name() != "fetchb" || m_surroundings == nullptr) {
    auto text = textOf(file);
    if (!text) return std::nullopt;
    return LispValue{SourceDocument{path, std::move(*text)}, {}};
  }
  auto given = m_surroundings->readFile(path);
  if (auto* reason = std::get_if<NotGiven>(&given)) {
    error(call.form.range, std::move(reason->found), std::move(reason->expected), std::move(reason->hint));
    return std::nullopt;
  }
  const auto& bytes = std::get<std::string>(given);
  if (!spendText(bytes.size(), call.form.range)) return std::nullopt;
  return LispValue{SourceDocument{path, std::vector<std::uint8_t>(bytes.begin(), bytes.end())}, {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateDocument(const Call& call) {
  auto name = textOf(argument(call, 0), "the name of a document");
  Maybe content = argument(call, 1);
  if (!name || !content) return std::nullopt;
  if (auto* bytes = content->as<LispBytes>()) {
    return LispValue{SourceDocument{std::move(*name), std::move(bytes->bytes)}, {}};
  }
  auto text = textOf(content, "the text of the document, or (bytes n…)");
  if (!text) return std::nullopt;
  return LispValue{SourceDocument{std::move(*name), std::move(*text)}, {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateBytes(const Call& call) {
  LispBytes bytes;
  for (std::size_t i = 0; i < call.count(); ++i) {
    const auto byte = wholeOf(argument(call, i), 0, std::numeric_limits<std::uint8_t>::max());
    if (!byte) return std::nullopt;
    bytes.bytes.push_back(static_cast<std::uint8_t>(*byte));
  }
  return LispValue{std::move(bytes), {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateList(const Call& call) {
  LispList list;
  for (std::size_t i = 0; i < call.count(); ++i) {
    Maybe value = argument(call, i);
    if (value) list.elements.push_back(std::move(*value));
  }
  if (list.elements.size() < call.count()) return std::nullopt;
  return LispValue{std::move(list), {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateTake(const Call& call) {
  const auto count = wholeOf(argument(call, 0), 0, std::numeric_limits<std::int64_t>::max());
  Maybe from = argument(call, 1);
  if (!count || !from) return std::nullopt;
  LispList list;
  if (auto* given = from->as<LispList>()) {
    list = std::move(*given);
  } else {
    // The macro takes a JSON text here, mostly the text of a file.
    const auto text = textOf(from, /*id:list-text-json*/ "a list, or the text of a JSON list of texts");
    if (!text) return std::nullopt;
    const auto texts = readJsonTexts(*text);
    if (!texts) {
      error(from->range, "the text " + inQuotes(*text), "a list, or the text of a JSON list of texts");
      return std::nullopt;
    }
    if (!spend(texts->size(), from->range) || !spendText(text->size(), from->range)) return std::nullopt;
    for (const std::string& element : *texts) list.elements.push_back({element, from->range});
  }
  const auto most = static_cast<std::uint64_t>(*count);
  if (list.elements.size() > most) list.elements.resize(static_cast<std::size_t>(most));
  return LispValue{std::move(list), {}};
}

LispEvaluator::Maybe LispEvaluator::evaluatePrefix(const Call& call) {
  const auto prefix = textOf(argument(call, 0));
  auto elements = listOf(argument(call, 1));
  if (!prefix || !elements) return std::nullopt;
  LispList list;
  for (LispValue& element : *elements) {
    const SourceRange range = element.range;
    const auto text = textOf(std::move(element));
    if (!text) return std::nullopt;
    std::string line = *prefix + std::to_string(list.elements.size() + 1) + ": " + rustDebugText(*text);
    if (!spend(1, call.form.range) || !spendText(line.size(), call.form.range)) return std::nullopt;
    list.elements.push_back({message(Role::User, std::move(line), range), range});
  }
  return LispValue{std::move(list), {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateLambda(const Call& call) {
  const LispForm& names = call.argument(0);
  const bool isOneName = names.kind == LispFormKind::List && names.children.size() == 1 &&
                         names.children.front().kind == LispFormKind::Symbol;
  if (!isOneName) {
    error(names.range, "something else",
          /*id:name-lambda-given*/ "one argument name: (lambda (name) value)");
    return std::nullopt;
  }
  return LispValue{LispLambda{&call.form, call.scope}, {}};
}

LispEvaluator::Maybe LispEvaluator::callLambda(const LispLambda& lambda, LispValue argument) {
  const auto scope = std::make_shared<LispScope>();
  scope->name = lambda.form->children[1].children.front().text;
  scope->value = std::make_shared<const LispValue>(std::move(argument));
  scope->outer = lambda.scope;
  Maybe value;
  for (std::size_t i = 2; i < lambda.form->children.size(); ++i)
    value = evaluate(lambda.form->children[i], scope);
  return value;
}

LispEvaluator::Maybe LispEvaluator::evaluateChunk(const Call& call) {
  const auto size = wholeOf(argument(call, 0), 1, std::numeric_limits<std::int32_t>::max());
  auto elements = listOf(argument(call, 1));
  const Maybe function = argument(call, 2);
  if (!size || !elements || !function) return std::nullopt;
  const auto* lambda = function->as<LispLambda>();
  if (lambda == nullptr) {
    wrongKind(*function, "a lambda: (lambda (name) query)");
    return std::nullopt;
  }
  LispList results;
  const auto step = static_cast<std::size_t>(*size);
  for (std::size_t begin = 0; begin < elements->size(); begin += step) {
    const std::size_t end = std::min(begin + step, elements->size());
    LispList part;
    for (std::size_t i = begin; i < end; ++i) part.elements.push_back(std::move((*elements)[i]));
    Maybe value = callLambda(*lambda, {std::move(part), call.argument(1).range});
    if (!value) return std::nullopt;
    results.elements.push_back(std::move(*value));
  }
  return LispValue{std::move(results), {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateForeach(const Call& call) {
  const LispForm& name = call.argument(0);
  const auto first = wholeOf(argument(call, 1), 0, kMostTurns);
  const auto count = wholeOf(argument(call, 2), 0, kMostTurns);
  if (name.kind != LispFormKind::Symbol) {
    error(name.range, "something else", "a name: (foreach name start n query)");
    return std::nullopt;
  }
  if (!first || !count) return std::nullopt;
  LispList list;
  for (std::int64_t i = *first; i < *first + *count; ++i) {
    const auto scope = std::make_shared<LispScope>();
    scope->name = name.text;
    scope->value = std::make_shared<const LispValue>(LispValue{LispNumber{std::to_string(i)}, name.range});
    scope->outer = call.scope;
    Maybe value = evaluate(call.argument(3), scope);
    if (!value) return std::nullopt;
    list.elements.push_back(std::move(*value));
  }
  return LispValue{std::move(list), {}};
}

LispEvaluator::Maybe LispEvaluator::evaluateLength(const Call& call) {
  const auto list = listOf(argument(call, 0));
  if (!list) return std::nullopt;
  return LispValue{LispNumber{std::to_string(list->size())}, {}};
}

std::optional<std::string> LispEvaluator::shown(const LispValue& value, bool debug) {
  if (const auto* number = value.as<LispNumber>()) return rustNumber(number->text, debug);
  auto text = textOf(value, "text or a number");
  if (text && debug) return rustDebugText(*text);
  return text;
}

LispEvaluator::Maybe LispEvaluator::evaluateFormat(const Call& call) {
  const auto format = textOf(argument(call, 0));
  std::vector<LispValue> values;
  for (std::size_t i = 1; i < call.count(); ++i) {
    if (Maybe value = argument(call, i)) values.push_back(std::move(*value));
  }
  if (!format || values.size() + 1 < call.count()) return std::nullopt;

  const SourceRange range = call.argument(0).range;
  std::vector<bool> used(values.size(), false);
  const auto show = [&](const RustPlaceholder& placeholder) -> std::optional<std::string> {
    if (!spend(1, range)) return std::nullopt;
    std::optional<std::string> text;
    if (const auto* name = std::get_if<std::string>(&placeholder.argument)) {
      const LispScope* names = call.scope.get();
      while (names != nullptr && names->name != *name) names = names->outer.get();
      if (names == nullptr) {
        error(range, "the placeholder " + inQuotes("{" + *name + "}"),
              /*id:name-foreach-lambda*/ "a name from foreach or lambda",
              "write a parameter as \"{{" + cutText(*name, 40) + "}}\" here");
        return std::nullopt;
      }
      text = shown(*names->value, placeholder.debug);
    } else {
      const std::size_t index = std::get<std::size_t>(placeholder.argument);
      if (index >= values.size()) {
        error(range, /*id:format-more-placeholders*/ "a format with more placeholders than values",
              /*id:value-per-placeholder*/ "one value for each placeholder",
              /*id:brace-itself-written*/ "To write a brace, double it: {{ or }}");
        return std::nullopt;
      }
      used[index] = true;
      text = shown(values[index], placeholder.debug);
    }
    if (text && !spendText(text->size(), range)) return std::nullopt;
    return text;
  };
  std::string wrong;
  auto text = rustFormat(*format, show, wrong);
  if (!wrong.empty())
    error(range, wrong,
          /*id:placeholder-forms*/ "{}, {name} or {0}. Each of these may contain :?, as in {0:?}",
          "to write a brace, double it: {{ or }}");
  if (!text) return std::nullopt;
  const auto unused = std::ranges::find(used, false);
  if (unused != used.end()) {
    error(call.argument(1 + static_cast<std::size_t>(unused - used.begin())).range,
          /*id:value-format-not*/ "a value without a placeholder in the format",
          /*id:many-values-placeholders*/ "as many values as placeholders");
    return std::nullopt;
  }
  return LispValue{std::move(*text), {}};
}

namespace {

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// The characters in Unicode's categories Cc, Cf, Co, Zs, Zl and Zp, except the space. The noncharacters of
/// the first plane are included.
constexpr std::array kUnprinted = {
    CodeRange{0x00, 0x1F},       CodeRange{0x7F, 0xA0},       CodeRange{0xAD, 0xAD},
    CodeRange{0x600, 0x605},     CodeRange{0x61C, 0x61C},     CodeRange{0x6DD, 0x6DD},
    CodeRange{0x70F, 0x70F},     CodeRange{0x890, 0x891},     CodeRange{0x8E2, 0x8E2},
    CodeRange{0x1680, 0x1680},   CodeRange{0x180E, 0x180E},   CodeRange{0x2000, 0x200F},
    CodeRange{0x2028, 0x202F},   CodeRange{0x205F, 0x206F},   CodeRange{0x3000, 0x3000},
    CodeRange{0xE000, 0xF8FF},   CodeRange{0xFEFF, 0xFEFF},   CodeRange{0xFFF0, 0xFFFB},
    CodeRange{0xFFFE, 0xFFFF},   CodeRange{0x110BD, 0x110BD}, CodeRange{0x1BCA0, 0x1BCA3},
    CodeRange{0x1D173, 0x1D17A}, CodeRange{0xE0000, 0xE007F}, CodeRange{0xF0000, 0x10FFFF},
};

bool isUnprinted(std::uint32_t code) {
  return std::ranges::any_of(
      kUnprinted, [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

/// Returns the first character of well-formed UTF-8, and its length.
std::uint32_t decode(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1) return lead;
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6U | (byte(i) & 0x3FU);
  return code;
}

std::string hexOf(std::uint32_t code) {
  std::array<char, 8> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), code, 16);
  return {digits.data(), end};
}

/// Reads the inside of a placeholder: "", "0" or "name", optionally followed by ":?".
std::optional<RustPlaceholder> readPlaceholder(std::string_view inside, std::size_t& next) {
  RustPlaceholder placeholder;
  if (inside.ends_with(":?")) {
    placeholder.debug = true;
    inside.remove_suffix(2);
  }
  if (inside.empty()) {
    placeholder.argument = next++;
    return placeholder;
  }
  if (inside.find_first_not_of("0123456789") == std::string_view::npos) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
    if (error != std::errc()) return std::nullopt;
    placeholder.argument = index;
    return placeholder;
  }
  const auto isInName = [](char c) {
    return c == '_' || isLetter(c) || isDigit(c) || static_cast<unsigned char>(c) >= 0x80;
  };
  if (!std::ranges::all_of(inside, isInName)) return std::nullopt;
  placeholder.argument = std::string(inside);
  return placeholder;
}

}  // namespace

std::string rustDebugText(std::string_view text) {
  std::string shown = "\"";
  while (!text.empty()) {
    std::size_t length = 0;
    const std::uint32_t code = decode(text, length);
    switch (code) {
      case '"':
      case '\\':
        shown += '\\';
        shown += static_cast<char>(code);
        break;
      case '\n':
        shown += "\\n";
        break;
      case '\r':
        shown += "\\r";
        break;
      case '\t':
        shown += "\\t";
        break;
      case 0:
        shown += "\\0";
        break;
      default:
        shown += isUnprinted(code) ? "\\u{" + hexOf(code) + "}" : std::string(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return shown + "\"";
}

std::string rustNumber(std::string_view number, bool debug) {
  if (isWholeNumber(number)) return std::string(number);
  double value = 0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  // Sufficient for the largest and the smallest double without an exponent.
  std::array<char, 1100> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  std::string shown(buffer.data(), end);
  if (debug && shown.find('.') == std::string::npos) shown += ".0";
  return shown;
}

std::optional<std::string> rustFormat(
    std::string_view format, const std::function<std::optional<std::string>(const RustPlaceholder&)>& show,
    std::string& wrong) {
  std::string result;
  std::size_t next = 0;
  while (true) {
    const std::size_t brace = std::min(format.find_first_of("{}"), format.size());
    result += format.substr(0, brace);
    format.remove_prefix(brace);
    if (format.empty()) return result;
    if (format.starts_with("{{") || format.starts_with("}}")) {
      result += format.front();
      format.remove_prefix(2);
      continue;
    }
    const std::size_t close = format.find('}');
    const bool isOpen = format.front() == '{' && close != std::string_view::npos;
    const auto placeholder = isOpen ? readPlaceholder(format.substr(1, close - 1), next) : std::nullopt;
    if (!placeholder) {
      wrong = isOpen ? "the placeholder " + inQuotes(format.substr(0, close + 1)) : "a lone brace";
      return std::nullopt;
    }
    const auto shown = show(*placeholder);
    if (!shown) return std::nullopt;
    result += *shown;
    format.remove_prefix(close + 1);
  }
}

}  // namespace spanscope::query
