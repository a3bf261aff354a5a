// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/job_context.h"

#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/compute/backends.h"
#include "engine/run/run_options.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace spanscope::workbench {

JobContext::JobContext(compute::Backends backends, JobContextWatcher& watcher)
    : m_backends(std::move(backends)), m_watcher(watcher), m_retrieval(m_backends) {}

JobContext::JobContext(compute::Backends backends, JobContextWatcher& watcher, OwnModel own)
    : m_backends(std::move(backends)),
      m_watcher(watcher),
      m_own(std::move(own)),
      m_retrieval(m_backends),
      m_model(m_own->model) {}

JobContext::~JobContext() = default;

ModelBundle JobContext::loadBeside(const RunSettings& settings, const std::stop_token& stop) {
  return m_own ? m_own->loadBeside(settings) : load(settings, false, stop);
}

ModelBundle JobContext::load(const RunSettings& settings, bool borrow, const std::stop_token& stop) {
  const RunSettings identity = modelIdentityOf(settings);
  return loadModelBundle(identity.model, m_backends,
                         {.threads = identity.threads,
                          .device = identity.device,
                          .exact = identity.exact,
                          .arithmetic = arithmeticOf(identity.arithmetic),
                          .session = sessionConfigOf(settings),
                          .adapter = identity.adapter,
                          .chat = chosenTemplateOf(identity),
                          .context = identity.context,
                          .borrow = borrow,
                          .stop = stop,
                          .progress = [this, &identity](std::size_t read, std::size_t all) {
                            m_watcher.loading(identity.model, read, all);
                          }});
}

std::optional<ModelBundle> JobContext::loadExactBeside(const std::stop_token& stop) {
  const bool isExact = !m_model || m_model->arithmetic == compute::Arithmetic::F32 ||
                       m_model->device.kind.name != compute::kProcessor.name;
  if (isExact || (m_own && !m_own->loadBeside)) return std::nullopt;
  RunSettings settings = m_own ? m_own->settings : m_modelIdentity;
  settings.arithmetic = compute::nameOf(compute::Arithmetic::F32);
  return loadBeside(settings, stop);
}

ModelBundle& JobContext::modelFor(const RunSettings& settings, const std::stop_token& stop) {
  ModelBundle& model = haveModel(settings, stop);
  model.decoder->own(std::numeric_limits<std::size_t>::max());
  return model;
}

ModelBundle& JobContext::haveModel(const RunSettings& settings, const std::stop_token& stop) {
  if (m_own) return *m_model;
  RunSettings identity = modelIdentityOf(settings);
  if (m_model && m_modelIdentity == identity) return *m_model;
  m_watcher.loadingBegins();
  const std::shared_ptr<void> atEnd(nullptr, [this](void*) { m_watcher.loadingEnds(); });
  auto model = std::make_shared<ModelBundle>(load(settings, true, stop));
  closeSession(stop);
  m_model = std::move(model);
  m_modelIdentity = std::move(identity);
  m_watcher.modelLoaded(m_model);
  return *m_model;
}

ModelBundle* JobContext::loadedModelFor(const RunSettings& settings) const {
  if (!m_model || m_own) return m_model.get();
  try {
    return m_modelIdentity == modelIdentityOf(settings) ? m_model.get() : nullptr;
  } catch (const Failure&) {
    return nullptr;
  }
}

run::Session* JobContext::openSessionFor(const RunSettings& settings) const {
  if (!m_session || m_own) return m_session.get();
  try {
    return m_sessionIdentity == sessionIdentityOf(settings) ? m_session.get() : nullptr;
  } catch (const Failure&) {
    return nullptr;
  }
}

run::SessionConfig JobContext::configFor(const RunSettings& settings) const {
  return m_own ? m_own->session : sessionConfigOf(settings);
}

run::Session& JobContext::openSession() const {
  if (!m_session) throw Failure(errorAt("session", "no session", "a session that an earlier run has opened"));
  return *m_session;
}

run::Session& JobContext::sessionOf(RunId run) const {
  // Runs of a session have larger numbers than runs of all earlier sessions.
  const bool isThere = m_session && run > m_session->config().lastRun && run <= m_session->lastRun();
  if (!isThere)
    throw std::runtime_error(
        forTranslation("Jobs", /*id:session-gave-answer*/ "The session that gave this answer has ended."));
  return *m_session;
}

run::Session& JobContext::sessionFor(const RunSettings& settings, const std::stop_token& stop) {
  haveModel(settings, stop);
  if (m_own) {
    if (m_session) return *m_session;
  } else {
    RunSettings identity = sessionIdentityOf(settings);
    if (m_session && m_sessionIdentity == identity) return *m_session;
    closeSession(stop);
    m_sessionIdentity = std::move(identity);
  }
  if (!std::exchange(m_hasTraceOnly, false)) openTrace();
  run::SessionConfig config = configFor(settings);
  config.lastRun = m_lastRun;
  config.lastRequest = m_lastRequest;
  config.store.lockWait.stop = stop;
  m_session = makeSession(*m_model, config, *m_recorder);
  return *m_session;
}

const std::shared_ptr<trace::Recorder>& JobContext::traceRecorder() {
  if (!m_recorder) {
    openTrace();
    m_hasTraceOnly = true;
  }
  return m_recorder;
}

void JobContext::openTrace() {
  m_recorder =
      m_own ? m_own->recorder
            : std::make_shared<trace::Recorder>(trace::RecorderOptions{.session = ++m_sessions, .clock = {}});
  m_watcher.sessionOpens(m_recorder);
}

void JobContext::closeSession(const std::stop_token& stop) {
  if (!m_session) return;
  m_session->finishKeeping(stop);
  countFrom(m_session->lastRun(), m_session->lastRequest());
  m_session.reset();
}

void JobContext::countFrom(RunId lastRun, RequestId lastRequest) {
  m_lastRun = std::max(m_lastRun, lastRun);
  m_lastRequest = std::max(m_lastRequest, lastRequest);
}

void JobContext::clearIfAsked() {
  if (takeClearing() && m_session) m_session->clearCache();
}

bool JobContext::tidyFor(std::chrono::milliseconds most) {
  if (!ownFor(most)) return false;
  return !m_session || m_session->keepFor(most);
}

/// Returns true if no weight is borrowed any more.
bool JobContext::ownFor(std::chrono::milliseconds most) {
  constexpr std::size_t kStep = std::size_t{8} << 20U;
  if (!m_model || !m_model->decoder) return true;
  const auto end = std::chrono::steady_clock::now() + most;
  try {
    while (m_model->decoder->own(kStep)) {
      if (std::chrono::steady_clock::now() >= end) return false;
    }
  } catch (const Failure&) {  // the next run will report the error
  }
  return true;
}

}  // namespace spanscope::workbench
