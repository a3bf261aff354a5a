// SPDX-License-Identifier: GPL-3.0-or-later
// The models on which a document can be run. Every list of models offers these.
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
  Chosen,   ///< the document names it, and no other list holds it
  Recent,   ///< a document ran on it before
  Bundled,  ///< comes with the program
};

struct ModelChoice {
  ModelOrigin origin = ModelOrigin::Bundled;
  QString name;            ///< name of the model's folder
  QString value;           ///< as written in RunSettings::model: a directory; empty: the bundled model
  QString directory;       ///< path of the model's folder
  bool isCurrent = false;  ///< the document runs on it
  bool operator==(const ModelChoice&) const = default;
};

/// Lists each model once, ordered by origin. `current` is RunSettings::model of the document. Recent models
/// whose folder is gone are left out.
std::vector<ModelChoice> modelChoices(const ModelsKnown& known, const std::string& current);
QString originText(ModelOrigin origin);

/// Makes the model the document's model, in one undo step. If the model changes, it clears
/// what was chosen for the old one: RunSettings::standsFor, adapter and chat template. It runs here then. If
/// the document has the usual policy of the old model, it gets that of the new one.
void chooseModel(DocumentModel& model, const QString& value);

/// Has a server of this name answer the document, in one undo step; empty: the embedded engine does.
void chooseServer(DocumentModel& model, const std::string& name);

/// Makes the adapter the one of the document, in one undo step; empty: none. The policy changes as in
/// chooseModel().
void chooseAdapter(DocumentModel& model, const std::string& directory);

/// Looks on a thread of its own for the models on this machine. Everything is called on the window's thread.
class ModelSearch : public QObject {
  Q_OBJECT
 public:
  using Models = std::vector<workbench::FoundModel>;

  /// `backends`: of their devices memory is told.
  explicit ModelSearch(compute::Backends backends, QObject* parent = nullptr);
  ~ModelSearch() override;

  /// Where tools keep models; without it, the environment of this process says so.
  void setEnvironment(workbench::VariableReader environment) { m_environment = std::move(environment); }
  /// Looks once more, unless it is looking; found() answers. `recent`: models used before. `settings`: pool
  /// and device of which memory is told.
  void search(const std::vector<std::string>& recent, const workbench::RunSettings& settings);
  bool isSearching() const { return m_isSearching; }
  /// What was found last; null: it has not looked yet.
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

/// "134.5 M · Q4_1 · context 8192 · 1.2 GiB · no known template". Memory is that with the pool.
QString modelFacts(const workbench::FoundModel& model);

}  // namespace spanscope::ui
