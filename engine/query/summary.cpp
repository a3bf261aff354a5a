// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/summary.h"

#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"
#include "engine/query/visit_fields.h"

#include <variant>
#include <vector>

namespace spanscope::query {
namespace {

class Outline {
 public:
  explicit Outline(std::size_t textCharacters) : m_textCharacters(textCharacters) {}

  std::string of(const Node& node) const {
    const std::string name = operatorName(node);
    if (const std::string* text = textOf(node)) return name + quoted(*text);
    Fields fields(*this);
    visitFields(node, fields);
    return name + "(" + fields.take() + ")";
  }

 private:
  static constexpr std::size_t kNameCharacters = 40;

  /// The text between the brackets: the queries and texts of a node, and the names of documents.
  class Fields {
   public:
    explicit Fields(const Outline& outline) : m_outline(outline) {}

    void operator()(const FieldInfo& /*info*/, const TextField auto& /*name*/) {}
    void operator()(const FieldInfo& /*info*/, const SettingField auto& /*setting*/) {}
    void operator()(const FieldInfo& /*info*/, const Times& count) {
      const auto* parameter = std::get_if<Parameter>(&count);
      m_times = " ×" + (parameter != nullptr ? "{" + parameter->name + "}"
                                             : std::to_string(std::get<std::uint8_t>(count)));
    }
    void operator()(const FieldInfo& /*info*/, const std::vector<std::string>& texts) {
      for (const std::string& text : texts) m_queries.push_back("user" + m_outline.quoted(text));
    }
    void operator()(const FieldInfo& /*info*/, const SourceDocument& document) {
      m_rest += ", " + cutText(document.name, kNameCharacters);
    }
    void operator()(const FieldInfo& info, const GroupField auto& group) {
      Fields inside(m_outline);
      visitGroup(group, inside);
      // A group that contains queries is shown as an operator.
      const bool isOperator = info.hasKey() && !inside.m_queries.empty();
      if (isOperator) {
        m_queries.push_back(std::string(info.key) + "(" + inside.take() + ")");
      } else {
        m_queries.insert(m_queries.end(), inside.m_queries.begin(), inside.m_queries.end());
      }
    }
    void operator()(const FieldInfo& /*info*/, const Box<Node>& child) {
      m_queries.push_back(m_outline.of(*child));
    }
    void operator()(const FieldInfo& /*info*/, const std::vector<Node>& children) {
      for (const Node& child : children) m_queries.push_back(m_outline.of(child));
    }

    std::string take() const { return joined(m_queries) + m_rest + m_times; }

   private:
    const Outline& m_outline;
    std::vector<std::string> m_queries;
    std::string m_rest;   ///< everything except queries
    std::string m_times;  ///< how often the whole runs
  };

  std::string quoted(const std::string& text) const {
    return m_textCharacters == 0 ? std::string() : " \"" + cutText(text, m_textCharacters) + "\"";
  }

  static std::string joined(const std::vector<std::string>& forms) {
    std::string line;
    std::size_t next = 0;
    for (std::size_t i = 0; i < forms.size(); i = next) {
      next = i + 1;
      while (next < forms.size() && forms[next] == forms[i]) ++next;
      if (i > 0) line += ", ";
      line += forms[i];
      if (next - i > 1) line += " ×" + std::to_string(next - i);
    }
    return line;
  }

  std::size_t m_textCharacters;
};

}  // namespace

std::string shortForm(const Node& node, const ShortFormOptions& options) {
  const std::string line = Outline(options.textCharacters).of(node);
  return options.maxCharacters == 0 ? line : cutText(line, options.maxCharacters);
}

}  // namespace spanscope::query
