// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/query_inputs.h"

#include "app/cli/input.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>

#include <istream>
#include <ostream>
#include <system_error>
#include <utility>

namespace spanscope::cli {

namespace {

std::filesystem::path folderOf(const std::string& file) {
  return file == "-" ? std::filesystem::path(".") : std::filesystem::path(file).parent_path();
}

void keepIdentity(const std::filesystem::path& file, SharedInputs& book) {
  const std::optional<FileIdentity> identity = identityOf(file);
  if (identity) book.files.push_back(*identity);
}

/// Whether a file is in a folder or in a subfolder, after all links.
bool liesIn(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code unknown;
  const std::filesystem::path inside = std::filesystem::canonical(file, unknown)
                                           .lexically_relative(std::filesystem::canonical(folder, unknown));
  return !inside.empty() && *inside.begin() != "..";
}

}  // namespace

QueryInputs::QueryInputs(const std::string& file, const std::vector<std::string>& folders, SharedInputs& book,
                         const Streams& streams)
    : m_folder(folderOf(file)),
      m_others(folders),
      m_files(m_folder, {folders.begin(), folders.end()}),
      m_book(book),
      m_streams(streams) {
  if (file != "-") keepIdentity(file, m_book);
}

namespace {

/// Replaces the hint by the option that allows more folders.
template <class Given>
Given withOwnHint(Given given) {
  auto* refused = std::get_if<query::NotGiven>(&given);
  if (refused != nullptr && !refused->hint.empty())
    refused->hint = "the option --read-from DIR allows other folders";
  return given;
}

}  // namespace

std::variant<std::string, query::NotGiven> QueryInputs::readFile(const std::string& path) {
  keepIdentity(m_folder / path, m_book);
  auto given = withOwnHint(m_files.read(path));
  if (std::holds_alternative<std::string>(given)) noteUse(path);
  return given;
}

std::variant<query::FileList, query::NotGiven> QueryInputs::listFiles(const std::string& path) {
  auto given = withOwnHint(m_files.list(path));
  if (const auto* list = std::get_if<query::FileList>(&given)) {
    for (const std::string& file : list->paths) noteUse(file);
  }
  return given;
}

void QueryInputs::noteUse(const std::string& path) {
  for (const std::string& folder : m_others) {
    if (!m_book.readFolders.contains(folder) && liesIn(m_folder / path, folder))
      m_book.readFolders.insert(folder);
  }
}

std::variant<std::string, query::NotGiven> QueryInputs::ask(const std::string& prompt) {
  constexpr std::size_t kShownCharacters = 1000;
  const auto known = m_book.answers.find(prompt);
  if (known != m_book.answers.end()) return known->second;
  std::string answer;
  if (m_book.used < m_book.given.size()) {
    answer = m_book.given[m_book.used++];
  } else {
    bool isAnswered = false;
    if (m_streams.canAsk) {
      // The question comes from the query, so it must not send control characters to the terminal.
      m_streams.err << query::cutText(prompt, kShownCharacters) << ' ' << std::flush;
      isAnswered = static_cast<bool>(std::getline(m_streams.in, answer));
    }
    const bool isText = findInvalidUtf8(answer) == std::string::npos;
    if (!isAnswered || !isText) {
      return query::NotGiven{"the question " + query::inQuotes(prompt) + (isText ? " without an answer" : ""),
                             isText ? "an answer" : "an answer in UTF-8",
                             m_streams.canAsk ? "" : "standard input is not a terminal: use --answer TEXT"};
    }
  }
  m_book.answers[prompt] = answer;
  return answer;
}

namespace {

/// The pointer of the query in a document.
constexpr const char* kQueryPointer = "/query";

/// Returns a problem at a place of the written query.
query::Diagnostic problem(const NodePath& written, std::string found, std::string expected,
                          const DocumentPlaces& places, std::string_view text) {
  query::Diagnostic diagnostic;
  diagnostic.pointer = kQueryPointer + written;
  diagnostic.offset = places.queryBegin;
  if (const auto range = workbench::rangeAround(written, places.sources)) diagnostic.offset += range->begin;
  diagnostic.position = query::positionAt(text, diagnostic.offset);
  diagnostic.found = std::move(found);
  diagnostic.expected = std::move(expected);
  return diagnostic;
}

}  // namespace

void locate(query::Diagnostic& diagnostic, const DocumentPlaces& places, std::string_view text) {
  if (diagnostic.position.line > 0) return;
  NodePath node = diagnostic.pointer;
  auto place = places.written.find(node);
  while (place == places.written.end() && !node.empty()) {
    const std::size_t slash = node.rfind('/');
    node.resize(slash == NodePath::npos ? 0 : slash);
    place = places.written.find(node);
  }
  if (place == places.written.end()) return;
  const NodePath written = place->second + diagnostic.pointer.substr(node.size());
  diagnostic.pointer = kQueryPointer + written;
  const auto range = workbench::rangeAround(written, places.sources);
  if (!range) return;
  diagnostic.offset = places.queryBegin + range->begin;
  diagnostic.position = query::positionAt(text, diagnostic.offset);
}

std::optional<DocumentInput> readDocumentInput(std::string_view text) {
  if (!document::isDocumentText(text)) return std::nullopt;
  document::OpenedDocument opened = document::readDocument(text);
  DocumentInput input;
  input.diagnostics = std::move(opened.diagnostics);
  if (!opened.document) return input;
  document::Document& document = *opened.document;
  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  input.places.sources = std::move(opened.sources);
  input.places.queryBegin = opened.queryBegin;
  std::map<document::NodeId, NodePath> written;
  for (auto& [path, id] : document::pathsInTree(document, document.root())) written[id] = path;
  for (const auto& [path, id] : taken.paths.byPath) input.places.written[path] = written[id];
  for (const document::NodeId id : taken.incomplete) {
    input.diagnostics.push_back(problem(written[id], /*id:node-lacks-input*/ "a node without an input",
                                        "an input that is neither empty nor muted", input.places, text));
  }
  if (!taken.query && taken.incomplete.empty()) {
    input.diagnostics.push_back(problem({}, "no query", "a query file with a node", input.places, text));
  }
  input.query = std::move(taken.query);
  input.choices = document::passageChoicesOf(document, taken.paths);
  input.values = std::move(document.parameters);
  input.declarations = std::move(document.declarations);
  return input;
}

namespace {

using workbench::RunSettings;
using workbench::Setting;
using workbench::SettingEffect;

bool isOfSession(const Setting& setting) {
  return setting.effect == SettingEffect::Model || setting.effect == SettingEffect::Session;
}

/// Whether options write the setting in addition to settings of the session.
bool isOfQuery(const Setting& setting) {
  return setting.effect == SettingEffect::Plan || setting.effect == SettingEffect::Retrieval ||
         setting.key == "seed";
}

bool isOfServer(const Setting& setting) {
  return setting.key.starts_with("embeddings");
}

void copy(const Setting& setting, const RunSettings& from, RunSettings& to) {
  std::visit([&](auto member) { to.*member = from.*member; }, setting.member);
}

std::string textOf(const std::string& value) {
  return "\"" + value + "\"";
}
std::string textOf(bool value) {
  return value ? "on" : "off";
}
std::string textOf(const std::vector<std::int32_t>& values) {
  return std::to_string(values.size()) + " numbers";
}
template <class Number>
std::string textOf(Number value) {
  return std::to_string(value);
}

std::string valueOf(const Setting& setting, const RunSettings& settings) {
  return std::visit([&](auto member) { return textOf(settings.*member); }, setting.member);
}

bool isSame(const Setting& setting, const RunSettings& a, const RunSettings& b) {
  return std::visit([&](auto member) { return a.*member == b.*member; }, setting.member);
}

}  // namespace

std::vector<InputFile> readInputFiles(const std::vector<std::string>& names, const Streams& streams) {
  std::vector<InputFile> files;
  for (const std::string& name : names) {
    InputFile& file = files.emplace_back();
    file.name = name;
    file.text = readInput(name, streams);
    if (!document::isDocumentText(file.text)) continue;
    if (const auto opened = document::readDocument(file.text); opened.document)
      file.settings = opened.document->settings;
  }
  return files;
}

bool CommandSettings::isGiven(const Setting& setting) const {
  const std::string name = setting.option.name;
  const CLI::Option* const option = name.empty() ? nullptr : m_command.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

const RunSettings& CommandSettings::written(const Setting& setting) const {
  return isOfQuery(setting) ? m_query : m_session;
}

RunSettings CommandSettings::of(const InputFile& file) const {
  RunSettings settings = file.settings.value_or(m_session);
  for (const Setting& setting : workbench::runSettings()) {
    const bool isOptions =
        !file.settings || isGiven(setting) || isOfServer(setting) || setting.effect == SettingEffect::Record;
    if (isOptions) copy(setting, written(setting), settings);
  }
  if (!file.settings && !isGiven(*workbench::findSetting("policy"))) settings.policy = usualPolicy(settings);
  return settings;
}

/// The model's configuration is read only once for all queries.
const std::string& CommandSettings::usualPolicy(const RunSettings& settings) const {
  if (!m_usualPolicy) m_usualPolicy = workbench::usualPolicyOf(settings);
  return *m_usualPolicy;
}

void useUsualPolicy(const CLI::App& command, RunSettings& settings) {
  if (command.count("--policy") == 0) settings.policy = workbench::usualPolicyOf(settings);
}

RunSettings CommandSettings::ofSession(const std::vector<InputFile>& files) const {
  RunSettings session = m_session;
  const InputFile* first = nullptr;
  for (const InputFile& file : files) {
    if (!file.settings) continue;
    for (const Setting& setting : workbench::runSettings()) {
      if (!isOfSession(setting) || isGiven(setting)) continue;
      if (first != nullptr && !isSame(setting, *file.settings, session)) {
        throw Failure({.file = inputName(file.name),
                       .place = "settings, " + std::string(setting.key),
                       .found = valueOf(setting, *file.settings),
                       .expected = valueOf(setting, session) + " as in " + inputName(first->name) +
                                   ", because all files share one model and one cache. The option " +
                                   setting.option.name + " sets one value for all files"});
      }
      copy(setting, *file.settings, session);
    }
    if (first == nullptr) first = &file;
  }
  return session;
}

void CommandSettings::checkServer(const InputFile& file) const {
  if (!file.settings || m_command.count("--embeddings-url") > 0) return;
  RunSettings wanted = of(file);
  for (const Setting& setting : workbench::runSettings()) {
    if (isOfServer(setting)) copy(setting, *file.settings, wanted);
  }
  const document::OpenedDocument opened = document::readDocument(file.text);
  const auto query = document::toQuery(*opened.document, document::TakeOut::MutedAndFrozen).query;
  if (!query || !workbench::asksServer(*query, wanted)) return;
  throw Failure({.file = inputName(file.name),
                 .place = "settings, embeddings",
                 .found = /*id:vectors-server*/ "vectors from the server " + textOf(wanted.embeddingsUrl),
                 .expected = "--embeddings-url and --embeddings-model, which allow sending texts to this "
                             "server, or --rank lexical"});
}

}  // namespace spanscope::cli
