// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/draft.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <type_traits>
#include <utility>

namespace spanscope::plan {

namespace {

constexpr std::size_t kShownText = 40;

/// The name, if the text is exactly "{name}"; empty for any other text.
std::string_view placeholderName(std::string_view text) {
  if (text.size() < 3 || text.front() != '{' || text.back() != '}') return {};
  const std::string_view name = text.substr(1, text.size() - 2);
  const bool plain = std::ranges::all_of(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; });
  return plain ? name : std::string_view();
}

class DraftMaker {
 public:
  DraftMaker(float defaultTemperature, OutputForm outputForm, std::size_t maxDepth,
             std::vector<Error>& problems)
      : m_defaultTemperature(defaultTemperature),
        m_outputForm(outputForm),
        m_maxDepth(maxDepth),
        m_problems(&problems) {}

  Draft make(const query::Node& node, const NodePath& path, std::size_t depth) {
    m_path = path;
    m_depth = depth;
    const query::OperatorInfo& info = query::infoOf(node);
    if (query::isSugar(info) || info.resolvedBy == query::ResolvedBy::Retrieval) {
      const query::SourceDocument* document = query::documentOf(node);
      const std::string& name = document != nullptr ? document->name : *query::textOf(node);
      problem(m_path, info.unplannedAs + quoted(name, kShownText), info.plannedAs);
      return start(query::kIndexOf<query::Join>);
    }
    return std::visit([this](const auto& op) { return convert(op); }, node.value);
  }

 private:
  void problem(std::string place, std::string found, std::string expected) {
    m_problems->push_back({"", std::move(place), std::move(found), std::move(expected)});
  }

  Draft start(std::size_t op) const {
    Draft draft;
    draft.op = op;
    draft.node = m_path;
    return draft;
  }

  /// Appends the draft of a child; `step` leads from this node to it.
  void addChild(Draft& parent, const query::Node& child, const std::string& step) {
    const NodePath path = m_path;
    const std::size_t depth = m_depth;
    if (depth >= m_maxDepth) {
      if (!m_tooDeep) {
        problem(path, "nodes nested more than " + std::to_string(m_maxDepth) + " deep", "a flatter query");
      }
      m_tooDeep = true;
      parent.children.push_back(start(query::kIndexOf<query::Join>));
      return;
    }
    parent.children.push_back(make(child, path + step, depth + 1));
    m_path = path;
    m_depth = depth;
  }

  void unresolved(const std::string& place, std::string_view name) {
    problem(place, "the parameter {" + std::string(name) + "}",
            "a value, because planning needs the value of each parameter");
  }

  DraftSettings settings(const query::GenerateSettings& given, const NodePath& place) {
    DraftSettings result;
    result.model = given.model;
    if (const std::string_view name = placeholderName(given.model); !name.empty())
      unresolved(place + "/model", name);

    if (const auto* parameter = std::get_if<query::Parameter>(&given.maxTokens)) {
      unresolved(place + "/max_tokens", parameter->name);
    } else if (const auto* value = std::get_if<std::int32_t>(&given.maxTokens);
               value != nullptr && *value > 0) {
      result.maxTokens = *value;
    }

    result.temperature = m_defaultTemperature;
    if (const auto* parameter = std::get_if<query::Parameter>(&given.temperature)) {
      unresolved(place + "/temperature", parameter->name);
    } else if (const auto* value = std::get_if<float>(&given.temperature)) {
      result.temperature = *value;
      if (!std::isfinite(*value) || *value < 0) {
        problem(place + "/temperature", "the temperature " + std::to_string(*value),
                /*id:finite-number-up*/ "a finite number of at least 0");
      }
    }
    return result;
  }

  template <class Operator>
  Draft convert(const Operator& op) {
    Draft draft = start(query::kIndexOf<Operator>);
    if constexpr (std::is_same_v<Operator, query::Message>) draft.role = op.role;
    if constexpr (std::is_same_v<Operator, query::Join>) draft.join = op.kind;
    if constexpr (std::is_same_v<Operator, query::Generate>) draft.call = ++m_lastCall;
    if (Operator::kInfo.gives == query::Gives::Answer) draft.form = m_outputForm;
    Fields fields(*this, draft, std::string("/") + query::keyOf(op));
    Operator::fields(op, fields);
    return draft;
  }

  /// Copies the fields of one node. Documents and texts with a key belong to operators that are already
  /// resolved.
  class Fields {
   public:
    Fields(DraftMaker& maker, Draft& draft, std::string step)
        : m_maker(maker), m_draft(draft), m_step(std::move(step)) {}

    void operator()(const query::FieldInfo& /*info*/, const std::string& text) { m_draft.text = text; }
    void operator()(const query::FieldInfo& info, const query::GenerateSettings& settings) {
      m_draft.settings = m_maker.settings(settings, m_maker.m_path + pointer(info));
      // Problems of the settings come before problems of the count.
      if (m_count != nullptr) takeCount();
    }
    void operator()(const query::FieldInfo& info, const query::Generate& generate) {
      const std::string before = std::exchange(m_step, pointer(info));
      query::visitGroup(generate, *this);
      m_step = before;
    }
    void operator()(const query::FieldInfo& info, const query::Times& count) {
      m_count = &count;
      m_countStep = pointer(info);
    }
    void operator()(const query::FieldInfo& /*info*/, const std::vector<std::string>& texts) {
      m_draft.inputs = texts;
    }
    void operator()(const query::FieldInfo& /*info*/, const query::SettingField auto& /*setting*/) {}
    void operator()(const query::FieldInfo& /*info*/, const query::SourceDocument& /*document*/) {}
    void operator()(const query::FieldInfo& info, const Box<query::Node>& child) {
      m_maker.addChild(m_draft, *child, pointer(info));
    }
    void operator()(const query::FieldInfo& info, const std::vector<query::Node>& children) {
      const std::string step = pointer(info) + "/";
      m_draft.children.reserve(children.size());
      for (std::size_t i = 0; i < children.size(); ++i) {
        m_maker.addChild(m_draft, children[i], step + std::to_string(i));
      }
    }

   private:
    std::string pointer(const query::FieldInfo& info) const {
      return info.hasKey() ? m_step + "/" + info.key : m_step;
    }
    void takeCount() {
      if (const auto* parameter = std::get_if<query::Parameter>(m_count)) {
        m_maker.unresolved(m_maker.m_path + m_countStep, parameter->name);
      } else {
        m_draft.count = std::get<std::uint8_t>(*m_count);
      }
    }

    DraftMaker& m_maker;
    Draft& m_draft;
    std::string m_step;
    const query::Times* m_count = nullptr;
    std::string m_countStep;
  };

  float m_defaultTemperature;
  OutputForm m_outputForm;
  std::size_t m_maxDepth;
  std::vector<Error>* m_problems;
  NodePath m_path;
  std::size_t m_depth = 0;
  std::uint32_t m_lastCall = 0;
  bool m_tooDeep = false;
};

void addSize(const Draft& draft, DraftSize& size) {
  ++size.nodes;
  size.textBytes += draft.text.size() + draft.node.size() + draft.settings.model.size();
  for (const std::string& input : draft.inputs) size.textBytes += input.size();
  for (const Draft& child : draft.children) addSize(child, size);
}

}  // namespace

const char* Draft::name() const {
  if (is<query::Message>()) return query::roleName(role);
  return is<query::Join>() ? query::joinName(join) : shape().key;
}

bool isSilent(const Draft& message) {
  return message.text.empty() && message.role != query::Role::System;
}

bool givesNothing(const Draft& draft) {
  switch (draft.info().gives) {
    case query::Gives::Text:
      return isSilent(draft);
    case query::Gives::Nothing:
      return true;
    case query::Gives::Children:
      return std::ranges::all_of(draft.children, givesNothing);
    case query::Gives::Answer:
    case query::Gives::Resolved:
      return false;
  }
  return false;
}

DraftSize sizeOf(const Draft& draft) {
  DraftSize size;
  addSize(draft, size);
  return size;
}

Draft makeDraft(const query::Node& query, float defaultTemperature, OutputForm outputForm,
                std::size_t maxDepth, std::vector<Error>& problems) {
  return DraftMaker(defaultTemperature, outputForm, maxDepth, problems).make(query, "", 1);
}

namespace {

constexpr std::size_t kShownLabel = 60;

std::string settingsOf(const Draft& draft) {
  std::string text = draft.settings.model.empty() ? std::string() : " " + draft.settings.model;
  if (draft.settings.maxTokens) text += ", at most " + counted(*draft.settings.maxTokens, "token");
  return text;
}

std::string labelOf(const Draft& draft) {
  const query::OperatorShape& shape = draft.shape();
  std::string label = draft.name();
  if (shape.hasText) label += " " + quoted(draft.text, kShownLabel);
  if (shape.hasCount) label += " " + std::to_string(draft.count);
  if (shape.hasInputs) label += " " + std::to_string(draft.inputs.size());
  if (shape.answers) label += settingsOf(draft);
  if (draft.is<query::Generate>() && draft.form == OutputForm::Continuation)
    label += /*id:read-prompt*/ ", read with its prompt";
  return label;
}

/// Whether two drafts are equal, except for their places in the query.
bool areAlike(const Draft& a, const Draft& b) {
  if (a.op != b.op || a.join != b.join || a.role != b.role || a.text != b.text || a.form != b.form ||
      a.count != b.count || a.inputs != b.inputs || a.settings != b.settings ||
      a.children.size() != b.children.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    if (!areAlike(a.children[i], b.children[i])) return false;
  }
  return true;
}

class TreeWriter {
 public:
  std::vector<TreeLine> take() {
    if (m_leftOut) m_lines.push_back({0, "", "… and more lines", false});
    return std::move(m_lines);
  }

  void add(const Draft& draft, std::uint32_t depth, std::size_t times) {
    if (m_lines.size() >= kMaxTreeLines) {
      m_leftOut = true;
      return;
    }
    std::string label = labelOf(draft);
    if (times > 1) label += fmt::format(" ×{}", times);
    m_lines.push_back({depth, draft.node, std::move(label), false});
    for (std::size_t i = 0; i < draft.children.size();) {
      const std::size_t first = i;
      while (i < draft.children.size() && areAlike(draft.children[first], draft.children[i])) ++i;
      add(draft.children[first], depth + 1, i - first);
    }
  }

 private:
  std::vector<TreeLine> m_lines;
  bool m_leftOut = false;
};

}  // namespace

std::vector<TreeLine> treeOf(const Draft& draft) {
  TreeWriter writer;
  writer.add(draft, 0, 1);
  return writer.take();
}

namespace {

constexpr std::size_t kOutlineBytes = 400;
constexpr std::string_view kEllipsis = "…";

/// Writes an outline and stops when it is too long. The time for a huge draft is therefore limited.
class OutlineWriter {
 public:
  std::string write(const Draft& draft) {
    add(draft);
    if (m_text.size() <= kOutlineBytes) return std::move(m_text);
    return std::string(beginningOf(m_text, kOutlineBytes)) + std::string(kEllipsis);
  }

 private:
  bool full() const { return m_text.size() > kOutlineBytes; }

  void add(const Draft& draft) {
    if (full()) return;
    if (draft.is<query::Generate>() && draft.form == OutputForm::Continuation) {
      m_text += "(";
      if (!givesNothing(draft.input())) {
        add(draft.input());
        m_text += ", ";
      }
      m_text += "reply)";
      return;
    }
    const query::OperatorShape& shape = draft.shape();
    m_text += draft.name();
    if (shape.hasCount) m_text += " " + std::to_string(draft.count);
    if (shape.hasInputs) m_text += " " + std::to_string(draft.inputs.size());
    if (shape.hasText || shape.hasInputs) return;
    addChildren(draft.children);
  }

  /// Writes equal adjacent nodes once, with their number.
  void addChildren(const std::vector<Draft>& children) {
    m_text += "(";
    std::string last;
    std::size_t lastBegin = 0;
    std::size_t times = 0;
    for (const Draft& child : children) {
      if (full()) return;
      if (times > 0) m_text += ", ";
      const std::size_t textBegin = m_text.size();
      add(child);
      const std::string text = m_text.substr(textBegin);
      if (times > 0 && text == last && !full()) {
        ++times;
        m_text.resize(lastBegin + last.size());
        m_text += " ×" + std::to_string(times);
        continue;
      }
      last = text;
      lastBegin = textBegin;
      times = 1;
    }
    m_text += ")";
  }

  std::string m_text;
};

}  // namespace

std::string outline(const Draft& draft) {
  return OutlineWriter().write(draft);
}

std::string quoted(std::string_view text, std::size_t limit) {
  const std::string_view shown = beginningOf(text, limit);
  std::string result = "\"";
  for (const char c : shown) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
      result += ' ';
    } else {
      result += c;
    }
  }
  if (shown.size() < text.size()) result += kEllipsis;
  return result + "\"";
}

}  // namespace spanscope::plan
