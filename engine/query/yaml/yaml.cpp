// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/yaml/yaml.h"

#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/query/query_reader.h"
#include "engine/query/shown_text.h"
#include "engine/query/visit_fields.h"
#include "engine/query/yaml/yaml_cursor.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::query {

namespace {

/// Whether the text may be JSON with characters that are escaped as pairs, such as \ud83d\ude00. YAML has
/// no such escapes.
bool mayBeJsonWithPairs(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  return text.find("\\ud8") != std::string_view::npos || text.find("\\uD8") != std::string_view::npos;
}

}  // namespace

ParseResult parseYaml(std::string_view text, const ParseLimits& limits) {
  if (auto problem = refuseText(text, std::min(limits.maxBytes, kMaxYamlBytes))) {
    ParseResult result;
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  if (mayBeJsonWithPairs(withoutByteOrderMark(text))) {
    ParseResult json = parseJson(text, limits);
    if (json.query) return json;
  }
  const std::optional<std::string> lines = withLineFeeds(text);
  if (lines) text = *lines;
  std::optional<std::size_t> second;
  std::optional<YamlCursor::Tag> tag;
  const auto makeCursor = [&](ValueCursor::Listener& listener) {
    auto cursor = std::make_unique<YamlCursor>(text, std::min(limits.maxDepth, kMaxDepth), listener);
    second = cursor->secondDocument();
    tag = cursor->firstTag();
    return cursor;
  };
  ParseResult result = QueryReader(text, limits, makeCursor).read();
  if (tag && result.query) {
    const auto isLater = [&tag](const Diagnostic& other) { return other.offset > tag->offset; };
    result.diagnostics.insert(std::ranges::find_if(result.diagnostics, isLater),
                              {Severity::Warning,
                               {},
                               positionAt(text, tag->offset),
                               tag->offset,
                               "the tag " + inQuotes(tag->name),
                               "a value without a tag",
                               "Spanscope ignores the tag"});
  }
  if (second && result.query) {
    result.diagnostics.push_back({Severity::Warning,
                                  {},
                                  positionAt(text, *second),
                                  *second,
                                  /*id:second-document*/ "a second YAML document",
                                  "one YAML document",
                                  /*id:first-read*/ "Spanscope reads only the first YAML document"});
  }
  return result;
}

namespace {

class Remarks {
 public:
  std::vector<Diagnostic> found;

  void node(const NodePath& path, const Node& node) {
    if (!isSugar(node)) return;
    add(path, std::string("the operator \"") + operatorName(node) + "\"", "an operator that IBM/spnl knows",
        "Spanscope replaces this operator before it sends a query");
  }
  void text(const NodePath& /*node*/, const std::string& pointer, const std::string& text) {
    if (!mayBeMisreadInYaml(text)) return;
    add(pointer, "the text \"" + cutText(text, kShownCharacters) + "\"", "text that YAML reads only as text",
        /*id:ibm-spnl-may*/
        "IBM/spnl can read this text as a number, true, false or null, even in quotes, and refuse the query");
  }
  void content(const NodePath& node, const std::string& pointer,
               const std::variant<std::string, std::vector<std::uint8_t>>& content) {
    if (const auto* string = std::get_if<std::string>(&content)) text(node, pointer + "/Text", *string);
  }
  void count(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }
  void maxTokens(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }
  void temperature(const NodePath& /*node*/, const std::string& pointer, const auto& value) {
    number(pointer, value);
  }

 private:
  static constexpr std::size_t kShownCharacters = 40;

  void number(const std::string& pointer, const auto& value) {
    const auto* parameter = std::get_if<Parameter>(&value);
    if (parameter == nullptr) return;
    add(pointer, "the parameter \"{" + cutText(parameter->name, kShownCharacters) + "}\"", "a number",
        "IBM/spnl does not support parameters");
  }
  void add(const std::string& pointer, std::string what, std::string expected, std::string hint) {
    found.push_back(
        {Severity::Warning, pointer, {}, 0, std::move(what), std::move(expected), std::move(hint)});
  }
};

}  // namespace

std::vector<Diagnostic> yamlRemarks(const Node& node) {
  Remarks remarks;
  FieldWalk<const Node, Remarks>(remarks).walk(node, {});
  return std::move(remarks.found);
}

namespace {

/// Length in bytes of a character that must be escaped; 0 if the front of `text` is no such character. Such
/// characters are control characters, Unicode's line breaks, the byte order mark and noncharacters.
std::size_t unprintableLength(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte < 0x20 || byte == 0x7F) return 1;
  if (byte == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0) return 2;
  for (const char* sequence :
       {"\xE2\x80\xA8", "\xE2\x80\xA9", "\xEF\xBB\xBF", "\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    if (text.starts_with(sequence)) return 3;
  }
  return 0;
}

bool isPrintable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && unprintableLength(text.substr(i)) > 0) return false;
  }
  return true;
}

/// Whether every reader reads the text without quotes as the same text, in every place. The test is stricter
/// than YAML.
bool isPlain(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  if (text.empty() || text.size() > kLongest || !isPrintable(text)) return false;
  const char first = text.front();
  const bool beginsWord = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                          static_cast<unsigned char>(first) >= 0x80;
  if (!beginsWord || text.back() == ' ' || text.back() == ':') return false;
  return text.find_first_of("\n{}[],&*|<>%@`\"") == std::string_view::npos &&
         text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos &&
         !mayMeanOtherInYaml(text);
}

/// Whether the text can be written as a literal block that is readable as it is.
bool isBlock(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || !isPrintable(text)) return false;
  if (text.front() == '\n' || text.ends_with("\n\n")) return false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.starts_with(' ') || line.ends_with(' ')) return false;
    begin = end + 1;
  }
  return true;
}

/// Decodes a sequence of one to three bytes.
unsigned codePoint(std::string_view sequence) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(sequence[i]));
  };
  if (sequence.size() == 1) return byte(0);
  if (sequence.size() == 2) return (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
  return (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
}

void appendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = unprintableLength(text.substr(i));
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
    } else if (length == 0) {
      out += c;
      ++i;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
      ++i;
    } else {
      out += "\\u";
      appendHex(out, codePoint(text.substr(i, length)), 4);
      i += length;
    }
  }
  out += '"';
}

/// Writes nodes by their lists of fields. As a visitor, the class writes the next field, indented by `indent`
/// columns.
class Writer {
 public:
  std::string take() { return std::move(m_out); }

  /// Writes a node whose first line has already begun.
  void node(const Node& node, std::size_t indent) {
    const std::size_t before = m_indent;
    m_indent = indent + 2;
    m_out += operatorName(node);
    m_out += ':';
    if (infoOf(node).form != BodyForm::Value) m_out += '\n';
    visitFields(node, *this);
    m_indent = before;
  }

  void operator()(const FieldInfo& info, const std::string& value) {
    field(info);
    text(value, info.hasKey() ? m_indent + 2 : m_indent);
  }
  template <SettingField Setting>
  void operator()(const FieldInfo& info, const Setting& setting) {
    using T = std::variant_alternative_t<2, Setting>;
    if (std::holds_alternative<Absent>(setting)) return;
    field(info);
    if (const auto* value = std::get_if<T>(&setting)) {
      line(numberText(*value));
    } else if (const auto* named = std::get_if<Parameter>(&setting)) {
      parameter(*named);
    } else {
      line("null");
    }
  }
  void operator()(const FieldInfo& info, const Times& count) {
    field(info);
    if (const auto* named = std::get_if<Parameter>(&count)) {
      parameter(*named);
    } else {
      line(std::to_string(std::get<std::uint8_t>(count)));
    }
  }
  void operator()(const FieldInfo& info, const std::vector<std::string>& texts) {
    field(info);
    if (texts.empty()) {
      line("[]");
      return;
    }
    m_out += '\n';
    for (const std::string& value : texts) {
      begin(m_indent + 2);
      m_out += '-';
      text(value, m_indent + 4);
    }
  }
  void operator()(const FieldInfo& info, const SourceDocument& value) {
    field(info);
    document(value);
  }
  template <GroupField Group>
  void operator()(const FieldInfo& info, const Group& group) {
    field(info);
    if (info.hasKey()) {
      m_out += '\n';
      m_indent += 2;
    }
    visitGroup(group, *this);
    if (info.hasKey()) m_indent -= 2;
  }
  void operator()(const FieldInfo& info, const Box<Node>& child) {
    field(info);
    m_out += '\n';
    const std::size_t indent = info.hasKey() ? m_indent + 2 : m_indent;
    begin(indent);
    node(*child, indent);
  }
  void operator()(const FieldInfo& info, const std::vector<Node>& children) {
    field(info);
    if (children.empty()) {
      line("[]");
      return;
    }
    m_out += '\n';
    for (const Node& child : children) {
      begin(m_indent);
      m_out += "- ";
      node(child, m_indent + 2);
    }
  }

 private:
  void begin(std::size_t indent) { m_out.append(indent, ' '); }

  /// Writes a text after "key:" or "-", up to the end of the line.
  void text(std::string_view value, std::size_t indent) {
    m_out += ' ';
    if (isPlain(value)) {
      m_out += value;
    } else if (isBlock(value)) {
      block(value, indent);
    } else {
      appendQuoted(m_out, value);
    }
    m_out += '\n';
  }
  void block(std::string_view value, std::size_t indent) {
    m_out += value.ends_with('\n') ? "|" : "|-";
    if (value.ends_with('\n')) value.remove_suffix(1);
    for (std::size_t from = 0; from <= value.size();) {
      const std::size_t end = std::min(value.find('\n', from), value.size());
      m_out += '\n';
      if (end > from) begin(indent);
      m_out += value.substr(from, end - from);
      from = end + 1;
    }
  }
  void field(const FieldInfo& info) {
    if (!info.hasKey()) return;
    begin(m_indent);
    m_out += info.key;
    m_out += ':';
  }
  void line(const std::string& value) { m_out += " " + value + "\n"; }
  void parameter(const Parameter& value) { line("\"{" + value.name + "}\""); }
  static std::string numberText(std::int32_t value) { return std::to_string(value); }
  static std::string numberText(float value) { return floatText(value); }

  void document(const SourceDocument& document) {
    m_out += '\n';
    begin(m_indent + 2);
    m_out += '-';
    text(document.name, m_indent + 4);
    begin(m_indent + 2);
    m_out += "- ";
    if (const auto* content = std::get_if<std::string>(&document.content)) {
      m_out += "Text:";
      text(*content, m_indent + 6);
    } else {
      m_out += "Binary:";
      bytes(std::get<std::vector<std::uint8_t>>(document.content));
    }
  }

  void bytes(const std::vector<std::uint8_t>& values) {
    std::string list = "[";
    for (const std::uint8_t byte : values) {
      if (list.size() > 1) list += ", ";
      list += std::to_string(byte);
    }
    line(list + "]");
  }

  std::string m_out;
  std::size_t m_indent = 0;
};

}  // namespace

std::string writeYaml(const Node& node) {
  Writer writer;
  writer.node(node, 0);
  return writer.take();
}

}  // namespace spanscope::query
