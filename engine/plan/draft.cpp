// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/draft.h"

#include "engine/plan/outline.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace spanscope::plan {
namespace {

constexpr std::size_t kShownText = 40;

/// The name in a text that is nothing but "{name}"; empty for any other text.
std::string_view placeholderName(std::string_view text) {
  if (text.size() < 3 || text.front() != '{' || text.back() != '}') return {};
  const std::string_view name = text.substr(1, text.size() - 2);
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
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
    return std::visit([this](const auto& value) { return convert(value); }, node.value);
  }

 private:
  void problem(std::string place, std::string found, std::string expected) {
    m_problems->push_back({"", std::move(place), std::move(found), std::move(expected)});
  }

  Draft start(Draft::Kind kind) const {
    Draft draft;
    draft.kind = kind;
    draft.node = m_path;
    return draft;
  }

  /// Appends the draft of a child that stands at `step` below this node.
  void addChild(Draft& parent, const query::Node& child, const std::string& step) {
    const NodePath path = m_path;
    const std::size_t depth = m_depth;
    if (depth >= m_maxDepth) {
      if (!m_tooDeep) {
        problem(path, "nodes nested more than " + std::to_string(m_maxDepth) + " deep", "a flatter query");
      }
      m_tooDeep = true;
      parent.children.push_back(start(Draft::Kind::Join));
      return;
    }
    parent.children.push_back(make(child, path + step, depth + 1));
    m_path = path;
    m_depth = depth;
  }

  void unresolved(const std::string& place, std::string_view name) {
    problem(place, "the parameter {" + std::string(name) + "}",
            "a value: parameters are resolved before planning");
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
                "a finite number from 0 up");
      }
    }
    return result;
  }

  Draft convert(const query::Message& message) {
    Draft draft = start(Draft::Kind::Message);
    draft.role = message.role;
    draft.text = message.text;
    return draft;
  }

  Draft convert(const query::Print& print) {
    Draft draft = start(Draft::Kind::Print);
    draft.text = print.text;
    return draft;
  }

  Draft convert(const query::Generate& generate) {
    Draft draft = start(Draft::Kind::Generate);
    draft.settings = settings(generate.settings, m_path + "/g");
    draft.form = m_outputForm;
    draft.call = ++m_lastCall;
    addChild(draft, *generate.input, "/g/input");
    return draft;
  }

  Draft convert(const query::Join& join) {
    Draft draft = start(Draft::Kind::Join);
    draft.join = join.kind;
    const std::string step = std::string("/") + query::joinName(join.kind) + "/";
    draft.children.reserve(join.children.size());
    for (std::size_t i = 0; i < join.children.size(); ++i) {
      addChild(draft, join.children[i], step + std::to_string(i));
    }
    return draft;
  }

  Draft convert(const query::Monad& monad) {
    Draft draft = start(Draft::Kind::Monad);
    addChild(draft, *monad.body, "/monad");
    return draft;
  }

  Draft convert(const query::Zip& zip) {
    Draft draft = start(Draft::Kind::Zip);
    addChild(draft, *zip.first, "/zip/first");
    addChild(draft, *zip.second, "/zip/second");
    return draft;
  }

  Draft convert(const query::Repeat& repeat) {
    Draft draft = start(Draft::Kind::Repeat);
    draft.settings = settings(repeat.generate.settings, m_path + "/repeat/g");
    draft.form = m_outputForm;
    if (const auto* parameter = std::get_if<query::Parameter>(&repeat.count)) {
      unresolved(m_path + "/repeat/n", parameter->name);
    } else {
      draft.count = std::get<std::uint8_t>(repeat.count);
    }
    addChild(draft, *repeat.generate.input, "/repeat/g/input");
    return draft;
  }

  Draft convert(const query::Map& map) {
    Draft draft = start(Draft::Kind::Map);
    draft.settings = settings(map.settings, m_path + "/map/metadata");
    draft.form = m_outputForm;
    draft.inputs = map.inputs;
    return draft;
  }

  Draft convert(const query::Augment& augment) {
    problem(m_path, "an augment over " + quoted(augment.document.name, kShownText),
            "its fragments: documents are retrieved before planning");
    return start(Draft::Kind::Join);
  }

  Draft convert(const query::Ask& ask) {
    problem(m_path, "the question " + quoted(ask.prompt, kShownText),
            "its answer: questions are asked before planning");
    return start(Draft::Kind::Join);
  }

  Draft convert(const query::File& file) {
    problem(m_path, "the file " + quoted(file.path, kShownText), "its text: files are read before planning");
    return start(Draft::Kind::Join);
  }

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

bool givesNothing(const Draft& draft) {
  switch (draft.kind) {
    case Draft::Kind::Message:
      return draft.text.empty();
    case Draft::Kind::Print:
    case Draft::Kind::Monad:
      return true;
    case Draft::Kind::Join:
      return std::all_of(draft.children.begin(), draft.children.end(), givesNothing);
    case Draft::Kind::Generate:
    case Draft::Kind::Zip:
    case Draft::Kind::Repeat:
    case Draft::Kind::Map:
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

}  // namespace spanscope::plan
