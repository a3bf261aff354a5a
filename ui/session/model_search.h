// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/settings.h"
#include "ui/session/task_thread.h"

#include <QObject>
#include <QString>

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::ui {

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

/// "134.5 M · Q4_1 · context 8192 · 1.2 GiB · no template that is known". Memory is that with the pool.
QString modelFacts(const workbench::FoundModel& model);

}  // namespace spanscope::ui
