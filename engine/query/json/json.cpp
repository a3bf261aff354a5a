// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"

#include "engine/base/utf8.h"
#include "engine/query/json/json_cursor.h"
#include "engine/query/number_text.h"
#include "engine/query/query_reader.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::query {

ParseResult parseJson(std::string_view text, const ParseLimits& limits) {
  if (auto problem = refuseText(text, limits.maxBytes)) {
    ParseResult result;
    result.diagnostics.push_back(std::move(*problem));
    return result;
  }
  const auto makeCursor = [&](ValueCursor::Listener& listener) {
    return std::make_unique<JsonCursor>(text, std::min(limits.maxDepth, kMaxDepth), listener);
  };
  return QueryReader(text, limits, makeCursor).read();
}

namespace {

class FirstIssue final : public ValueCursor::Listener {
 public:
  std::optional<JsonIssue> issue;
  void jsonIssue(JsonIssue found) override {
    if (!issue) issue = std::move(found);
  }
};

}  // namespace

std::optional<std::vector<std::string>> readJsonTexts(std::string_view json) {
  FirstIssue listener;
  JsonCursor cursor(json, 1, listener);
  if (cursor.peek() != JsonKind::Array) return std::nullopt;
  std::vector<std::string> texts;
  cursor.enterArray();
  for (ValueCursor::Container array; cursor.nextElement(array);) {
    if (cursor.peek() != JsonKind::String) return std::nullopt;
    texts.push_back(cursor.readString());
  }
  cursor.expectEnd();
  if (listener.issue) return std::nullopt;
  return texts;
}

namespace {

/// Escapes only what JSON cannot contain within quotes.
void appendText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20) {
          out += "\\u";
          appendHex(out, byte, 4);
        } else {
          out += c;
        }
      }
    }
  }
  out += '"';
}

enum class Style {
  Canonical,  ///< one line, defaults written
  Reference,  ///< the same, without null values
  Pretty,     ///< indented, only the given values
};

/// Writes nodes by their lists of fields. As a visitor, the class writes the next field.
class Writer {
 public:
  explicit Writer(Style style) : m_style(style) {}

  std::string take() { return std::move(m_out); }

  void node(const Node& node) {
    m_out += '{';
    key(operatorName(node));
    const bool isObject = infoOf(node).form != BodyForm::Value;
    if (isObject) open('{');
    visitFields(node, *this);
    if (isObject) close('}');
    m_out += '}';
  }

  void operator()(const FieldInfo& info, const std::string& value) {
    field(info);
    text(value);
  }
  template <SettingField Setting>
  void operator()(const FieldInfo& info, const Setting& setting) {
    using T = std::variant_alternative_t<2, Setting>;
    if (std::holds_alternative<Absent>(setting)) {
      if (isPretty()) return;
      field(info);
      number(kDefaultOf<T>);
      return;
    }
    if (m_style == Style::Reference && std::holds_alternative<Null>(setting)) return;
    field(info);
    if (const auto* value = std::get_if<T>(&setting)) {
      number(*value);
    } else if (const auto* name = std::get_if<Parameter>(&setting)) {
      parameter(*name);
    } else {
      m_out += "null";
    }
  }
  void operator()(const FieldInfo& info, const Times& count) {
    field(info);
    if (const auto* name = std::get_if<Parameter>(&count)) {
      parameter(*name);
    } else {
      m_out += std::to_string(std::get<std::uint8_t>(count));
    }
  }
  void operator()(const FieldInfo& info, const std::vector<std::string>& texts) {
    field(info);
    open('[');
    for (const std::string& value : texts) {
      next();
      text(value);
    }
    close(']');
  }
  void operator()(const FieldInfo& info, const SourceDocument& value) {
    field(info);
    document(value);
  }
  template <GroupField Group>
  void operator()(const FieldInfo& info, const Group& group) {
    field(info);
    if (info.hasKey()) open('{');
    visitGroup(group, *this);
    if (info.hasKey()) close('}');
  }
  void operator()(const FieldInfo& info, const Box<Node>& child) {
    field(info);
    node(*child);
  }
  void operator()(const FieldInfo& info, const std::vector<Node>& children) {
    field(info);
    open('[');
    for (const Node& child : children) {
      next();
      node(child);
    }
    close(']');
  }

 private:
  bool isPretty() const { return m_style == Style::Pretty; }

  void text(std::string_view value) { appendText(m_out, value); }
  void key(std::string_view name) {
    text(name);
    m_out += isPretty() ? ": " : ":";
  }
  void parameter(const Parameter& value) { text("{" + value.name + "}"); }
  void number(std::int32_t value) { m_out += std::to_string(value); }
  void number(float value) {
    const bool isNull = m_style == Style::Reference && !std::isfinite(value);
    m_out += isNull ? "null" : floatText(value);
  }

  void breakLine() {
    if (!isPretty()) return;
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
  }
  void open(char bracket) {
    m_out += bracket;
    ++m_indent;
    m_isFirst = true;
  }
  /// Begins the next element or member of the container that was opened last.
  void next() {
    if (!m_isFirst) m_out += ',';
    m_isFirst = false;
    breakLine();
  }
  void field(const FieldInfo& info) {
    if (!info.hasKey()) return;
    next();
    key(info.key);
  }
  void close(char bracket) {
    --m_indent;
    if (!m_isFirst) breakLine();
    m_isFirst = false;
    m_out += bracket;
  }

  void document(const SourceDocument& document) {
    const char* comma = isPretty() ? ", " : ",";
    m_out += '[';
    text(document.name);
    m_out += comma;
    m_out += '{';
    if (const auto* content = std::get_if<std::string>(&document.content)) {
      key("Text");
      text(*content);
    } else {
      key("Binary");
      m_out += '[';
      bool isFirst = true;
      for (const std::uint8_t byte : std::get<std::vector<std::uint8_t>>(document.content)) {
        if (!isFirst) m_out += comma;
        isFirst = false;
        m_out += std::to_string(byte);
      }
      m_out += ']';
    }
    m_out += "}]";
  }

  Style m_style;
  std::string m_out;
  std::size_t m_indent = 0;
  bool m_isFirst = true;
};

}  // namespace

std::string jsonText(std::string_view text) {
  std::string out;
  appendText(out, text);
  return out;
}

std::string writeCanonical(const Node& node) {
  Writer writer(Style::Canonical);
  writer.node(node);
  return writer.take();
}

std::string writeAsReference(const Node& node) {
  Writer writer(Style::Reference);
  writer.node(node);
  return writer.take();
}

std::string writePretty(const Node& node) {
  Writer writer(Style::Pretty);
  writer.node(node);
  return writer.take() + "\n";
}

}  // namespace spanscope::query
