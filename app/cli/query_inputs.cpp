// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/query_inputs.h"

#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/pipeline.h"

#include <istream>
#include <optional>
#include <ostream>
#include <system_error>
#include <utility>

namespace spanscope::cli {

namespace {

std::filesystem::path folderOf(const std::string& file) {
  return file == "-" ? std::filesystem::path(".") : std::filesystem::path(file).parent_path();
}

void keepIdentity(const std::filesystem::path& file, AnswerBook& book) {
  const std::optional<FileIdentity> identity = identityOf(file);
  if (identity) book.files.push_back(*identity);
}

/// Whether something really lies in a folder or below it.
bool liesIn(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code unknown;
  const std::filesystem::path inside = std::filesystem::canonical(file, unknown)
                                           .lexically_relative(std::filesystem::canonical(folder, unknown));
  return !inside.empty() && *inside.begin() != "..";
}

}  // namespace

QueryInputs::QueryInputs(const std::string& file, const std::vector<std::string>& folders, AnswerBook& book,
                         const Streams& streams)
    : m_folder(folderOf(file)),
      m_others(folders),
      m_files(m_folder, {folders.begin(), folders.end()}),
      m_book(book),
      m_streams(streams) {
  if (file != "-") keepIdentity(file, m_book);
}

namespace {

/// Says in the words of the command line how more is allowed.
template <class Given>
Given withOwnHint(Given given) {
  auto* refused = std::get_if<query::NotGiven>(&given);
  if (refused != nullptr && !refused->hint.empty())
    refused->hint = "other folders are allowed by --read-from DIR";
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
      // The question comes from the query: nothing in it may reach the terminal as a command.
      m_streams.err << query::cutText(prompt, kShownCharacters) << ' ' << std::flush;
      isAnswered = static_cast<bool>(std::getline(m_streams.in, answer));
    }
    const bool isText = findInvalidUtf8(answer) == std::string::npos;
    if (!isAnswered || !isText) {
      return query::NotGiven{"the question " + query::inQuotes(prompt) + (isText ? " without an answer" : ""),
                             isText ? "one" : "an answer in UTF-8",
                             m_streams.canAsk ? "" : "standard input is not a terminal: use --answer TEXT"};
    }
  }
  m_book.answers[prompt] = answer;
  return answer;
}

namespace {

/// The pointer of the query in a document.
constexpr const char* kQueryPointer = "/query";

/// What is wrong with a place of the query as it is written.
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
    input.diagnostics.push_back(problem(written[id], "a node without an input",
                                        "an input that is not empty and not muted", input.places, text));
  }
  if (!taken.query && taken.incomplete.empty()) {
    input.diagnostics.push_back(problem({}, "no query", "a document with a node", input.places, text));
  }
  input.query = std::move(taken.query);
  input.choices = document::fragmentChoicesOf(document, taken.paths);
  input.values = std::move(document.parameters);
  input.declarations = std::move(document.declarations);
  return input;
}

}  // namespace spanscope::cli
