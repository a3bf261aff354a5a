// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/query_inputs.h"

#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

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
      return query::NotGiven{
          "the question " + query::inQuotes(prompt) + (isText ? " without an answer" : ""),
          isText ? "one" : "an answer in UTF-8",
          m_streams.canAsk ? "" : "standard input is no terminal: give it by --answer TEXT"};
    }
  }
  m_book.answers[prompt] = answer;
  return answer;
}

}  // namespace spanscope::cli
