// SPDX-License-Identifier: GPL-3.0-or-later
// The models that can run a document. Every list of models offers these models.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/settings.h"
#include "ui/document/document_model.h"
#include "ui/session/task_thread.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QString>

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::ui {

enum class ModelOrigin {
  Loaded,   ///< in memory
  Chosen,   ///< a model that only the document names
  Recent,   ///< a document ran on this model before
  Bundled,  ///< included in the program
};

struct ModelChoice {
  ModelOrigin origin = ModelOrigin::Bundled;
  QString name;            ///< name of the model's folder
  QString value;           ///< as written in RunSettings::model: a directory; empty: the bundled model
  QString directory;       ///< path of the model's folder
  bool isCurrent = false;  ///< the document runs on this model
  bool operator==(const ModelChoice&) const = default;
};

/// Lists each model once, ordered by origin. `current` is RunSettings::model of the document. Recent models
/// whose folder was deleted are left out.
std::vector<ModelChoice> modelChoices(const ModelsKnown& known, const std::string& current);
QString originText(ModelOrigin origin);

/// Sets the document's model, in one undo step. The embedded engine then answers the document. A change of
/// the model clears RunSettings::standsFor, the adapter and the chat template. The usual policy of the old
/// model becomes the usual policy of the new model. Other policies stay.
void chooseModel(DocumentModel& model, const QString& value);

/// Sets the server that answers the document, in one undo step. Empty: the embedded engine answers the
/// document.
void chooseServer(DocumentModel& model, const std::string& name);

/// Sets the document's adapter, in one undo step; empty: none. The policy changes as in chooseModel().
void chooseAdapter(DocumentModel& model, const std::string& directory);

/// Finds the models on this machine, on a separate thread. Call all functions on the window's thread.
class ModelSearch : public QObject {
  Q_OBJECT
 public:
  using Models = std::vector<workbench::FoundModel>;

  /// The memory that a model needs is computed for a device of `backends`.
  explicit ModelSearch(compute::Backends backends, QObject* parent = nullptr);
  ~ModelSearch() override;

  /// Sets the reader of variables that name the model folders of tools. The default reader reads the
  /// environment of this process.
  void setEnvironment(workbench::VariableReader environment) { m_environment = std::move(environment); }
  /// Starts a search, unless a search is in progress; found() follows. `recent` are models that were used
  /// before. The memory that a model needs is computed for the pool and device of `settings`.
  void search(const std::vector<std::string>& recent, const workbench::RunSettings& settings);
  bool isSearching() const { return m_isSearching; }
  /// The models of the last search; null: no search has ended.
  const std::shared_ptr<const Models>& models() const { return m_models; }

 Q_SIGNALS:
  void found();

 private:
  compute::Backends m_backends;
  workbench::VariableReader m_environment = workbench::processEnvironment();
  std::shared_ptr<workbench::ModelFinder> m_finder = std::make_shared<workbench::ModelFinder>();
  std::shared_ptr<const Models> m_models;
  bool m_isSearching = false;
  std::stop_source m_stop;
  TaskThread m_thread;  ///< ends first
};

/// "134.5 M · Q4_1 · context 8192 · 1.2 GiB · no known template". The memory includes the pool.
QString modelFacts(const workbench::FoundModel& model);

}  // namespace spanscope::ui
