// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_inputs.h"

#include <QFileInfo>

#include <utility>

namespace spanscope::ui {

RunInputs::RunInputs(const QString& documentPath, Asker asker) : m_asker(std::move(asker)) {
  if (!documentPath.isEmpty()) m_files.emplace(QFileInfo(documentPath).absolutePath().toStdString());
}

namespace {

query::NotGiven noFolder() {
  return {.found = "a file in a query that is not saved",
          .expected = /*id:document-saved*/ "a saved query",
          .hint = "save the query in the folder of the files"};
}

}  // namespace

std::variant<std::string, query::NotGiven> RunInputs::readFile(const std::string& path) {
  if (m_files) return m_files->read(path);
  return noFolder();
}

std::variant<query::FileList, query::NotGiven> RunInputs::listFiles(const std::string& path) {
  if (m_files) return m_files->list(path);
  return noFolder();
}

std::variant<std::string, query::NotGiven> RunInputs::ask(const std::string& prompt) {
  const auto known = m_answers.find(prompt);
  if (known != m_answers.end()) return known->second;
  const std::optional<QString> answer = m_asker ? m_asker(QString::fromStdString(prompt)) : std::nullopt;
  if (!answer)
    return query::NotGiven{.found = "no answer", .expected = "an answer to the question", .hint = {}};
  return m_answers.emplace(prompt, answer->toStdString()).first->second;
}

}  // namespace spanscope::ui
