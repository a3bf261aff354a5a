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

/// Puts a question of the query to the person; nothing: they would not answer.
using Asker = std::function<std::optional<QString>(const QString& question)>;

/// What a run of a document is given from outside: the files beside it, and the person's answers. A question
/// that stands several times is asked once.
class RunInputs final : public query::Surroundings {
 public:
  /// `documentPath`: empty for a document that has no file; then no files can be read.
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
