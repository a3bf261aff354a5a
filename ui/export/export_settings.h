// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a document's query in the forms that other programs accept.
#pragma once

#include "engine/base/error.h"
#include "engine/export/export_target.h"
#include "engine/query/query.h"
#include "engine/spnl/prompt_tokens.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "ui/document/problems.h"
#include "ui/session/task_thread.h"

#include <QObject>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::ui {

struct QueryExportOptions {
  const exports::ExportTarget* target = exports::findExportTarget("spnl");
  std::string model{};  ///< replaces every model that the query names; empty: they stay
  exports::ExportSettings settings{};
  /// The model for nodes without a model name, if `model` is empty. Empty: there is no such model.
  std::string usualModel{};
  /// Whether files of the query are written as user messages with their current contents.
  bool inlineFiles = false;
  QString documentPath{};  ///< files are read from the folder of this file; empty: no file
  /// The list of the document's problems. If it is empty, exportQuery() finds the problems of the document.
  std::vector<Problem> problems{};
};

struct ExportRemark {
  exports::Effect effect = exports::Effect::Note;
  QString text;
  document::NodeId node = document::kNoNode;  ///< the first node that the remark is about
  bool operator==(const ExportRemark&) const = default;
};

struct QueryExport {
  query::Node query;  ///< the written query, with parameters resolved where possible
  std::string text;   ///< empty if nothing can be written, and for tokens, which need a tokenizer
  std::vector<ExportRemark> remarks;  ///< the most serious first
};

/// Exports the query. If no query can be written, returns the reason, in the words that refuse a run.
std::variant<QueryExport, QString> exportQuery(const document::Document& document,
                                               const QueryExportOptions& options = {});

/// The remarks on the export of this query, the most serious first. The remarks concern the target, the
/// endpoint, and the data that stays in the document. `query` has the parameters and models that will be
/// sent. `paths` maps its nodes to the document's nodes.
std::vector<ExportRemark> exportRemarks(const document::Document& document, const query::Node& query,
                                        const document::NodePaths& paths,
                                        const std::vector<Problem>& problems,
                                        const QueryExportOptions& options);

}  // namespace spanscope::ui
class QCheckBox;
class QComboBox;
class QFormLayout;
class QLineEdit;
class QSpinBox;

namespace spanscope::ui {

// Makes prompt tokens for the export dialog on another thread, because a long query takes time.

struct TokenRequest {
  query::Node query;
  /// Directory of the model with the tokenizer; empty: the bundled model.
  std::filesystem::path modelDirectory;
  std::string chatTemplate;  ///< name of the template; empty: the model's own
  spnl::PromptTokenOptions options;
};

struct TokenText {
  exports::ExportedText made;  ///< JSON with one block in a line; empty if no call can be sent
  std::optional<Error> problem;
};

class TokenExport : public QObject {
  Q_OBJECT
 public:
  explicit TokenExport(QObject* parent = nullptr);
  ~TokenExport() override;

  /// Makes the tokens and emits ready() with them. Drops an earlier request.
  void start(TokenRequest request);
  void cancel();

 Q_SIGNALS:
  void ready(const spanscope::ui::TokenText& made);

 private:
  struct Loaded;

  std::shared_ptr<Loaded> m_loaded;  ///< only used on the thread
  std::stop_source m_stop;
  std::uint64_t m_asked = 0;
  std::unique_ptr<TaskThread> m_thread;
};

/// The settings of an export. The widget shows only the settings that the target has. Entered values stay
/// when the target changes.
class ExportSettings : public QWidget {
  Q_OBJECT
 public:
  /// `path` is the file of the document. Files of the query are read from the folder of `path`. `hasFiles`:
  /// the query names files.
  ExportSettings(const document::RunSettings& settings, QString path, bool hasFiles,
                 QWidget* parent = nullptr);

  void setTarget(const exports::ExportTarget& target);
  QueryExportOptions options() const;
  /// The request that makes tokens from the query.
  TokenRequest tokenRequest(query::Node query) const;

  spnl::PromptTokenOptions tokenOptions() const;

  QString endpoint() const;
  QString model() const;
  void setEndpoint(const QString& endpoint);
  void setModel(const QString& model);

 Q_SIGNALS:
  void changed();

 private:
  void makeQueryFields();
  void makeRequestFields(std::uint64_t seed);
  void makeTokenFields(const document::RunSettings& settings);
  QWidget* makeTokenizerField();
  QWidget* makeMarkerFields();
  void updateStages();
  bool has(exports::ExportOption option) const { return m_target->has(option); }

  const char* m_shownEndpoint = "";  ///< default endpoint of the last target
  const exports::ExportTarget* m_target = exports::findExportTarget("spnl");
  std::string m_usualModel;  ///< if the query names none
  QString m_path;
  bool m_hasFiles = false;
  std::uint64_t m_runSeed = 0;
  QFormLayout* m_form = nullptr;
  QComboBox* m_stage = nullptr;
  QLineEdit* m_model = nullptr;
  QLineEdit* m_endpoint = nullptr;
  QCheckBox* m_stream = nullptr;
  QCheckBox* m_oneLine = nullptr;
  QCheckBox* m_inlineFiles = nullptr;
  QCheckBox* m_seed = nullptr;
  QLineEdit* m_tokenizer = nullptr;
  QWidget* m_tokenizerField = nullptr;
  QComboBox* m_template = nullptr;
  QSpinBox* m_blockSize = nullptr;
  QWidget* m_markers = nullptr;
  QSpinBox* m_pad = nullptr;
  QSpinBox* m_plus = nullptr;
  QSpinBox* m_cross = nullptr;
};

}  // namespace spanscope::ui
