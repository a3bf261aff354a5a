// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/number_text.h"
#include "engine/query/visit_fields.h"
#include "engine/query/yaml/yaml.h"
#include "engine/query/yaml/yaml_scalar.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::query {
namespace {

/// Length in bytes of a character that must be escaped; 0 if the front of `text` is no such character. These
/// are control characters, Unicode's line breaks, the byte order mark and noncharacters.
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

/// Whether the text means itself without quotes, in every place. This is stricter than YAML, so that no
/// reader differs.
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

/// Whether the text can be written as a literal block that a person can read as it is.
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
  constexpr std::string_view kDigits = "0123456789abcdef";
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
      const unsigned code = codePoint(text.substr(i, length));
      out += "\\u";
      for (unsigned shift = 16; shift > 0; shift -= 4) out += kDigits[code >> (shift - 4) & 15U];
      i += length;
    }
  }
  out += '"';
}

/// Writes nodes by their lists of fields. As a visitor, it writes the next field, indented by `indent`
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
