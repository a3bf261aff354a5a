// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/yaml/yaml_scalar.h"

#include "engine/query/loose_number.h"

#include <algorithm>

namespace spanscope::query {
namespace {

bool isOneOf(std::string_view text, std::string_view words) {
  if (text.empty() || text.find(' ') != std::string_view::npos) return false;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == text) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

JsonKind yamlScalarKind(std::string_view text) {
  if (isOneOf(text, "~ null Null NULL")) return JsonKind::Null;
  if (text == "true") return JsonKind::True;
  if (text == "false") return JsonKind::False;
  if (isLooseNumber(text)) return JsonKind::Number;
  return JsonKind::String;
}

std::string yamlNumber(std::string_view text) {
  return looseNumberAsJson(text);
}

bool mayBeMisreadInYaml(std::string_view text) {
  return yamlScalarKind(text) != JsonKind::String || isOneOf(text, "True TRUE False FALSE .nan .NaN .NAN");
}

bool mayMeanOtherInYaml(std::string_view text) {
  return mayBeMisreadInYaml(text) || isOneOf(text, "= << y Y n N yes Yes YES no No NO on On ON off Off OFF");
}

}  // namespace spanscope::query
