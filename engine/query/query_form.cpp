// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_form.h"

#include "engine/base/ascii.h"
#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <variant>

namespace spanscope::query {

namespace {

bool endsWith(std::string_view name, std::string_view ending) {
  return inSmallLetters(name).ends_with(ending);
}

/// Whether the text begins with a YAML key without brackets: `user: …`, `"user": …`.
bool beginsWithKey(std::string_view text) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  const bool isQuoted = line.starts_with('"') || line.starts_with('\'');
  std::size_t end =
      isQuoted ? line.find(line.front(), 1) : line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (isQuoted && end != std::string_view::npos) ++end;
  if (end == 0 || end >= line.size() || line[end] != ':') return false;
  return end + 1 == line.size() || line[end + 1] == ' ';
}

}  // namespace

QueryForm queryFormOf(std::string_view fileName, std::string_view text) {
  if (endsWith(fileName, ".json")) return QueryForm::Json;
  if (endsWith(fileName, ".yaml") || endsWith(fileName, ".yml")) return QueryForm::Yaml;
  if (endsWith(fileName, ".lisp") || endsWith(fileName, ".spnl")) return QueryForm::Lisp;
  text = withoutByteOrderMark(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.starts_with('(') || text.starts_with(';')) return QueryForm::Lisp;
  const bool isYaml =
      text.starts_with("---") || text.starts_with('#') || text.starts_with("- ") || beginsWithKey(text);
  return isYaml ? QueryForm::Yaml : QueryForm::Json;
}

const char* queryFormName(QueryForm form) {
  switch (form) {
    case QueryForm::Json:
      return "JSON";
    case QueryForm::Yaml:
      return "YAML";
    case QueryForm::Lisp:
      return "Lisp";
  }
  return "";
}

ParseResult parseQuery(std::string_view text, QueryForm form, const ParseLimits& limits,
                       Surroundings* surroundings) {
  switch (form) {
    case QueryForm::Json:
      break;
    case QueryForm::Yaml:
      return parseYaml(text, limits);
    case QueryForm::Lisp:
      return parseLisp(text, limits, surroundings);
  }
  return parseJson(text, limits);
}

std::string writeQuery(const Node& node, QueryForm form) {
  switch (form) {
    case QueryForm::Json:
      break;
    case QueryForm::Yaml:
      return writeYaml(node);
    case QueryForm::Lisp:
      return writeLisp(node);
  }
  return writePretty(node);
}

std::vector<Diagnostic> formRemarks(const Node& node, QueryForm form) {
  switch (form) {
    case QueryForm::Json:
      break;
    case QueryForm::Yaml:
      return yamlRemarks(node);
    case QueryForm::Lisp:
      return lispRemarks(node);
  }
  return {};
}

namespace {

/// Counts parts of one kind, and keeps the place of the first.
struct Counted {
  std::size_t count = 0;
  std::size_t first = 0;

  void add(std::size_t offset) {
    if (count++ == 0) first = offset;
  }
  /// `name` is singular; the plural has an s.
  void report(std::vector<Diagnostic>& found, const std::string& article, const std::string& name,
              std::string hint) const {
    if (count == 0) return;
    found.push_back(
        {Severity::Warning,
         {},
         {},
         first,
         count == 1 ? article + " " + name : "the first of " + std::to_string(count) + " " + name + "s",
         "only nodes",
         std::move(hint)});
  }
};

/// Takes the places of scalars and anchors in the first document of a YAML text.
class YamlPlaces final : public YAML::EventHandler {
 public:
  struct Scalar {
    std::size_t offset = 0;
    bool isEmpty = false;
    std::size_t indent = 0;  ///< spaces before the first line with text
  };
  explicit YamlPlaces(std::size_t shift) : m_shift(shift) {}

  std::vector<Scalar> scalars;
  Counted anchors;

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { note(mark, anchor); }
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& value) override {
    note(mark, anchor);
    const std::size_t text = value.find_first_not_of("\n ");
    const std::size_t line = text == std::string::npos ? text : value.rfind('\n', text);
    const std::size_t begin = line == std::string::npos ? 0 : line + 1;
    scalars.push_back({offsetOf(mark), text == std::string::npos,
                       text == std::string::npos ? 0 : value.find_first_not_of(' ', begin) - begin});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    note(mark, anchor);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    note(mark, anchor);
  }
  void OnMapEnd() override {}

 private:
  std::size_t offsetOf(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : static_cast<std::size_t>(mark.pos) + m_shift;
  }
  void note(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) anchors.add(offsetOf(mark));
  }

  std::size_t m_shift;
};

std::size_t endOfLine(std::string_view text, std::size_t offset) {
  return std::min(text.find('\n', offset), text.size());
}

/// A scalar whose "#" begin no comments: it is in quotes, or a block of lines.
struct OpaqueScalar {
  std::size_t end = 0;                      ///< the offset of the scalar for any other scalar
  std::optional<std::size_t> comment = {};  ///< in the first line of a block
};

std::size_t endOfQuotes(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool isDoubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!isDoubled) return i + 1;
      ++i;
    }
  }
  return text.size();
}

OpaqueScalar opaquePart(std::string_view text, const YamlPlaces::Scalar& scalar) {
  std::size_t at = scalar.offset;
  // The mark is before an anchor and a tag.
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\r\n", end), text.size());
  }
  if (at >= text.size()) return {scalar.offset};
  if (text[at] == '"' || text[at] == '\'') return {endOfQuotes(text, at)};
  if (text[at] != '|' && text[at] != '>') return {scalar.offset};
  OpaqueScalar block{endOfLine(text, at)};
  if (const std::size_t comment = text.substr(0, block.end).find('#', at); comment != std::string_view::npos)
    block.comment = comment;
  if (scalar.isEmpty) return block;
  std::optional<std::size_t> indent;
  while (block.end < text.size()) {
    const std::size_t line = block.end + 1;
    const std::size_t next = endOfLine(text, line);
    const std::size_t word = std::min(text.find_first_not_of(' ', line), next);
    if (word < next && text[word] != '\r') {
      const std::size_t spaces = word - line;
      if (!indent) indent = spaces - std::min(spaces, scalar.indent);
      if (spaces < *indent) break;
    }
    block.end = next;
  }
  return block;
}

void findInYaml(std::string_view text, std::vector<Diagnostic>& found) {
  const std::size_t shift = text.size() - withoutByteOrderMark(text).size();
  YamlPlaces places(shift);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(places);
  } catch (const YAML::Exception&) {
    return;
  }
  Counted comments;
  std::size_t next = 0;
  for (std::size_t i = shift; i < text.size(); ++i) {
    while (next < places.scalars.size() && places.scalars[next].offset < i) ++next;
    if (next < places.scalars.size() && places.scalars[next].offset == i) {
      const OpaqueScalar opaque = opaquePart(text, places.scalars[next]);
      if (opaque.comment) comments.add(*opaque.comment);
      if (opaque.end > i) {
        i = opaque.end - 1;
        continue;
      }
    }
    const bool isFirst =
        i == shift || std::string_view(" \t\r\n").find(text[i - 1]) != std::string_view::npos;
    if (text[i] != '#' || !isFirst) continue;
    comments.add(i);
    i = endOfLine(text, i);
  }
  comments.report(found, "a", "comment", "a query has no comments");
  places.anchors.report(found, "an", "anchor", "a query cannot contain an anchor");
}

/// Forms that are evaluated when the text is read. The query has the value and not the form.
constexpr std::array<std::string_view, 12> kEvaluated = {"with",   "extract", "combine", "filen",
                                                         "fetchn", "fetchb",  "take",    "prefix",
                                                         "chunk",  "foreach", "length",  "format"};
/// Forms that give a value where a text is expected.
constexpr std::array<std::string_view, 4> kFromOutside = {"file", "fetch", "ask", "read"};
constexpr std::array<std::string_view, 4> kTakesText = {"user", "system", "assistant", "print"};

template <class Names>
bool isIn(const Names& names, const LispForm& form) {
  if (form.kind != LispFormKind::List || form.children.empty()) return false;
  const LispForm& head = form.children.front();
  return head.kind == LispFormKind::Symbol && std::ranges::find(names, head.text) != names.end();
}

struct EvaluatedForms {
  Counted count;
  std::set<std::string> names;

  void look(const LispForm& form, const LispForm* parent) {
    const bool isText = parent != nullptr && isIn(kTakesText, *parent) && isIn(kFromOutside, form);
    if (isText || isIn(kEvaluated, form)) {
      count.add(form.range.begin);
      names.insert(form.children.front().text);
    }
    for (const LispForm& child : form.children) look(child, &form);
  }
};

void findInLisp(std::string_view text, std::vector<Diagnostic>& found) {
  Counted comments;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ';') {
      comments.add(i);
      i = endOfLine(text, i);
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
    }
  }
  comments.report(found, "a", "comment", "a query has no comments");
  const auto read = readLispForm(text, {.maxDepth = kMaxDepth, .maxForms = kMaxLispSteps});
  const auto* form = std::get_if<LispForm>(&read);
  if (form == nullptr) return;
  EvaluatedForms evaluated;
  evaluated.look(*form, nullptr);
  std::string names;
  for (const std::string& name : evaluated.names) names += (names.empty() ? "" : ", ") + name;
  evaluated.count.report(found, "an", "evaluated form", "the query contains the result of " + names);
}

}  // namespace

std::vector<Diagnostic> unkeptParts(std::string_view text, QueryForm form) {
  std::vector<Diagnostic> found;
  if (findInvalidUtf8(text) < text.size()) return found;
  const std::optional<std::string> lines = withLineFeeds(text);
  if (lines) text = *lines;
  if (form == QueryForm::Yaml) findInYaml(text, found);
  if (form == QueryForm::Lisp) findInLisp(text, found);
  std::ranges::sort(found, {}, &Diagnostic::offset);
  locate(found, text);
  return found;
}

}  // namespace spanscope::query
