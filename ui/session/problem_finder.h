// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the problems of a document, including problems of its model. The finder caches slow checks. Every
// list of problems uses the finder, so all lists show the same problems.
#pragma once

#include "engine/text/tokenizer.h"
#include "ui/document/problems.h"
#include "ui/session/document_predictor.h"
#include "ui/session/token_counts.h"

#include <QDateTime>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

class ProblemFinder {
 public:
  /// Returns the problems of a document. The parameters are:
  /// - `tokenizer` of the document's model. Null: prompts are not measured.
  /// - `counts`: known counts of that tokenizer; may be null.
  /// - `devices` of this machine. Null: not known yet.
  /// - `path` of the document's file, for relative paths in the document. Empty: there is no file. Nothing:
  ///   files and the model are not checked.
  /// - `top` of the tree that will run. kNoNode: the query.
  /// - `prediction`: the newest prediction of the document; null: none.
  std::vector<Problem> find(const document::Document& document,
                            const std::shared_ptr<const text::Tokenizer>& tokenizer,
                            const std::shared_ptr<TokenCounts>& counts = nullptr,
                            const std::vector<compute::Device>* devices = nullptr,
                            const std::optional<QString>& path = {}, document::NodeId top = document::kNoNode,
                            const DocumentPrediction* prediction = nullptr);

 private:
  std::optional<query::NotGiven> fileReason(const QString& documentPath, const std::string& path);
  /// Checks whether there are any documents. Does not list a folder or a pattern, because listing may take
  /// long.
  static std::optional<query::NotGiven> documentsReason(const QString& documentPath, const std::string& path);
  /// The model of the settings.
  struct SeenModel {
    std::string checkpoint = "?";  ///< RunSettings::model
    std::string chatTemplate;
    std::string templateVariables;
    std::int32_t context = 0;  ///< RunSettings::context
    QDateTime written;         ///< of the folder or file
    std::int64_t contextLength = 0;
    std::optional<workbench::ModelProblem> reason;
    std::string guessedTemplate;
  };
  const SeenModel& modelOf(const workbench::RunSettings& settings);

  std::shared_ptr<TokenCounts> m_counts;
  SeenModel m_model;
  /// A file that was read, and the result. The file is read again if its time or its size changes.
  struct SeenFile {
    QDateTime written;
    qint64 size = 0;
    std::optional<query::NotGiven> reason;
  };
  QString m_seenFor;  ///< folder of the document to which `m_seen` belongs
  std::map<std::string, SeenFile> m_seen;
};

}  // namespace spanscope::ui
