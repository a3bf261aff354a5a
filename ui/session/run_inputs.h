// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/files/file_access.h"
#include "engine/query/surroundings.h"

#include <QString>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

namespace spanscope::ui {

/// Asks the user a question of the query. Returns nothing if the user declines to answer.
using Asker = std::function<std::optional<QString>(const QString& question)>;

/// Gives a run of a document its external inputs: the files in the document's folder, and the user's answers.
/// A question that occurs several times in the query is asked once.
class RunInputs final : public query::Surroundings {
 public:
  /// `documentPath` is empty if the document has no file; then no files can be read.
  RunInputs(const QString& documentPath, Asker asker);

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override;
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override;
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override;

 private:
  std::optional<query::FileAccess> m_files;
  Asker m_asker;
  std::map<std::string, std::string> m_answers;
};

}  // namespace spanscope::ui
