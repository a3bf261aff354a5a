// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the problems of a document, with what is known of its model. It remembers what takes long to find
// out. Every place that shows problems uses it, so all show the same ones.
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
  /// `tokenizer` belongs to the document's model; if null, prompts are not measured. `counts` holds what
  /// others have counted with that tokenizer; may be null. `devices` are the devices of this machine; null if
  /// not known yet. `path` is the file of the document, beside which its files are read; empty if it has
  /// none, nothing if files and the model are not to be looked at. `top` is that of what is to be run;
  /// kNoNode for the query. `prediction` is the document's newest; null: none.
  std::vector<Problem> find(const document::Document& document,
                            const std::shared_ptr<const text::Tokenizer>& tokenizer,
                            const std::shared_ptr<TokenCounts>& counts = nullptr,
                            const std::vector<compute::Device>* devices = nullptr,
                            const std::optional<QString>& path = {}, document::NodeId top = document::kNoNode,
                            const DocumentPrediction* prediction = nullptr);

 private:
  std::optional<query::NotGiven> fileReason(const QString& documentPath, const std::string& path);
  /// Only whether there is anything: listing what a folder or a pattern stands for may take long.
  static std::optional<query::NotGiven> documentsReason(const QString& documentPath, const std::string& path);
  /// Of the model of the settings.
  struct SeenModel {
    std::string checkpoint = "?";  ///< RunSettings::model
    std::string chatTemplate;
    std::int32_t context = 0;  ///< RunSettings::context
    QDateTime written;         ///< of the folder or file
    std::int64_t contextLength = 0;
    std::optional<workbench::ModelProblem> reason;
    std::string guessedTemplate;
  };
  const SeenModel& modelOf(const workbench::RunSettings& settings);

  std::shared_ptr<TokenCounts> m_counts;
  SeenModel m_model;
  /// A file that was read, and what came of it. It is read again when its time or its size changes.
  struct SeenFile {
    QDateTime written;
    qint64 size = 0;
    std::optional<query::NotGiven> reason;
  };
  QString m_seenFor;  ///< folder of the document to which `m_seen` belongs
  std::map<std::string, SeenFile> m_seen;
};

}  // namespace spanscope::ui
