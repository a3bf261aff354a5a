// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/lisp.h"
#include "engine/query/number_text.h"
#include "engine/query/visit_fields.h"

#include <cstdint>
#include <utility>
#include <variant>

namespace spanscope::query {
namespace {

/// Writes a text in double quotes. Characters that would be invisible are written as Rust's escapes.
void appendText(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Writes forms. A query stands on its own line below the form that it belongs to. Everything else stands
/// after the name.
class Writer {
 public:
  std::string take() { return std::move(m_out); }

  void node(const Node& node) {
    m_out += '(';
    m_out += operatorName(node);
    ++m_indent;
    Fields fields(*this);
    visitFields(node, fields);
    fields.writeSettings();
    --m_indent;
    m_out += ')';
  }

 private:
  /// The fields of one node in the order of their list, except temperature and max_tokens. These are optional
  /// and come last. If queries stand between them and the name, they get a line of their own.
  class Fields {
   public:
    explicit Fields(Writer& writer) : m_writer(writer) {}

    void operator()(const FieldInfo& /*info*/, const std::string& text) { m_writer.text(text); }
    void operator()(const FieldInfo& /*info*/, const Setting<std::int32_t>& maxTokens) {
      m_maxTokens = &maxTokens;
    }
    void operator()(const FieldInfo& /*info*/, const Setting<float>& temperature) {
      m_temperature = &temperature;
    }
    void operator()(const FieldInfo& /*info*/, const Times& count) {
      if (const auto* parameter = std::get_if<Parameter>(&count)) {
        m_writer.text("{" + parameter->name + "}");
      } else {
        m_writer.word(std::to_string(std::get<std::uint8_t>(count)));
      }
    }
    void operator()(const FieldInfo& /*info*/, const std::vector<std::string>& texts) {
      m_writer.m_out += " (list";
      for (const std::string& text : texts) m_writer.text(text);
      m_writer.m_out += ')';
    }
    void operator()(const FieldInfo& /*info*/, const SourceDocument& document) {
      m_writer.document(document);
    }
    template <GroupField Group>
    void operator()(const FieldInfo& /*info*/, const Group& group) {
      visitGroup(group, *this);
    }
    void operator()(const FieldInfo& /*info*/, const Box<Node>& child) {
      m_hasQuery = true;
      m_writer.child(*child);
    }
    void operator()(const FieldInfo& /*info*/, const std::vector<Node>& children) {
      for (const Node& child : children) m_writer.child(child);
    }

    void writeSettings() {
      if (m_temperature == nullptr || m_maxTokens == nullptr) return;
      if (m_hasQuery) {
        m_writer.m_out += '\n';
        m_writer.m_out.append(2 * m_writer.m_indent - 1, ' ');
      }
      m_writer.setting(*m_temperature);
      m_writer.setting(*m_maxTokens);
    }

   private:
    Writer& m_writer;
    const Setting<float>* m_temperature = nullptr;
    const Setting<std::int32_t>* m_maxTokens = nullptr;
    bool m_hasQuery = false;
  };

  void text(std::string_view value) {
    m_out += ' ';
    appendText(m_out, value);
  }
  void word(const std::string& value) { m_out += " " + value; }
  void child(const Node& value) {
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
    node(value);
  }

  static std::string numberText(std::int32_t value) { return std::to_string(value); }
  static std::string numberText(float value) { return floatText(value); }

  template <class T>
  void setting(const std::variant<Absent, Null, T, Parameter>& setting) {
    if (const auto* number = std::get_if<T>(&setting)) {
      word(numberText(*number));
    } else if (const auto* parameter = std::get_if<Parameter>(&setting)) {
      text("{" + parameter->name + "}");
    } else {
      word(std::holds_alternative<Null>(setting) ? "none" : numberText(kDefaultOf<T>));
    }
  }

  void document(const SourceDocument& document) {
    m_out += '\n';
    m_out.append(2 * m_indent, ' ');
    m_out += "(doc";
    text(document.name);
    if (const auto* content = std::get_if<std::string>(&document.content)) {
      text(*content);
    } else {
      m_out += " (bytes";
      for (const std::uint8_t byte : std::get<std::vector<std::uint8_t>>(document.content)) {
        word(std::to_string(byte));
      }
      m_out += ')';
    }
    m_out += ')';
  }

  std::string m_out;
  std::size_t m_indent = 0;
};

}  // namespace

std::string writeLisp(const Node& node) {
  Writer writer;
  writer.node(node);
  return writer.take() + "\n";
}

}  // namespace spanscope::query
