// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/lesson_state.h"

#include "engine/base/utf8.h"
#include "engine/query/files/file_access.h"
#include "engine/query/node_parts.h"
#include "engine/query/query_form.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/edits.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/setting_choices.h"

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

namespace spanscope::lesson {
namespace {

using workbench::RunSettings;
using workbench::Setting;
using workbench::SettingEffect;

/// Reads files of the query's folder, without asking the user.
class LessonStateFiles final : public query::Surroundings {
 public:
  explicit LessonStateFiles(const std::filesystem::path& folder) : m_files(folder) {}

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override {
    return m_files.read(path);
  }
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override {
    return m_files.list(path);
  }
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override {
    return query::NotGiven{"the question " + query::inQuotes(prompt), "a query without questions", {}};
  }

 private:
  query::FileAccess m_files;
};

template <class Number>
bool readNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::string rangeText(const workbench::WholeRange& range) {
  std::string text =
      "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most);
  return range.orZero ? text + ", or 0" : text;
}

template <class Number>
bool isIn(const workbench::WholeRange& range, Number number) {
  const auto wide = static_cast<std::int64_t>(number);
  return (wide >= range.least && wide <= range.most) || (range.orZero && wide == 0);
}

std::string choicesOf(const Setting& setting) {
  std::string list;
  for (const workbench::Choice& choice : setting.choices()) list += (list.empty() ? "" : ", ") + choice.name;
  return list;
}

/// Reads a text into a member of the settings. Returns the expected values if the text is wrong.
class ValueReader {
 public:
  ValueReader(const Setting& setting, std::string_view text) : m_setting(setting), m_text(text) {}

  std::string read(std::string& value) const {
    if (m_setting.choices != nullptr && !workbench::mayBe(m_setting, m_text)) {
      const std::string expected = workbench::expectedBeside(m_setting, m_text);
      return expected.empty() ? choicesOf(m_setting) : expected;
    }
    value = workbench::currentName(m_setting, m_text);
    return {};
  }
  std::string read(bool& value) const {
    if (m_text != "on" && m_text != "off") return "on or off";
    value = m_text == "on";
    return {};
  }
  std::string read(std::uint64_t& value) const {
    return readNumber(m_text, value) ? std::string() : "a whole number without a sign";
  }
  template <class Number>
  std::string read(Number& value) const {
    Number number = 0;
    if (!readNumber(m_text, number) || !isIn(m_setting.range, number)) return rangeText(m_setting.range);
    value = number;
    return {};
  }
  std::string read(std::vector<std::int32_t>& values) const {
    std::vector<std::int32_t> numbers;
    std::string_view rest = m_text;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::int32_t number = 0;
      if (!readNumber(rest.substr(0, comma), number) || !isIn(m_setting.range, number))
        return "numbers separated by commas, each " + rangeText(m_setting.range);
      numbers.push_back(number);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    values = std::move(numbers);
    return {};
  }

 private:
  const Setting& m_setting;
  std::string_view m_text;
};

const std::string& textAt(const Action& action, std::size_t index) {
  return std::get<std::string>(action.arguments[index].value);
}

bool hasAugment(const query::Node& node) {
  if (query::documentOf(node) != nullptr) return true;
  const std::vector<query::ChildRef> children = query::childrenOf(node);
  return std::ranges::any_of(children, [](const query::ChildRef& child) { return hasAugment(*child.node); });
}

}  // namespace

bool mayBeSet(const Setting& setting) {
  if (setting.effect == SettingEffect::Model || setting.effect == SettingEffect::Window) return false;
  return setting.key != "server" && setting.key != "cache_disk_mib" && !setting.key.starts_with("embeddings");
}

std::string firstServerOf(const document::Document& document) {
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    if (id == document::kNoNode) continue;
    const std::string& server = document.at(id).server;
    if (!server.empty() && server != document::kEmbedded) return server;
  }
  return {};
}

std::optional<query::NotGiven> assign(RunSettings& settings, const Assignment& assignment) {
  const Setting* const setting = workbench::findSetting(assignment.key);
  if (setting == nullptr || !mayBeSet(*setting)) {
    std::string keys;
    for (const Setting& one : workbench::runSettings()) {
      if (mayBeSet(one)) keys += (keys.empty() ? "" : ", ") + std::string(one.key);
    }
    return query::NotGiven{
        (setting == nullptr ? "the setting " : /*id:lesson-sets*/ "a lesson that changes ") +
            query::inQuotes(assignment.key),
        "one of " + keys,
        setting == nullptr ? "" : "only settings that do not depend on the learner's machine"};
  }
  RunSettings changed = settings;
  const ValueReader reader(*setting, assignment.value);
  std::string expected =
      std::visit([&](auto member) { return reader.read(changed.*member); }, setting->member);
  if (!expected.empty()) {
    return query::NotGiven{
        std::string(setting->key) + " = " + query::inQuotes(assignment.value), std::move(expected), {}};
  }
  settings = std::move(changed);
  return std::nullopt;
}

void LessonState::begin(const Head& head, std::vector<Fault>& faults) {
  for (const Placed<std::string>& query : head.queries) m_queries.push_back(query.value);
  for (const Placed<Assignment>& setting : head.settings) {
    if (auto wrong = assign(m_settings, setting.value))
      faults.push_back(
          {setting.offset, std::move(wrong->found), std::move(wrong->expected), std::move(wrong->hint)});
  }
}

void LessonState::apply(const Action& action, std::vector<Fault>& faults) {
  switch (action.kind) {
    case ActionKind::Open:
      open(action.arguments[0], faults);
      return;
    case ActionKind::Set: {
      const Argument& argument = action.arguments[0];
      if (auto wrong = assign(m_settings, std::get<Assignment>(argument.value)))
        faults.push_back(
            {argument.offset, std::move(wrong->found), std::move(wrong->expected), std::move(wrong->hint)});
      return;
    }
    case ActionKind::Edit:
      edit(action, faults);
      return;
    case ActionKind::Swap:
      swap(action, faults);
      return;
    default:
      return;
  }
}

void LessonState::open(const Argument& file, std::vector<Fault>& faults) {
  const std::string& name = std::get<std::string>(file.value);
  if (std::ranges::find(m_queries, name) == m_queries.end()) {
    faults.push_back({file.offset, "the query " + query::inQuotes(name),
                      /*id:heads-queries*/ "a query in \"queries:\" of the front matter"});
    return;
  }
  if (std::ranges::find(m_opened, name) == m_opened.end()) m_opened.push_back(name);
  auto read = m_folder.read(name);
  if (auto* refused = std::get_if<query::NotGiven>(&read)) {
    faults.push_back(
        {file.offset, std::move(refused->found), std::move(refused->expected), std::move(refused->hint)});
    return;
  }
  const std::string& text = std::get<std::string>(read);
  const auto report = [&](const std::vector<query::Diagnostic>& diagnostics) {
    for (const query::Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.severity == Severity::Error)
        faults.push_back({file.offset, diagnostic.located(name), "a query without errors"});
    }
  };
  std::optional<document::Document> opened;
  if (!isValidUtf8(text)) {
    faults.push_back({file.offset, name + ", which is not UTF-8", "a query in UTF-8"});
  } else if (document::isDocumentText(text)) {
    document::OpenedDocument document = document::readDocument(text);
    report(document.diagnostics);
    opened = std::move(document.document);
  } else {
    LessonStateFiles files(m_folder.folderOf(name));
    query::ParseResult parsed = query::parseQuery(text, query::queryFormOf(name, text), {}, &files);
    report(parsed.diagnostics);
    if (parsed.query) opened = document::fromQuery(*parsed.query);
  }
  if (!opened) return;
  if (const std::string server = firstServerOf(*opened); !server.empty()) {
    faults.push_back(
        {file.offset,
         name + /*id:node-server*/ ", which has a node that runs on the server " + query::inQuotes(server),
         "a query without servers", "only the learner chooses a server"});
    return;
  }
  m_document = std::move(opened);
  m_file = name;
}

document::NodeId LessonState::nodeAt(const Argument& argument, std::vector<Fault>& faults) const {
  const NodePath& path = std::get<Target>(argument.value).node;
  if (!m_document) {
    faults.push_back({argument.offset, "a node while no query is open", "an action \"open\" before it"});
    return document::kNoNode;
  }
  for (const auto& [place, id] : document::pathsInTree(*m_document, m_document->root())) {
    if (place == path && id != document::kNoNode) return id;
  }
  faults.push_back(
      {argument.offset, "the node " + query::inQuotes(path), "the path of a node in the query at this step"});
  return document::kNoNode;
}

void LessonState::edit(const Action& action, std::vector<Fault>& faults) {
  const document::NodeId id = nodeAt(action.arguments[0], faults);
  if (id == document::kNoNode) return;
  query::Node own = m_document->at(id).own;
  std::string* const text = query::textOf(own);
  if (text == nullptr) {
    faults.push_back({action.arguments[0].offset,
                      "the node " + query::inQuotes(std::get<Target>(action.arguments[0].value).node) +
                          ", a " + query::operatorName(own),
                      /*id:node-text-own*/ "a node with a text, such as a message"});
    return;
  }
  *text = textAt(action, 1);
  document::setOwn(*m_document, id, std::move(own));
}

void LessonState::swap(const Action& action, std::vector<Fault>& faults) {
  const document::NodeId first = nodeAt(action.arguments[0], faults);
  const document::NodeId second = nodeAt(action.arguments[1], faults);
  if (first == document::kNoNode || second == document::kNoNode) return;
  const document::NodeId parent = m_document->at(first).parent;
  const bool isDone = parent != document::kNoNode && parent == m_document->at(second).parent &&
                      document::swapChildren(*m_document, parent, m_document->indexInParent(first),
                                             m_document->indexInParent(second));
  if (!isDone)
    faults.push_back({action.offset, /*id:two-nodes-cannot*/ "two nodes that cannot be swapped",
                      /*id:two-children-node*/ "two children of one node"});
}

bool LessonState::hasNode(const NodePath& path) const {
  if (!m_document) return false;
  const auto places = document::pathsInTree(*m_document, m_document->root());
  return std::ranges::any_of(places, [&path](const auto& place) {
    return place.first == path && place.second != document::kNoNode;
  });
}

std::variant<PlannedQuery, std::vector<query::NotGiven>> LessonState::plan() const {
  const auto wrong = [](std::string found, std::string expected) {
    return std::vector{query::NotGiven{std::move(found), std::move(expected), {}}};
  };
  if (!m_document)
    return wrong(/*id:run-while-no*/ "a run while no query is open", "an action \"open\" before it");
  document::QueryOf taken = document::toQuery(*m_document, document::TakeOut::MutedAndFrozen);
  if (!taken.query) return wrong(m_file + ", which has no input or is empty", "a query that can be run");
  if (hasAugment(*taken.query)) {
    return wrong(m_file + /*id:which-has-an*/ ", which has an augment",
                 /*id:query-without-lessons*/ "a query without an augment, because lessons do not retrieve");
  }
  LessonStateFiles files(m_folder.folderOf(m_file));
  workbench::PipelineInput input{.source = std::move(*taken.query)};
  input.parameters = document::effectiveValues(*m_document);
  input.declarations = m_document->declarations;
  input.surroundings = &files;
  input.plan = document::planOptionsOf(m_settings);
  workbench::PipelineResult made = workbench::runPipeline(std::move(input));
  if (!made.isReached() || !made.plan) {
    std::vector<query::NotGiven> problems;
    for (const query::Diagnostic& diagnostic : made.diagnostics) {
      if (diagnostic.severity == Severity::Error)
        problems.push_back({diagnostic.located(m_file), "a query that can be run", {}});
    }
    return problems.empty() ? wrong(m_file, "a query that can be run") : problems;
  }
  if (made.plan->steps.empty())
    return wrong(m_file + ", which has no generate node", "a query with a generate node");
  plan::Plan plan = std::move(*made.plan);
  return PlannedQuery{std::move(plan), made.takeQuery()};
}

}  // namespace spanscope::lesson
