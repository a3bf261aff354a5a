// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/server/engine.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/settings.h"

#include <functional>
#include <memory>

namespace spanscope::workbench {

/// The run service as the engine of a server. Each request is a separate run, concurrent with all other runs
/// of the service.
class ServedEngine final : public server::Engine {
 public:
  /// - `service`: must outlive this object.
  /// - `settings`: of the session of the runs.
  /// - `model`: of the settings, with tokenizer and template. A description with its name and fingerprint is
  ///   enough.
  /// - `recorder`: of the session. This object sets its listener.
  /// - `keepsTexts`: if false, events of the runs are recorded without texts and token ids.
  ServedEngine(JobService& service, RunSettings settings, std::shared_ptr<const ModelBundle> model,
               const run::SessionConfig& session, std::shared_ptr<trace::Recorder> recorder,
               bool keepsTexts = true);
  ~ServedEngine() override;
  ServedEngine(const ServedEngine&) = delete;
  ServedEngine& operator=(const ServedEngine&) = delete;

  /// Later runs use another session, whose recorder has no events yet. No run may be in progress, and no run
  /// may begin meanwhile.
  void attach(std::shared_ptr<trace::Recorder> recorder);

  const server::ServedModel& model() const override { return m_served; }
  std::unique_ptr<server::RunHandle> begin(server::RunOrder order,
                                           std::shared_ptr<server::RunListener> listener) override;
  void setListener(std::function<void(const trace::Event&)> listener) override;

 private:
  class Router;

  JobService& m_service;
  const RunSettings m_settings;
  const std::shared_ptr<const ModelBundle> m_model;
  server::ServedModel m_served;
  const bool m_keepsTexts;
  std::shared_ptr<trace::Recorder> m_recorder;
  const std::shared_ptr<Router> m_router;
};

}  // namespace spanscope::workbench
