// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_form.h"

#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/yaml/yaml.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::query {
namespace {

bool endsWith(std::string_view name, std::string_view ending) {
  if (name.size() < ending.size()) return false;
  name.remove_prefix(name.size() - ending.size());
  return std::equal(name.begin(), name.end(), ending.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
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

}  // namespace spanscope::query
